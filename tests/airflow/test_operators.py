"""What an operator submits, and what it makes of the report, seen through a spark-submit that records."""

from __future__ import annotations

import json
import re
import stat
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path

import pytest
from airflow.providers.common.compat.sdk import DAG

from lakekeeper_provider.compat import AirflowException, AirflowFailException, AirflowSkipException
from lakekeeper_provider.exceptions import UsageError
from lakekeeper_provider.operators.analyze import AnalyzeOperator
from lakekeeper_provider.operators.cleanup import CleanupOperator
from lakekeeper_provider.operators.compact import CompactOperator
from lakekeeper_provider.operators.rollback import RollbackOperator
from lakekeeper_provider.sensors.small_files import SmallFilesSensor
from lakekeeper_provider.window import MaintenanceWindow
from tests.airflow.conftest import connection
from tests.airflow.support import after, context, wait_for


def analyze(**kwargs) -> AnalyzeOperator:
    return AnalyzeOperator(task_id="analyze", **{"table": "sales.events", **kwargs})


def compact(**kwargs) -> CompactOperator:
    return CompactOperator(task_id="compact", **{"table": "sales.events", **kwargs})


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


class TestMistakesAreFoundBeforeSubmitting:
    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"table": None}, "give exactly one of table, tables and database"),
            ({"database": "sales"}, "table='sales.events' and database='sales'"),
            ({"table": "events"}, "expected a table as db.table, got 'events'"),
            ({"block_size_mb": "big"}, "block_size_mb: expected a whole number from 1, got 'big'"),
            ({"dry_run": "maybe"}, "dry_run: expected true or false, got 'maybe'"),
            ({"use_krb5ccache": "maybe"}, "use_krb5ccache: expected true or false, got 'maybe'"),
            ({"config_file": "/nowhere.yaml"}, "cannot read the configuration file /nowhere.yaml"),
            ({"deploy_mode": "cluster"}, "set report_dir"),
            ({"report_dir": "relative/path"}, "expected a URI such as webhdfs://"),
            ({"report_dir": "nosuch://host/path"}, "this worker cannot reach nosuch://host/path"),
            ({"table": None, "tables": [f"a.t{n}" for n in range(201)]}, "201 tables are more than the 200"),
            ({"conn_id": "spark_missing"}, "the Spark connection 'spark_missing' does not exist"),
            ({"spark_binary": "spark9-submit"}, "'spark9-submit' was not found on this worker"),
            ({"window": "nightly"}, "window: 'nightly' is not under windows"),
        ],
    )
    def test_wrong_arguments(self, spark, airflow_db, arguments, message):
        operator = compact() if "table" not in arguments else compact(table="a.b")
        for name, value in arguments.items():  # as a rendered template sets them
            setattr(operator, name, value)
        with pytest.raises(AirflowFailException) as error:
            operator.execute(context())
        assert message in str(error.value)
        assert spark.calls == []

    def test_a_master_in_the_file_that_is_not_the_connections(self, spark, tmp_path):
        config = tmp_path / "lakekeeper.yaml"
        config.write_text("spark_submit: {master: yarn}")
        with pytest.raises(AirflowFailException, match=r"'yarn'.*'spark_default' says 'local\[2\]'"):
            analyze(config_file=str(config)).execute(context())
        assert spark.calls == []

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"partitions": [{"a": "b"}], "where": "a = 'b'"}, "either partitions or where"),
            ({"on_closed": "wat"}, "did you mean 'wait'"),
            ({"application_args": ["x"]}, "application_args"),
            ({"analysis": {}}, "analysis already says which tables"),
            ({"table": None}, "give analysis, or one of table"),
        ],
    )
    def test_what_no_template_can_mend_fails_when_the_dag_is_parsed(self, arguments, message):
        with pytest.raises(UsageError, match=message):
            compact(**arguments)


class TestReports:
    def test_the_summary_is_the_xcom(self, spark):
        value = compact().execute(context())
        [call] = spark.calls
        run_id = after(call["argv"], "--run-id")
        assert value == {
            "schema_version": 1,
            "verb": "compact",
            "run_id": run_id,
            "outcome": "done",
            "started": "2026-02-24T01:00:00Z",
            "ended": "2026-02-24T01:03:10Z",
            "report": None,
            "database": None,
            "tables": [
                {
                    **{"table": "sales.events", "outcome": "done", "code": None, "reason": None},
                    **{"run_id": run_id, "rows": 300000, "backup_table": None},
                    "before": {"files": 600, "bytes": 314572},
                    "after": {"files": 3, "bytes": 290012},
                }
            ],
        }
        json.dumps(value)

    def test_the_line_of_the_driver_is_enough(self, spark):
        spark.plan(analyze={"report": "stdout"})
        assert analyze().execute(context())["tables"][0]["flagged"] == [{"date": "2026-02-23"}]

    def test_no_report_is_a_failure_even_after_exit_0(self, spark):
        spark.plan(analyze={"report": "none"})
        with pytest.raises(AirflowException, match="ended without a report"):
            analyze().execute(context())

    def test_another_program_that_leaves_no_report_is_named(self, spark, tmp_path):
        spark.plan(analyze={"report": "none"})
        config = tmp_path / "lakekeeper.yaml"
        config.write_text("spark_submit: {script_path: /opt/launcher.py}")
        with pytest.raises(
            AirflowException, match=r"/opt/launcher.py ended without a report of this package's jobs"
        ):
            analyze(config_file=str(config)).execute(context())

    def test_a_broken_report_is_a_failure_even_after_exit_0(self, spark):
        spark.plan(analyze={"report": "broken"})
        with pytest.raises(AirflowException, match="not valid JSON"):
            analyze().execute(context())

    def test_without_a_report_the_message_of_spark_submit_stands(self, spark):
        spark.plan(analyze={"report": "none", "exit": 1})
        with pytest.raises(AirflowException, match=r"(?s)Error code is: 1.*working on analyze") as error:
            analyze().execute(context())
        assert not isinstance(error.value, AirflowFailException)

    def test_the_report_decides_after_a_failed_process(self, spark):
        spark.plan(analyze={"exit": 1})
        assert analyze().execute(context())["outcome"] == "done"

    def test_a_partial_run_is_retried_and_leaves_its_run_ids(self, spark):
        table = {"outcome": "partial", "reason": "one unit failed"}
        spark.plan(compact={"outcome": "partial", "exit": 1, "table": table})
        now = context()
        with pytest.raises(AirflowException, match=r"sales.events partial .one unit failed") as error:
            compact().execute(now)
        assert not isinstance(error.value, AirflowFailException)
        pushed = now["ti"].pushed["return_value"]
        assert pushed["outcome"] == "partial"
        assert pushed["tables"][0]["run_id"] == after(spark.calls[0]["argv"], "--run-id")

    def test_a_busy_table_is_retried(self, spark):
        table = {"outcome": "busy", "reason": "the lease is held"}
        spark.plan(compact={"outcome": "failed", "exit": 1, "table": table})
        with pytest.raises(AirflowException, match="the lease is held") as error:
            compact().execute(context())
        assert not isinstance(error.value, AirflowFailException)

    @pytest.mark.parametrize(
        ("plan", "message"),
        [
            ({"outcome": "usage", "exit": 2, "error": "no such column x"}, "no such column x"),
            (
                {
                    "outcome": "unsafe",
                    "exit": 3,
                    "table": {
                        "outcome": "partial",
                        "units": [{"unit": {"d": "1"}, "outcome": "quarantined", "reason": "X L N"}],
                    },
                },
                r"a person must look.*d=1: quarantined X L N",
            ),
            (
                {
                    "outcome": "failed",
                    "exit": 1,
                    "table": {"outcome": "refused", "code": "MANAGED", "reason": "it is a managed table"},
                },
                r"compact: sales.events refused .MANAGED it is a managed table",
            ),
        ],
    )
    def test_what_a_retry_cannot_mend_fails_at_once(self, spark, plan, message):
        spark.plan(compact=plan)
        with pytest.raises(AirflowFailException, match=message):
            compact().execute(context())

    def test_a_refused_table_of_a_database_is_no_failure(self, spark):
        spark.plan(analyze={"tables": {"sales.b": {"outcome": "refused", "code": "VIEW"}}})
        value = analyze(table=None, database="sales").execute(context())
        assert [table["outcome"] for table in value["tables"]] == ["done", "refused"]

    def test_a_refused_table_of_a_list_may_be_skipped(self, spark):
        refused = {"outcome": "refused", "code": "VIEW", "reason": "it is a view"}
        spark.plan(analyze={"outcome": "partial", "exit": 1, "tables": {"sales.v": refused}})
        with pytest.raises(AirflowSkipException, match=r"sales\.v refused .VIEW it is a view"):
            analyze(table="sales.v", on_refused="skip").execute(context())
        value = analyze(table=None, tables=["sales.v", "sales.t"], on_refused="skip").execute(context())
        assert [table["outcome"] for table in value["tables"]] == ["refused", "done"]

    def test_the_log_shows_before_and_after(self, spark, caplog):
        operator = analyze()
        lines = []
        operator.log.info = lambda *args: lines.append(args[0] % args[1:])
        operator.execute(context())
        assert any("600 -> 3" in line for line in lines)

    def test_an_analysis_too_large_for_xcom_points_to_its_report(self, spark, tmp_path):
        units = [{"unit": {"date": f"{n:020}"}, "outcome": "flagged"} for n in range(2000)]
        spark.plan(analyze={"table": {"units": units}})
        with pytest.raises(AirflowFailException, match="set report_dir"):
            analyze().execute(context())
        analysis = analyze(report_dir=str(tmp_path / "r")).execute(context())
        assert len(json.dumps(analysis)) < 48 * 1024
        assert analysis["tables"][0]["flagged"] is None
        CompactOperator(task_id="compact", analysis=analysis).execute(context())
        assert len(spark.calls[-1]["request"]["units"]["sales.events"]) == 2000

    def test_of_such_an_analysis_only_the_tables_that_it_names_are_compacted(self, spark, tmp_path):
        units = [{"unit": {"date": f"{n:020}"}, "outcome": "flagged"} for n in range(1000)]
        spark.plan(analyze={"table": {"units": units}})
        whole = AnalyzeOperator(task_id="analyze", database="sales", report_dir=str(tmp_path / "r"))
        analysis = whole.execute(context())
        assert [table["flagged"] for table in analysis["tables"]] == [None, None]
        one = {**analysis, "tables": analysis["tables"][:1]}
        CompactOperator(task_id="compact", analysis=one).execute(context())
        assert list(spark.calls[-1]["request"]["units"]) == ["sales.a"]


class TestCompactFromAnalysis:
    def compact(self, analysis, **kwargs):
        return CompactOperator(task_id="compact", analysis=analysis, **kwargs)

    def test_works_on_exactly_what_was_flagged(self, spark):
        analysis = analyze(table=None, tables="sales.events,sales.flat").execute(context())
        analysis["tables"][1]["flagged"] = []
        self.compact(analysis).execute(context())
        call = spark.calls[-1]
        assert after(call["argv"], "--table") == "sales.events"
        assert call["request"]["units"] == {"sales.events": [{"date": "2026-02-23"}]}

    def test_takes_the_list_that_a_mapped_analysis_gives(self, spark):
        analyses = [analyze(table=name).execute(context()) for name in ("sales.b", "sales.a")]
        self.compact([*analyses, None]).execute(context())
        assert after(spark.calls[-1]["argv"], "--tables") == "sales.a,sales.b"

    def test_nothing_flagged_is_skipped_without_submitting(self, spark):
        compact().execute(context())
        analysis = analyze().execute(context())
        submitted, now = len(spark.calls), context()
        with pytest.raises(AirflowSkipException, match="flagged nothing"):
            self.compact(analysis).execute(now)
        assert len(spark.calls) == submitted
        assert now["ti"].pushed["return_value"]["tables"][0]["table"] == "sales.events"

    def test_no_analysis_at_all_is_skipped_too(self, spark):
        with pytest.raises(AirflowSkipException, match="flagged nothing"):
            self.compact([]).execute(context())

    @pytest.mark.parametrize("wrong", ["{'a': 1}", {"verb": "compact"}, 7, [3]])
    def test_anything_else_is_refused(self, spark, wrong):
        with pytest.raises(AirflowFailException, match="analysis: "):
            self.compact(wrong).execute(context())
        assert spark.calls == []

    def test_run_id_is_the_same_when_a_retry_finds_less_flagged(self, spark):
        analysis = analyze(table=None, tables="sales.a,sales.b").execute(context())
        self.compact(analysis).execute(context())
        analysis["tables"][1]["flagged"] = []
        with pytest.raises(AirflowSkipException):
            self.compact(analysis).execute(context())
        assert len({after(call["argv"], "--run-id") for call in spark.calls[1:]}) == 1


class TestCleanupAndRollback:
    def test_cleanup_passes_its_retention(self, spark):
        compact().execute(context())
        CleanupOperator(
            task_id="cleanup", database="sales", older_than="7d", keep_last="2", dry_run="true"
        ).execute(context())
        assert spark.calls[-1]["request"]["arguments"] == {
            "older_than": "7d",
            "keep_last": 2,
            "dry_run": True,
        }

    def test_rollback_undoes_the_runs_of_a_compaction(self, spark):
        value = compact().execute(context())
        undone = RollbackOperator(task_id="rollback", compaction=value).execute(context())
        assert spark.calls[-1]["request"]["runs"] == {"sales.events": [value["run_id"]]}
        assert undone["outcome"] == "done"
        assert spark.tables == {"sales.events": []}

    def test_rollback_again_finds_nothing_and_is_green(self, spark):
        value = compact().execute(context())
        for expected in ("done", "nothing"):
            result = RollbackOperator(task_id="rollback", compaction=[value, None]).execute(context())
            assert result["outcome"] == expected

    def test_rollback_of_a_table_takes_the_newest_run_or_the_named_one(self, spark):
        RollbackOperator(task_id="rollback", table="sales.events").execute(context())
        assert "--run-id" not in spark.calls[-1]["argv"]
        RollbackOperator(task_id="rollback", table="sales.events", run_id="r1").execute(context())
        assert after(spark.calls[-1]["argv"], "--run-id") == "r1"

    def test_rollback_after_a_compaction_that_died_before_its_report(self, spark):
        spark.plan(compact={"report": "none", "exit": 137})
        now = context()
        with pytest.raises(AirflowException):
            compact().execute(now)
        left = now["ti"].pushed["return_value"]
        assert RollbackOperator(task_id="r", compaction=left).execute(context())["outcome"] == "done"

    def test_rollback_of_a_database_that_died_before_its_report(self, spark):
        spark.plan(compact={"report": "none", "exit": 137})
        now = context()
        with pytest.raises(AirflowException):
            compact(table=None, database="sales").execute(now)
        RollbackOperator(task_id="r", compaction=now["ti"].pushed["return_value"]).execute(context())
        argv = spark.calls[-1]["argv"]
        assert after(argv, "--database") == "sales"
        assert after(argv, "--run-id") == now["ti"].pushed["return_value"]["run_id"]

    def test_rollback_with_nothing_to_undo_submits_nothing(self, spark):
        result = RollbackOperator(task_id="rollback", compaction=[]).execute(context())
        assert result["outcome"] == "nothing"
        assert spark.calls == []


class TestInDags:
    CLASSES = (AnalyzeOperator, CompactOperator, RollbackOperator, CleanupOperator, SmallFilesSensor)

    @pytest.mark.parametrize("operator", CLASSES)
    def test_every_template_field_is_an_attribute(self, operator):
        made = operator(task_id="t", table="a.b")
        assert [name for name in operator.template_fields if not hasattr(made, name)] == []

    @pytest.mark.parametrize("operator", CLASSES)
    def test_can_be_mapped_and_serialized_with_a_window(self, operator):
        from airflow.serialization import serialized_objects

        window = MaintenanceWindow("22:00", "05:00")
        with DAG("d", schedule=None, start_date=datetime(2026, 1, 1)) as dag:
            operator(task_id="one", table="a.b", window=window)
            operator.partial(task_id="many", window=window, conn_id="c").expand(table=["a.b", "a.c"])
        serializer = getattr(serialized_objects, "DagSerialization", serialized_objects.SerializedDAG)
        assert "22:00" in json.dumps(serializer.to_dict(dag))

    def test_default_args_reach_them(self):
        made = SmallFilesSensor(task_id="t", table="a.b", default_args={"conn_id": "c", "yarn_queue": "q"})
        assert (made.conn_id, made.yarn_queue) == ("c", "q")


class TestKill:
    def test_a_killed_task_fails_and_submits_nothing_more(self, spark):
        spark.plan(compact={"sleep": 120})
        operator, started = compact(), spark.home / "started"

        def kill():
            wait_for("spark-submit", started.exists, patience=100)
            operator.on_kill()

        with ThreadPoolExecutor(1) as pool:
            killing = pool.submit(kill)
            with pytest.raises(AirflowException, match="was killed"):
                operator.execute(context())
            killing.result()
        assert len(spark.calls) == 1

    def test_a_task_that_was_killed_before_it_submitted_does_not_submit(self, spark):
        operator = analyze()
        operator.on_kill()
        with pytest.raises(AirflowException, match="was killed"):
            operator.execute(context())
        assert spark.calls == []

    def test_a_kill_before_anything_was_submitted_is_quiet(self, monkeypatch):
        """Nobody is asked to kill a job that there is not: the user would see that fail, not the kill."""
        operator, hooks = analyze(conn_id="spark_missing"), []
        monkeypatch.setattr(operator, "_get_hook", lambda: hooks.append("asked"))
        operator.on_kill()
        assert hooks == []


def test_a_cleared_success_submits_again_because_the_parent_is_not_durable():
    assert getattr(analyze(), "durable", False) is False
