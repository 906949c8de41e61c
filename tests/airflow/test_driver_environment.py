"""What a driver in client mode gets of the worker's environment, by a spark-submit that records it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lakekeeper_provider.compat import AirflowException
from tests.airflow.conftest import ROOT, connection
from tests.airflow.support import context, logged
from tests.airflow.tasks import analyze

FERNET_KEY = "Y2FuYXJ5LW9mLWZlcm5ldC1rZXktMDEyMzQ1Njc4OTA="
CANARIES = {
    "AIRFLOW__CORE__FERNET_KEY": FERNET_KEY,
    **{
        name: f"canary-{name}"
        for name in ("AWS_SECRET_ACCESS_KEY", "MY_TOKEN", "DATABASE_URL", "PYTHONPATH_OF_X")
    },
}
PASSED = {
    **{
        "HADOOP_CONF_DIR": "/etc/hadoop/conf",
        "SPARK_CONF_DIR": "/etc/spark/conf",
        "PYSPARK_PYTHON": "python3",
    },
    **{"KRB5CCNAME": "FILE:/tmp/krb5cc_test", "YARN_CONF_DIR": "/etc/hadoop/conf", "LC_ALL": "C.UTF-8"},
}


@pytest.fixture
def worker(spark, monkeypatch):
    """A worker with secrets in its environment."""
    for name, value in {**CANARIES, **PASSED}.items():
        monkeypatch.setenv(name, value)
    return spark


def environ_of(worker) -> dict[str, str]:
    return worker.calls[-1]["environ"]


def secrets_in(environ: dict[str, str]) -> list[str]:
    return [
        name for name, value in environ.items() if value in CANARIES.values() or name.startswith("AIRFLOW")
    ]


@pytest.mark.one_version
def test_a_task_of_a_dag_gives_the_driver_what_it_needs_and_no_secret(airflow_db, worker, tmp_path):
    """`airflow dags test`, in a process that has had the environment from its beginning, as a worker's has."""
    dag = tmp_path / "canary.py"
    dag.write_text(
        "from datetime import datetime\n"
        "from airflow.providers.common.compat.sdk import DAG\n"
        "from lakekeeper_provider.operators.analyze import AnalyzeOperator\n"
        "with DAG('canary', schedule=None, start_date=datetime(2026, 1, 1)):\n"
        "    AnalyzeOperator(task_id='analyze', table='sales.events', env_vars={'OWN': 'own'})\n"
    )
    environ = {**os.environ, "AIRFLOW__CORE__DAGS_FOLDER": str(tmp_path), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "airflow", "dags", "test", "canary", "2026-02-23"]
    done = subprocess.run(command, env=environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    [call] = worker.calls
    found = call["environ"]
    assert secrets_in(found) == []
    assert {name: found.get(name) for name in PASSED} == PASSED
    assert (found["OWN"], found["PATH"], "PYTHONPATH" in found) == ("own", os.environ["PATH"], False)


def test_what_the_file_names_is_passed_and_a_star_passes_all(worker, tmp_path):
    config = tmp_path / "lakekeeper.yaml"
    config.write_text("spark_submit: {pass_environment: [MY_TOKEN, AWS_*]}")
    analyze(config_file=str(config)).execute(context())
    found = environ_of(worker)
    assert {name for name in secrets_in(found)} == {"MY_TOKEN", "AWS_SECRET_ACCESS_KEY"}
    config.write_text("spark_submit: {pass_environment: '*'}")
    analyze(config_file=str(config), env_vars={"MY_TOKEN": "own"}).execute(context())
    found = environ_of(worker)
    assert {**os.environ, "MY_TOKEN": "own"}.items() <= found.items()


def test_in_cluster_mode_spark_submit_has_the_environment_of_the_worker_and_env_vars(
    worker, tmp_path, monkeypatch
):
    """The driver has that of its node, and on_kill and tracking need what they always had."""
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", connection("yarn", **{"deploy-mode": "cluster"}))
    analyze(report_dir=str(tmp_path), env_vars={"HADOOP_CONF_DIR": "/own"}).execute(context())
    [call] = worker.calls
    assert {**os.environ, "HADOOP_CONF_DIR": "/own"}.items() <= call["environ"].items()
    assert "spark.yarn.appMasterEnv.HADOOP_CONF_DIR=/own" in call["argv"]


def test_after_a_failure_the_log_names_what_was_left_out_and_never_shows_it(worker, capfd, caplog):
    worker.plan(analyze={"exit": 1, "report": "none"})
    with pytest.raises(AirflowException):
        analyze().execute(context())
    shown = logged(capfd, caplog)
    [line] = [line for line in shown.splitlines() if "did not get these variables" in line][:1]
    # Airflow's own are for no job.
    assert {name for name in CANARIES if name in line} == {*CANARIES} - {"AIRFLOW__CORE__FERNET_KEY"}
    assert "pass_environment" in line
    assert not any(value in shown for value in CANARIES.values())


@pytest.mark.parametrize("failed", [True, False])
def test_it_is_said_too_if_the_report_has_a_failure_and_not_if_a_table_was_refused(
    worker, capfd, caplog, failed
):
    refused = {"outcome": "refused", "code": "VIEW", "reason": "it is a view"}
    broken = {"outcome": "failed", "reason": "cannot connect to the metastore"}
    worker.plan(analyze={"exit": 1, "tables": {"sales.events": broken if failed else refused}})
    with pytest.raises(AirflowException):
        analyze().execute(context())
    assert ("did not get these variables" in logged(capfd, caplog)) == failed


def test_nothing_is_said_of_it_when_a_job_succeeds(worker, capfd, caplog):
    analyze().execute(context())
    assert "did not get these variables" not in logged(capfd, caplog)


def test_credentials_of_the_command_are_masked_in_log_and_error(worker, capfd, caplog):
    worker.plan(analyze={"exit": 1, "report": "none"})
    conf = {"spark.hadoop.fs.s3a.access.key": "canary-1", "spark.ui.port": "4040"}
    conf |= {
        "spark.openlineage.transport.auth.apiKey": "canary-2",
        "spark.hadoop.fs.azure.account.key.x": "canary-3",
    }
    with pytest.raises(AirflowException) as error:
        analyze(conf=conf, keytab="/etc/canary.keytab", principal="canary@REALM").execute(context())
    shown = logged(capfd, caplog) + str(error.value)
    assert "canary" not in shown.replace(str(Path(__file__).parent), "")
    assert "spark.ui.port=4040" in shown
    argv = worker.calls[-1]["argv"]
    assert {f"{name}={value}" for name, value in conf.items()} <= set(argv)
    assert json.dumps(argv).count("canary") == 5
