"""The rollback task of a maintenance DAG, for both Airflows; the live tests tell the whole story on Airflow 3."""

from __future__ import annotations

import logging
from datetime import datetime, timezone
from types import SimpleNamespace

import pytest
from airflow.providers.common.compat.sdk import DAG
from airflow.providers.common.compat.version_compat import AIRFLOW_V_3_0_PLUS

from lakekeeper_provider.compat import AirflowFailException, AirflowSkipException
from lakekeeper_provider.exceptions import UsageError
from lakekeeper_provider.operators.compact import CompactOperator
from lakekeeper_provider.operators.rollback import RecordCompactionOperator, RollbackOperator
from tests.airflow.conftest import ROOT
from tests.airflow.support import DagRun, TaskInstance, context, dags_in, logged

FIRST = DagRun(start_date=datetime(2026, 2, 23, 1, tzinfo=timezone.utc))
CLEARED = DagRun(start_date=datetime(2026, 2, 23, 9, tzinfo=timezone.utc))


@pytest.fixture
def record(spark):
    """What the first pass of a DAG run leaves."""
    compaction = CompactOperator(task_id="compact", table="sales.events").execute(context(dag_run=FIRST))
    return RecordCompactionOperator(task_id="record", compaction=[compaction, None]).execute(
        context(dag_run=FIRST)
    )


def rollback(record, dag_run, tries=2):
    operator = RollbackOperator(task_id="rollback", compaction=record, only_when_cleared=True)
    return operator.execute(context(dag_run=dag_run, ti=TaskInstance(try_number=tries)))


def test_cleared_alone_it_undoes_exactly_the_compaction_of_the_dag_run(spark, record):
    assert rollback(record, CLEARED)["outcome"] == "done"
    assert spark.tables == {"sales.events": []}
    assert rollback(record, CLEARED)["outcome"] == "nothing"


@pytest.mark.parametrize("tries", [1, 2, 3])
def test_in_the_pass_of_the_compaction_it_never_acts(spark, record, tries):
    with pytest.raises(AirflowSkipException, match="not cleared alone"):
        rollback(record, FIRST, tries)
    assert len(spark.calls) == 1


def test_the_log_of_a_skipped_rollback_says_what_a_click_would_undo(spark, record, caplog, capfd):
    """Airflow 3 shows the reason of a skip below the log, in a part that is folded."""
    caplog.set_level(logging.INFO)
    with pytest.raises(AirflowSkipException):
        rollback(record, FIRST)
    (run_id,) = spark.tables["sales.events"]
    assert f"sales.events (3 -> 600 files) of run {run_id}" in logged(capfd, caplog)


def test_a_compaction_that_had_nothing_to_do_is_not_named_as_one_to_undo(spark, caplog, capfd):
    """Its table has the same files as before, and another run may have compacted it."""
    caplog.set_level(logging.INFO)
    same = {"files": 1, "bytes": 9}
    idle = {"table": "sales.events", "outcome": "nothing", "before": same, "after": same}
    compaction = {
        "schema_version": 1,
        "verb": "compact",
        "run_id": "r1",
        "outcome": "nothing",
        "tables": [idle],
    }
    recorded = RecordCompactionOperator(task_id="record", compaction=compaction).execute(
        context(dag_run=FIRST)
    )
    with pytest.raises(AirflowSkipException):
        rollback(recorded, FIRST)
    shown = logged(capfd, caplog)
    assert "undo its compaction: nothing was compacted" in shown
    assert "1 -> 1 files" not in shown


def test_a_rollback_task_that_is_new_in_an_old_dag_run_does_not_act(spark, record):
    with pytest.raises(AirflowSkipException, match="clear it once more"):
        rollback(record, CLEARED, tries=1)
    assert len(spark.calls) == 1


def test_a_record_by_table_undoes_one_table_and_leaves_the_others(spark):
    tables = ["sales.a", "sales.b"]
    compactions = [
        CompactOperator(task_id="compact", table=table).execute(context(dag_run=FIRST)) for table in tables
    ]
    records = RecordCompactionOperator(
        task_id="record", compaction=[*compactions, None], by_table=True
    ).execute(context(dag_run=FIRST))
    assert [record["name"] for record in records] == tables

    assert rollback(records[1], CLEARED)["outcome"] == "done"

    assert {table: len(runs) for table, runs in spark.tables.items()} == {"sales.a": 1, "sales.b": 0}


@pytest.mark.parametrize("missing", [None, "None", [None]])
def test_a_rollback_of_a_compaction_whose_xcom_is_gone_is_no_success(spark, missing):
    """Nothing is undone, and nothing is known of what there is to undo."""
    operator = RollbackOperator(task_id="rollback", compaction=[])
    operator.compaction = missing
    with pytest.raises(AirflowFailException, match="compaction: the XCom of that task is not there"):
        operator.execute(context(dag_run=FIRST))
    assert spark.calls == []


@pytest.mark.parametrize("missing", [None, [None, None]])
def test_a_record_of_a_compaction_that_has_pushed_nothing_is_empty(spark, missing):
    record = RecordCompactionOperator(task_id="record", compaction=missing)
    assert record.execute(context(dag_run=FIRST))["compactions"] == []


def test_a_record_by_table_of_no_table_is_one_record(spark):
    """A rollback that is mapped over nothing would hide that the compaction failed."""
    [record] = RecordCompactionOperator(task_id="record", compaction=None, by_table=True).execute(
        context(dag_run=FIRST)
    )

    with pytest.raises(AirflowSkipException, match="not cleared alone"):
        rollback(record, FIRST)


def test_without_a_record_it_does_not_act(spark):
    with pytest.raises(AirflowSkipException, match="no compaction was recorded"):
        rollback("None", CLEARED)
    assert spark.calls == []


@pytest.mark.parametrize("wrong", [[], {"verb": "compact"}, [{"verb": "compact"}]])
def test_the_output_of_another_task_would_never_act_and_is_an_error(spark, wrong):
    with pytest.raises(AirflowFailException, match=r"needs compaction=record\.output"):
        rollback(wrong, CLEARED)
    assert spark.calls == []


def test_the_output_of_another_task_is_found_when_the_dag_is_parsed(spark):
    with DAG("d", schedule=None):
        compact = CompactOperator(task_id="compact", table="a.b")
        mapped = CompactOperator.partial(task_id="mapped").expand(table=["a.b"])
        for number, wrong in enumerate((None, compact.output, mapped.output)):
            table = "a.b" if wrong is None else None
            with pytest.raises(UsageError, match=r"needs compaction=record\.output"):
                RollbackOperator(task_id=f"r{number}", table=table, **_only(wrong))
        record = RecordCompactionOperator(task_id="record", compaction=mapped.output)
        assert RollbackOperator(task_id="rollback", **_only(record.output)).only_when_cleared


@pytest.mark.parametrize("state", ["failed", "upstream_failed", "skipped", "success"])
def test_a_failure_that_no_other_task_shows_makes_the_waiting_rollback_red(spark, state):
    with DAG("d", schedule=None) as dag:
        compact = CompactOperator(task_id="compact", table="a.b")
        record = RecordCompactionOperator(task_id="record", compaction=None)
        compact >> record
    found = _recorded(dag, state)
    expected = AirflowFailException if "failed" in state else AirflowSkipException
    with pytest.raises(expected, match="clear this task alone"):
        rollback(found, FIRST)
    with dag:
        compact >> RecordCompactionOperator(task_id="another_last_task", compaction=None)
    with pytest.raises(AirflowSkipException):
        rollback(_recorded(dag, state), FIRST)
    assert spark.calls == []


def _recorded(dag, state):
    """What the record says after the compaction ended in this state, asked for in the way of each Airflow."""
    instance, run = TaskInstance(), DagRun(start_date=FIRST.start_date)
    instance.dag_id = dag.dag_id
    if AIRFLOW_V_3_0_PLUS:
        instance.get_task_states = lambda **_: {run.run_id: {"compact_0": "success", "compact_1": state}}
    else:
        run.get_task_instances = lambda: [
            SimpleNamespace(task_id="compact", state=s) for s in ("success", state)
        ]
    return dag.get_task("record").execute(context(ti=instance, dag_run=run))


def _only(compaction):
    return {"compaction": compaction, "only_when_cleared": True}


def test_the_record_runs_however_the_compaction_ended(record):
    assert RecordCompactionOperator(task_id="record", compaction=None).trigger_rule == "all_done"
    empty = RecordCompactionOperator(task_id="record", compaction=None).execute(context(dag_run=FIRST))
    assert empty["compactions"] == []


def test_airflow_gives_a_cleared_dag_run_another_start_but_not_one_that_still_runs(airflow_db, spark):
    """What tells the passes apart, seen in this Airflow's own database."""
    from airflow.models.dagrun import DagRun as DagRunModel
    from airflow.models.taskinstance import clear_task_instances
    from airflow.utils.session import create_session

    dag = dags_in(ROOT / "example_dags").dags["lakekeeper_demo"]
    run_id = dag.test().run_id

    def clear(session):
        run = session.query(DagRunModel).filter(DagRunModel.run_id == run_id).one()
        before = run.start_date
        clear_task_instances([ti for ti in run.task_instances if ti.task_id == "rollback"], session)
        session.flush()
        session.refresh(run)
        return before, run

    with create_session() as session:
        before, run = clear(session)
        assert run.start_date != before
        run.start_date, run.state = CLEARED.start_date, "running"
        session.flush()
        before, run = clear(session)
        assert run.start_date == before


def test_originals_that_are_gone_fail_the_task_at_once_and_are_named(spark, record):
    deleted = {
        "unit": {"d": "1"},
        "outcome": "skipped",
        "code": "ORIGINALS_DELETED",
        "reason": "deleted at 9",
    }
    table = {"outcome": "partial", "reason": "the originals of 1 of 2 units were deleted", "units": [deleted]}
    spark.plan(rollback={"outcome": "partial", "exit": 1, "table": table})
    with pytest.raises(AirflowFailException, match=r"partial .*d=1: skipped ORIGINALS_DELETED deleted at 9"):
        rollback(record, CLEARED)


def test_a_dry_run_is_skipped_because_nothing_was_restored(spark):
    """Green would say that the originals are back: the option may stand in the file."""
    found = {"unit": {"d": "1"}, "outcome": "flagged", "reason": "dry run: its originals would be restored"}
    table = {"outcome": "nothing", "reason": "nothing was restored: dry_run is set", "units": [found]}
    spark.plan(rollback={"outcome": "nothing", "table": table})
    operator = RollbackOperator(task_id="rollback", table="sales.events", dry_run=True)
    with pytest.raises(AirflowSkipException, match="dry run, nothing was restored"):
        operator.execute(context(dag_run=FIRST))
