"""What an operator hands to spark-submit: the job, its request, and what the connection and the file say."""

from __future__ import annotations

import re
import stat
from pathlib import Path

import pytest

from lakekeeper_provider.compat import AirflowSkipException
from tests.airflow.conftest import connection
from tests.airflow.support import after, context
from tests.airflow.tasks import analyze, compact


class TestSubmission:
    def test_hands_the_bundled_job_to_spark_submit(self, spark):
        analyze(block_size_mb="256").execute(context())
        [call] = spark.calls
        argv = call["argv"]
        assert after(argv, "--master") == "local[2]"
        assert after(argv, "--name") == "lakekeeper-analyze"
        assert "spark.yarn.maxAppAttempts=1" in argv
        assert re.fullmatch(r"lakekeeper-jobs-[0-9a-f]{16}\.zip", Path(after(argv, "--py-files")).name)
        assert call["bundle"] == [True]
        script = next(i for i, word in enumerate(argv) if word.endswith("/spark_jobs/analyze.py"))
        assert argv[script + 1 : script + 4] == ["--table", "sales.events", "--request"]
        assert call["request"] == {"schema_version": 1, "arguments": {"block_size_mb": 256}}

    def test_files_travel_in_a_private_folder_that_is_gone_afterwards(self, spark):
        analyze().execute(context())
        [call] = spark.calls
        request = after(call["argv"], "--request")
        assert request.startswith("file:///")
        assert call["folder_mode"] == stat.S_IRWXU
        assert not Path(request.removeprefix("file://")).parent.exists()

    def test_a_compaction_has_the_same_run_id_on_every_try(self, spark):
        compact().execute(context())
        again = compact()
        with pytest.raises(AirflowSkipException):
            again.execute(context())
        ids = {after(call["argv"], "--run-id") for call in spark.calls}
        assert len(ids) == 1
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", ids.pop())

    def test_every_argument_of_spark_submit_reaches_it(self, spark, monkeypatch):
        monkeypatch.setenv("KRB5CCNAME", "/tmp/krb5cc_test")
        compact(
            principal="etl@REALM",
            keytab="/etc/etl.keytab",
            proxy_user="alice",
            yarn_queue="batch",
            archives="env.tar.gz#env",
            py_files="own.whl",
            files="hive-site.xml",
            executor_memory="4g",
            executor_cores=2,
            num_executors="10",
            driver_memory="2g",
            use_krb5ccache="true",
            conf={"spark.x": 1},
            env_vars={"A": "b"},
        ).execute(context())
        [call] = spark.calls
        argv = call["argv"]
        given = {
            **{"--principal": "etl@REALM", "--keytab": "/etc/etl.keytab", "--proxy-user": "alice"},
            **{"--queue": "batch", "--archives": "env.tar.gz#env", "--files": "hive-site.xml"},
            **{"--executor-memory": "4g", "--executor-cores": "2", "--num-executors": "10"},
            "--driver-memory": "2g",
        }
        assert {flag: after(argv, flag) for flag in given} == given
        assert after(argv, "--py-files").split(",")[1:] == ["own.whl"]
        assert "spark.x=1" in argv
        assert "spark.kerberos.renewal.credentials=ccache" in argv

    @pytest.mark.parametrize("extra", [{}, {"principal": "etl@REALM"}], ids=["operator", "connection"])
    def test_with_a_ticket_no_principal_is_named(self, spark, monkeypatch, extra):
        """spark-submit refuses a principal without a keytab, and the ticket says whose it is."""
        monkeypatch.setenv("KRB5CCNAME", "/tmp/krb5cc_test")
        monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", connection("yarn", **extra))
        named = {} if extra else {"principal": "etl@REALM"}
        compact(use_krb5ccache=True, **named).execute(context())
        [call] = spark.calls
        assert "--principal" not in call["argv"]
        assert "spark.kerberos.renewal.credentials=ccache" in call["argv"]

    def test_an_operator_that_says_whom_to_run_as_says_all_of_it(self, spark, tmp_path):
        """spark-submit takes a principal or a proxy user, not both."""
        config = tmp_path / "lakekeeper.yaml"
        config.write_text("spark_submit: {principal: p@R, keytab: /etc/p.keytab}")
        analyze(config_file=str(config), proxy_user="alice").execute(context())
        config.write_text("spark_submit: {proxy_user: alice}")
        analyze(config_file=str(config), principal="p@R", keytab="/etc/p.keytab").execute(context())
        proxied, named = (call["argv"] for call in spark.calls)
        assert after(proxied, "--proxy-user") == "alice"
        assert not {"--principal", "--keytab"} & set(proxied)
        assert after(named, "--principal") == "p@R"
        assert "--proxy-user" not in named

    def test_the_file_says_how_to_submit_to_a_cluster(self, spark, monkeypatch, tmp_path):
        """So that a DAG can be taken to cluster mode without a change."""
        monkeypatch.setenv("KRB5CCNAME", "/tmp/krb5cc_test")
        shared = tmp_path / "shared"
        config = tmp_path / "lakekeeper.yaml"
        config.write_text(
            f"spark_submit: {{deploy_mode: cluster, report_dir: '{shared}', use_krb5ccache: true, principal: p@R}}"
        )
        value = analyze(config_file=str(config)).execute(context())
        [call] = spark.calls
        assert after(call["argv"], "--report").startswith(f"file://{shared}/")
        assert value["report"] == after(call["argv"], "--report")
        assert "spark.kerberos.renewal.credentials=ccache" in call["argv"]
        assert "--principal" not in call["argv"]

    def test_the_files_ticket_and_folder_are_not_for_who_says_no_or_stays_here(self, spark, tmp_path):
        config = tmp_path / "lakekeeper.yaml"
        config.write_text(f"spark_submit: {{report_dir: '{tmp_path}/shared', use_krb5ccache: true}}")
        value = analyze(config_file=str(config), use_krb5ccache=False).execute(context())
        [call] = spark.calls
        assert "spark.kerberos.renewal.credentials=ccache" not in call["argv"]
        assert value["report"] is None
        assert not (tmp_path / "shared").exists()

    def test_argument_wins_over_file_and_file_over_connection(self, spark, monkeypatch, tmp_path):
        monkeypatch.setenv(
            "AIRFLOW_CONN_SPARK_DEFAULT",
            connection(
                "yarn", queue="from-connection", principal="connection@R", **{"deploy-mode": "client"}
            ),
        )
        config = tmp_path / "lakekeeper.yaml"
        config.write_text(
            "spark_submit: {master: yarn, queue: from-file, principal: file@R, executor_memory: 4g,\n"
            "  python_env: ./env/bin/python, extra_conf: {a: file, b: file}, submit_command: spark-submit}\n"
            "block_size_mb: 64\n"
            "sort_columns: {sales.events: [ts]}\n"
            "tables: {sales.events: {min_input_files: 5}}\n"
        )
        compact(
            config_file=str(config), executor_memory="8g", conf={"a": "operator"}, sort_columns="id"
        ).execute(context())
        [call] = spark.calls
        argv = call["argv"]
        assert after(argv, "--queue") == "from-file"
        assert after(argv, "--principal") == "file@R"
        assert after(argv, "--executor-memory") == "8g"
        assert after(argv, "--deploy-mode") == "client"
        assert {"a=operator", "b=file", "spark.pyspark.python=./env/bin/python"} <= set(argv)
        assert call["request"] == {
            "schema_version": 1,
            "arguments": {"sort_columns": ["id"]},
            "settings": {"block_size_mb": 64, "sort_columns": {"sales.events": ["ts"]}},
            "tables": {"sales.events": {"min_input_files": 5}},
        }

    def test_an_own_entry_point_gets_the_verb_and_no_bundle(self, spark, tmp_path):
        config = tmp_path / "lakekeeper.yaml"
        config.write_text("spark_submit: {script_path: /opt/launcher.py}")
        analyze(config_file=str(config)).execute(context())
        argv = spark.calls[0]["argv"]
        at = argv.index("/opt/launcher.py")
        assert argv[at + 1 : at + 4] == ["analyze", "--table", "sales.events"]
        assert "--py-files" not in argv

    def test_cluster_mode_exchanges_files_in_report_dir(self, spark, tmp_path):
        shared = tmp_path / "shared"
        value = analyze(deploy_mode="cluster", report_dir=str(shared)).execute(context())
        argv = spark.calls[0]["argv"]
        assert after(argv, "--deploy-mode") == "cluster"
        assert after(argv, "--report").startswith(f"file://{shared}/lakekeeper-")
        assert value["report"] == after(argv, "--report")
        assert [path.name.endswith("-report.json") for path in shared.iterdir()] == [True]

    def test_on_yarn_the_cluster_needs_no_tracking_of_the_hook(self, spark, monkeypatch, tmp_path):
        monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", connection("yarn", **{"deploy-mode": "cluster"}))
        value = analyze(report_dir=f"file://{tmp_path}").execute(context())
        assert value["outcome"] == "done"

    def test_a_keytab_in_the_connection_is_for_this_user_alone(self, spark, monkeypatch, tmp_path):
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
        monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", connection(principal="p", keytab="a2V5"))
        analyze().execute(context())
        keytab = Path(after(spark.calls[0]["argv"], "--keytab"))
        assert stat.S_IMODE(keytab.stat().st_mode) == 0o600
