"""Refreshes as arguments of compaction and rollback: through the hook of a connection."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lakekeeper_provider.compat import AirflowException, AirflowFailException, AirflowSkipException, BaseHook
from lakekeeper_provider.exceptions import UsageError
from lakekeeper_provider.operators.compact import CompactOperator
from lakekeeper_provider.operators.rollback import RollbackOperator
from tests.airflow.support import TaskInstance, context
from tests.airflow.tasks import compact

ENGINES = [{"conn_id": "impala_default", "attempts": 1}]


class Server:
    """In place of the hook of a connection."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.error: Exception | None = None

    def run(self, statement: str) -> None:
        self.sent.append(statement)
        if self.error:
            raise self.error


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    made = Server()
    monkeypatch.setattr(BaseHook, "get_hook", classmethod(lambda _cls, _conn_id: made))
    return made


def test_after_a_compaction_and_after_its_rollback(spark, server):
    compact(refresh=ENGINES).execute(context())
    RollbackOperator(task_id="rollback", table="sales.events", refresh=ENGINES).execute(context())
    assert server.sent == ["REFRESH `sales`.`events`"] * 2


def test_a_failure_is_a_warning_in_log_xcom_and_report_and_the_task_succeeds(
    spark, server, tmp_path, capsys, caplog
):
    server.error = ConnectionError("connection refused")
    found = compact(refresh=ENGINES, report_dir=f"file://{tmp_path}").execute(context())
    assert found["outcome"] == "done"
    assert found["tables"][0]["warning_codes"] == {"REFRESH_FAILED": 1}
    [warning] = found["tables"][0]["warnings"]
    assert warning.endswith("Run there: REFRESH `sales`.`events`")
    assert warning in capsys.readouterr().out + caplog.text
    report = json.loads(Path(found["report"].removeprefix("file://")).read_text())
    assert report["tables"][0]["warnings"] == [warning]


def test_a_compaction_that_failed_in_part_is_followed_by_a_refresh(spark, server):
    units = [{"unit": {"date": d}, "outcome": o} for d, o in (("a", "compacted"), ("b", "failed"))]
    spark.plan(compact={"outcome": "partial", "exit": 1, "table": {"outcome": "partial", "units": units}})
    with pytest.raises(AirflowException, match="partial"):
        compact(refresh=ENGINES).execute(context())
    assert server.sent == ["REFRESH `sales`.`events`"]


def test_a_try_after_one_that_died_tells_the_engines_what_that_one_could_not(spark, server):
    """The job was done, and its report is lost; the next try finds nothing to compact."""
    spark.plan(compact={"report": "none", "exit": 137})
    with pytest.raises(AirflowException):
        compact(refresh=ENGINES).execute(context())
    assert server.sent == []
    spark.plan()
    with pytest.raises(AirflowSkipException):
        compact(refresh=ENGINES).execute(context(ti=TaskInstance(try_number=2)))
    assert server.sent == ["REFRESH `sales`.`events`"]


@pytest.mark.parametrize("value", ["None", "", "skip"])
def test_a_rendered_on_refused_is_checked_before_the_job(spark, value):
    task = compact(on_refused="{{ params.refused }}")
    task.on_refused = value
    assert task.execute(context())["outcome"] == "done"
    task.on_refused = "skipp"
    with pytest.raises(AirflowFailException, match="on_refused"):
        task.execute(context())
    assert len(spark.calls) == 1


def test_a_template_within_a_refresh_is_checked_when_it_is_rendered():
    compact(refresh=[{"conn_id": "impala_default", "engine": "{{ params.engine }}"}])


def test_a_wrong_refresh_fails_when_the_dag_is_parsed():
    with pytest.raises(UsageError, match=r"unknown key refresh\.conn"):
        CompactOperator(task_id="t", table="a.b", refresh=[{"conn": "x", "conn_id": "y"}])


def test_a_template_is_checked_when_it_is_rendered():
    assert CompactOperator(task_id="t", table="a.b", refresh="{{ params.refresh }}").refresh


def test_a_rendered_refresh_that_is_wrong_fails_before_anything_is_submitted(spark):
    task = compact(refresh="{{ params.engines }}")
    task.refresh = '[{"conn": "x", "conn_id": "y"}]'
    with pytest.raises(AirflowFailException, match=r"unknown key refresh\.conn"):
        task.execute(context())
    assert spark.calls == []
