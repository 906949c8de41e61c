"""What the doctor operator asks on a worker, what it submits, and how it ends."""

from __future__ import annotations

import http.server
import json
import logging
import os
import threading
from collections.abc import Iterator
from importlib import metadata
from typing import Any

import pytest

from lakekeeper_provider import compat
from lakekeeper_provider.compat import AIRFLOW_V_3_0_PLUS, AirflowFailException
from lakekeeper_provider.operators import worker_checks
from lakekeeper_provider.operators.doctor import DoctorOperator
from tests.airflow.conftest import connection
from tests.airflow.support import after, context

BAD = {
    "check": "trash",
    "where": "driver",
    "outcome": "bad",
    "tried": "ask",
    "found": "it is off",
    "action": "Set fs.trash.interval",
}
HEALTHY: dict[str, Any] = {"triggerer": {"status": "healthy"}}


@pytest.fixture
def health(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Airflow's answer, which a test may change."""
    answer = dict(HEALTHY)
    monkeypatch.setattr(worker_checks, "airflow_health", lambda: answer)
    return answer


def doctor(**kwargs: Any) -> DoctorOperator:
    return DoctorOperator(task_id="doctor", **{"table": "sales.events", "pool": "lakekeeper", **kwargs})


def checks_of(result: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {f"{check['where']} {check['check']}": check for check in result["checks"]}


def failed(task: DoctorOperator, about: str) -> dict[str, dict[str, Any]]:
    """Runs a task that must fail, and returns the checks that it has pushed."""
    pushed: dict[str, Any] = {}
    found = context()
    found["ti"].xcom_push = lambda key, value, **_: pushed.update({key: value})
    with pytest.raises(AirflowFailException, match=about):
        task.execute(found)
    return checks_of(pushed["return_value"])


def test_all_is_well(spark, health, caplog):
    caplog.set_level(logging.INFO)
    result = doctor().execute(context())
    found = checks_of(result)
    assert result["outcome"] == "done"
    assert found["driver hdfs"]["found"] == "it answers"
    for name in ("provider", "spark-submit", "pool", "triggerer"):
        assert found[f"worker {name}"]["outcome"] in ("good", "advice")
    assert found["worker report_dir"]["outcome"] == "not-asked"
    [call] = spark.calls
    assert after(call["argv"], "--table") == "sales.events"


def test_no_table_is_needed(spark, health):
    doctor(table=None).execute(context())
    [call] = spark.calls
    assert not {"--table", "--tables", "--database"} & set(call["argv"])


def test_a_bad_check_fails_the_task_and_is_pushed(spark, health, capsys, caplog):
    caplog.set_level(logging.INFO)
    spark.plan(doctor={"checks": [BAD], "exit": 1})
    found = failed(doctor(), r"doctor: 1 bad: trash \(driver\)")
    assert found["driver trash"] == BAD
    assert "-> Set fs.trash.interval" in capsys.readouterr().out + caplog.text


@pytest.mark.parametrize(("status", "words"), [(None, "there is none"), ("unhealthy", "it is unhealthy")])
def test_no_triggerer(spark, health, status, words):
    health["triggerer"] = {"status": status}
    check = failed(doctor(), "triggerer")["worker triggerer"]
    assert check["found"] == words
    assert "airflow triggerer" in check["action"]


def test_a_health_page_that_does_not_answer_is_neither_good_nor_bad(spark, monkeypatch):
    def fail() -> Any:
        raise OSError("connection refused")

    monkeypatch.setattr(worker_checks, "airflow_health", fail)
    check = checks_of(doctor().execute(context()))["worker triggerer"]
    assert check["outcome"] == "not-asked"
    assert "connection refused" in check["found"]


@pytest.fixture
def page() -> Iterator[tuple[str, list[str]]]:
    """An API server with a health page, and the paths that were asked for."""
    asked: list[str] = []

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(HEALTHY).encode())

        def log_message(self, *_: Any) -> None:
            """Nothing."""

    server = http.server.HTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()


def test_the_health_is_that_of_the_server_of_the_tasks_or_of_the_database(page, monkeypatch, airflow_db):
    """Tasks of Airflow 3 have no access to the database; no triggerer has ever run on that of Airflow 2 here."""
    address, asked = page
    if not AIRFLOW_V_3_0_PLUS:
        assert compat.airflow_health()["triggerer"]["status"] is None
        return
    monkeypatch.setenv("AIRFLOW__CORE__EXECUTION_API_SERVER_URL", f"{address}/airflow/execution/")
    assert compat.airflow_health() == HEALTHY
    monkeypatch.delenv("AIRFLOW__CORE__EXECUTION_API_SERVER_URL")
    monkeypatch.setenv("AIRFLOW__API__BASE_URL", address)
    assert compat.airflow_health() == HEALTHY
    assert asked == ["/airflow/api/v2/monitor/health", "/api/v2/monitor/health"]


def test_the_default_pool_is_named(spark, health):
    check = checks_of(doctor(pool="default_pool").execute(context()))["worker pool"]
    assert check["outcome"] == "advice"
    assert "airflow pools set" in check["action"]


def test_a_report_dir_that_the_worker_cannot_write(spark, health, tmp_path):
    (tmp_path / "file").touch()
    found = failed(doctor(report_dir=f"file://{tmp_path}/file/reports"), "report_dir")
    assert found["worker report_dir"]["outcome"] == "bad"
    assert found["driver driver"]["outcome"] == "not-asked"
    assert spark.calls == []


def test_a_report_dir_of_one_side(spark, health, tmp_path):
    """The driver has another disk: its report comes by standard output, in client mode."""
    spark.plan(doctor={"report": "stdout"})
    found = failed(doctor(report_dir=f"file://{tmp_path}/reports"), "report_dir")
    check = found["worker report_dir"]
    assert check["outcome"] == "bad"
    assert "do not reach the same directory" in check["found"]


def test_a_report_dir_of_both_sides(spark, health, tmp_path):
    found = checks_of(doctor(report_dir=f"file://{tmp_path}/reports").execute(context()))
    assert found["worker report_dir"]["outcome"] == "good"
    assert len(list((tmp_path / "reports").iterdir())) == 1  # the report stays


def test_cluster_mode_without_report_dir(spark, health, monkeypatch):
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", connection("yarn", **{"deploy-mode": "cluster"}))
    assert failed(doctor(), "report_dir")["worker report_dir"]["outcome"] == "bad"


def test_no_connection(spark, health, monkeypatch):
    monkeypatch.delenv("AIRFLOW_CONN_SPARK_DEFAULT")
    check = failed(doctor(conn_id="missing"), "driver")["driver driver"]
    assert "missing" in check["found"]


def test_no_spark_submit(spark, health, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    found = failed(doctor(), "spark-submit")
    assert found["worker spark-submit"]["outcome"] == "bad"
    assert found["driver driver"]["outcome"] == "not-asked"
    assert spark.calls == []


def test_a_driver_that_leaves_no_report(spark, health):
    spark.plan(doctor={"report": "none", "exit": 1, "lines": ["java.io.IOException: no queue"]})
    assert failed(doctor(), "driver")["driver driver"]["outcome"] == "bad"


def test_a_job_that_could_not_begin_says_why(spark, health):
    spark.plan(
        doctor={"checks": None, "outcome": "usage", "error": "unknown key 'x' in the request", "exit": 2}
    )
    assert "unknown key" in failed(doctor(), "driver")["driver driver"]["found"]


def test_a_driver_that_dies_after_its_report_is_no_success(spark, health):
    spark.plan(doctor={"exit": -9})
    assert failed(doctor(), "driver")["driver driver"]["outcome"] == "bad"


def test_a_wrong_name_of_a_table_fails_before_anything_is_asked(spark, health):
    with pytest.raises(AirflowFailException, match=r"a table as db\.table"):
        doctor(table="events").execute(context())
    assert spark.calls == []


def test_a_keytab_of_the_operator_counts_as_one_of_the_file(spark, health, tmp_path, monkeypatch):
    """Before: the worker asked for a ticket, which a job with a keytab does not need."""
    setting = "<name>hadoop.security.authentication</name><value>kerberos</value>"
    (tmp_path / "core-site.xml").write_text(f"<configuration><property>{setting}</property></configuration>")
    keytab = tmp_path / "etl.keytab"
    keytab.write_bytes(b"\x05\x02")
    klist = tmp_path / "bin/klist"
    klist.parent.mkdir()
    klist.write_text("#!/bin/sh\nexit 1\n")
    klist.chmod(0o755)
    monkeypatch.setenv("PATH", str(klist.parent), prepend=os.pathsep)
    variables = {"HADOOP_CONF_DIR": str(tmp_path), "KRB5CCNAME": f"FILE:{tmp_path}/none"}
    of_file = checks_of(doctor(keytab=str(keytab), principal="etl@R", env_vars=variables).execute(context()))
    assert "keytab" in of_file["worker ticket"]["tried"]
    without = failed(doctor(env_vars=variables), "ticket")["worker ticket"]
    assert "core-site.xml asks for Kerberos" in without["found"]


def test_a_wrong_configuration_file(spark, health, tmp_path):
    path = tmp_path / "lakekeeper.yaml"
    path.write_text("blok_size_mb: 1\n")
    found = failed(doctor(config_file=str(path)), "configuration")
    assert "did you mean" in found["worker configuration"]["found"]
    assert spark.calls == []


@pytest.mark.parametrize(
    ("versions", "outcome", "words"),
    [
        ({"lakekeeper-hive-jobs": "0.1.0"}, "bad", "lakekeeper-hive-jobs 0.1.0"),
        ({"pyspark": "3.5.9"}, "advice", "full PySpark"),
        ({"apache-airflow-providers-apache-spark": "6.9.9"}, "advice", "not tried"),
    ],
)
def test_versions_that_do_not_go_together(monkeypatch, versions, outcome, words):
    known = metadata.version

    def version(name: str) -> str:
        if name in versions:
            return versions[name]
        if name in ("pyspark", "lakekeeper-hive-jobs"):
            raise metadata.PackageNotFoundError(name)
        return known(name)

    monkeypatch.setattr(worker_checks, "version", version)
    check = worker_checks.provider()
    assert check.outcome == outcome
    assert words in check.found
