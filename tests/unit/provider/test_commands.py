from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from lakekeeper_provider.exceptions import UsageError
from lakekeeper_provider.launch.commands import (
    has_launcher,
    job_arguments,
    option_flags,
    spark_conf,
    spark_submit_command,
    submit_arguments,
)
from lakekeeper_provider.options.config import SparkSubmit
from lakekeeper_provider.options.selection import Selection


def test_flags_follow_the_wire():
    assert option_flags(
        {
            "block_size_mb": 256,
            "compaction_ratio_threshold": 5.0,
            "partitions": [{"date": "2026-02-23", "ref": None}],
            "sort_columns": ["a", "b"],
            "analyze_after_compaction": False,
            "dry_run": True,
            "keep_last": 2,
            "include": "evt_*",
        }
    ) == [
        *("--block-size", "256", "--ratio-threshold", "5"),
        *("--partitions", '[{"date":"2026-02-23","ref":null}]'),
        *("--sort-columns", "a,b", "--no-analyze-stats", "--keep-last", "2", "--dry-run"),
        *("--include", "evt_*"),
    ]


def test_a_switch_that_is_off_has_no_flag():
    assert option_flags({"dry_run": False, "skip_trash": False}) == []


def test_options_without_a_flag_are_left_to_the_request():
    assert option_flags({"backup_prefix": "__b", "staging_ttl": "1h"}) == []


def test_arguments_of_an_operators_job():
    assert job_arguments(
        Selection(tables=("a.b", "a.c")),
        request="file:///r/request.json",
        report="file:///r/report.json",
        nonce=["--report-nonce", "n1"],
        options={"deadline": "2026-02-24T04:00:00Z"},
        run_id="nightly-1",
    ) == [
        *("--tables", "a.b,a.c", "--deadline", "2026-02-24T04:00:00Z"),
        *(
            "--request",
            "file:///r/request.json",
            "--report",
            "file:///r/report.json",
            "--report-nonce",
            "n1",
            "--run-id",
            "nightly-1",
        ),
    ]


def test_yarn_must_not_try_again_unless_the_user_says_so():
    assert spark_conf(SparkSubmit(), None, client=True) == {"spark.yarn.maxAppAttempts": "1"}
    conf = spark_conf(SparkSubmit(), {"spark.yarn.maxAppAttempts": 2}, client=True)
    assert conf["spark.yarn.maxAppAttempts"] == "2"


def test_an_operators_conf_wins_over_the_files():
    spark = SparkSubmit(extra_conf={"a": "file", "b": "file"}, python_env="./env/bin/python")
    conf = spark_conf(spark, {"a": "operator"}, client=False)
    assert conf["a"] == "operator"
    assert conf["b"] == "file"
    assert conf["spark.pyspark.python"] == "./env/bin/python"
    assert "spark.pyspark.driver.python" not in conf


@pytest.mark.parametrize(
    ("environ", "python"),
    [
        ({}, "python3"),
        ({"PYSPARK_PYTHON": "/opt/python3.11"}, "/opt/python3.11"),
        (
            {"PYSPARK_PYTHON": "/opt/python3.11", "PYSPARK_DRIVER_PYTHON": "/opt/python3.12"},
            "/opt/python3.12",
        ),
    ],
)
def test_a_client_driver_does_not_look_for_the_clusters_python_here(monkeypatch, environ, python):
    for name in ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    spark = SparkSubmit(enabled=True, python_env="./env/bin/python")
    assert spark_conf(spark, None, client=True)["spark.pyspark.driver.python"] == python
    assert f"spark.pyspark.driver.python={python}" in spark_submit_command(spark, "compact.py", [])
    in_cluster = replace(spark, deploy_mode="cluster")
    command = spark_submit_command(in_cluster, "compact.py", [])
    assert "spark.pyspark.python=./env/bin/python" in command
    assert not any("driver.python" in word for word in command)


def test_a_client_driver_has_the_python_of_the_file_where_it_is_on_this_machine(monkeypatch, tmp_path):
    for name in ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"):
        monkeypatch.delenv(name, raising=False)
    here = tmp_path / "python3.11"
    spark = SparkSubmit(python_env=str(here))
    assert spark_conf(spark, None, client=True)["spark.pyspark.driver.python"] == "python3"
    here.touch()
    monkeypatch.setenv("PYSPARK_PYTHON", "/usr/bin/python3")
    assert spark_conf(spark, None, client=True)["spark.pyspark.driver.python"] == str(here)


@pytest.mark.parametrize("ratio", [0.001, 5.0, 10.1234567, 1_000_000_000.0])
def test_a_number_is_not_rounded(ratio):
    flag, text = option_flags({"compaction_ratio_threshold": ratio})
    assert (flag, float(text)) == ("--ratio-threshold", ratio)


def test_a_shell_command_without_enabled_stays_on_this_machine():
    assert spark_submit_command(SparkSubmit(), "compact.py", ["--table", "a.b"], ["jobs.zip"]) == [
        *("spark-submit", "--master", "local[*]", "--deploy-mode", "client", "--py-files", "jobs.zip"),
        *("compact.py", "--table", "a.b"),
    ]


def test_a_shell_command_without_enabled_has_what_the_file_says_of_kerberos_and_spark():
    spark = SparkSubmit(
        master="yarn",
        principal="etl@REALM",
        keytab="/etc/etl.keytab",
        extra_conf={"spark.ui.enabled": "false"},
    )
    command = spark_submit_command(spark, "compact.py", [])
    for pair in (
        ("--master", "local[*]"),
        ("--principal", "etl@REALM"),
        ("--keytab", "/etc/etl.keytab"),
        ("--conf", "spark.ui.enabled=false"),
    ):
        assert pair in pairwise(command)


@pytest.mark.parametrize(("keytab", "named"), [(None, False), ("/etc/etl.keytab", True)])
def test_a_shell_command_with_a_ticket_names_no_principal_without_its_keytab(keytab, named):
    spark = SparkSubmit(enabled=True, use_krb5ccache=True, principal="etl@REALM", keytab=keytab)
    command = spark_submit_command(spark, "compact.py", [])
    assert "spark.kerberos.renewal.credentials=ccache" in command
    assert ("--principal" in command) is named


def test_a_users_files_follow_the_bundle():
    spark = SparkSubmit(enabled=True, py_files=("own.whl",), extra_files=("hive-site.xml", "x"))
    command = spark_submit_command(spark, "s.py", [], ["jobs.zip"])
    assert command[command.index("--py-files") + 1] == "jobs.zip,own.whl"
    assert command[command.index("--files") + 1] == "hive-site.xml,x"


#: Some arguments of an operator that was given none.
NONE_GIVEN = dict.fromkeys(
    [
        *("application", "files", "py_files", "keytab", "principal", "proxy_user"),
        *(
            "conn_id",
            "yarn_queue",
            "spark_binary",
            "executor_memory",
            "total_executor_cores",
            "use_krb5ccache",
        ),
    ]
)


def test_arguments_of_an_operator_take_precedence_over_the_file():
    spark = SparkSubmit(
        queue="file",
        submit_command="file-submit",
        executor_memory="4g",
        extra_files=("a", "b"),
        py_files=("p",),
    )
    own = {**NONE_GIVEN, "conn_id": "c", "executor_memory": "8g", "py_files": "own.whl"}
    assert submit_arguments(own, spark, "/jobs/compact.py", "/tmp/jobs.zip") == {
        **NONE_GIVEN,
        **{"application": "/jobs/compact.py", "files": "a,b", "py_files": "/tmp/jobs.zip,own.whl"},
        **{"conn_id": "c", "yarn_queue": "file", "spark_binary": "file-submit", "executor_memory": "8g"},
        "use_krb5ccache": False,
    }


def test_a_launcher_of_the_file_is_submitted_without_the_job_sources():
    spark = SparkSubmit(script_path="/opt/launcher.py")
    assert has_launcher(NONE_GIVEN, spark)
    found = submit_arguments(NONE_GIVEN, spark)
    assert (found["application"], found["py_files"]) == ("/opt/launcher.py", None)
    own = {**NONE_GIVEN, "application": "own.py"}
    assert not has_launcher(own, spark)
    assert submit_arguments(own, spark, "job.py", "jobs.zip")["application"] == "own.py"
    assert not has_launcher(NONE_GIVEN, SparkSubmit())


IDENTITY = ("keytab", "principal", "proxy_user")


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        ({}, ("k", "p", "u")),
        ({"proxy_user": "alice"}, (None, None, "alice")),
        ({"principal": "own"}, ("k", "own", None)),
        ({"keytab": "own"}, ("own", "p", None)),
        ({"keytab": "own", "proxy_user": "alice"}, ("own", None, "alice")),
    ],
)
def test_principal_and_proxy_user_of_operator_and_file_are_mutually_exclusive(own, expected):
    spark = SparkSubmit(keytab="k", principal="p", proxy_user="u")
    found = submit_arguments({**NONE_GIVEN, **own}, spark, "job.py", "jobs.zip")
    assert tuple(found[name] for name in IDENTITY) == expected


@pytest.mark.parametrize(
    ("own", "file", "expected"), [(None, True, True), (False, True, False), ("true", False, True)]
)
def test_the_file_decides_on_the_ticket_cache_unless_the_operator_does(own, file, expected):
    given = {**NONE_GIVEN, "use_krb5ccache": own}
    assert submit_arguments(given, SparkSubmit(use_krb5ccache=file))["use_krb5ccache"] is expected


def test_a_wrong_boolean_for_the_ticket_cache_is_refused():
    with pytest.raises(UsageError, match="use_krb5ccache: expected true or false"):
        submit_arguments({**NONE_GIVEN, "use_krb5ccache": "maybe"}, SparkSubmit())
