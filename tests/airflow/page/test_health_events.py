"""The health of the tables: recorded by Airflow for every table that a job has looked at, also by a task that fails."""

from __future__ import annotations

import contextlib
import json

import pytest
from airflow.dag_processing.dagbag import sync_bag_to_db
from airflow.models.asset import AssetEvent
from airflow.models.dagbundle import DagBundleModel
from airflow.sdk.execution_time.context import OutletEventAccessors
from airflow.utils.session import create_session

from lakekeeper_provider.compat import AirflowException, AirflowSkipException
from lakekeeper_provider.events import health as health_events
from lakekeeper_provider.operators.analyze import AnalyzeOperator
from lakekeeper_provider.operators.cleanup import CleanupOperator
from lakekeeper_provider.operators.rollback import RollbackOperator
from lakekeeper_provider.report import health
from tests.airflow.support import TaskInstance, context, dags_in
from tests.airflow.tasks import compact
from tests.airflow.test_dags import EXAMPLES
from tests.unit.provider.test_report import parsed, table, unit


def extras_in(events):
    """The extras of the events of all tables: that of the asset itself, and those through its alias."""
    asset, alias = health_events.outlets_of("compact")
    further = events[alias].asset_alias_events
    assert {event.dest_asset_key.uri for event in further} <= {health.URI}
    return [each for each in (events[asset].extra, *(event.extra for event in further)) if each]


def told(operator, **of_context):
    """What a task tells: the extras of its events, and its XComs."""
    events, ti = OutletEventAccessors(), TaskInstance()
    with contextlib.suppress(AirflowException, AirflowSkipException):
        operator.execute(context(outlet_events=events, ti=ti, **of_context))
    xcoms = {key: value for key, value in ti.pushed.items() if key.startswith(health.XCOM_KEY)}
    return extras_in(events), xcoms


def names_in(extra):
    return [each["table"] for each in json.loads(extra["tables"])]


def test_airflow_records_what_each_job_has_seen_of_every_table(airflow_db, spark):
    bag = dags_in(EXAMPLES)
    with create_session() as session:
        session.merge(DagBundleModel(name="dags-folder"))
        session.flush()
        # As the DAG processor does, which stores the assets of the DAGs.
        sync_bag_to_db(bag, "dags-folder", None, session=session)
    dag_run = bag.dags["lakekeeper_demo"].test()
    with create_session() as session:
        events = session.query(AssetEvent).filter_by(source_run_id=dag_run.run_id).all()
        found = [event for event in events if event.uri == health.URI]
        seen = {(event.source_task_id, name) for event in found for name in names_in(event.extra)}
    tables = ("lakekeeper_flat", "lakekeeper_events", "lakekeeper_events_2p")
    assert seen == {(task, f"demo.{name}") for task in ("analyze", "compact", "verify") for name in tables}
    assert {event.extra["server"] for event in found} == {"default"}


def test_what_does_not_fit_into_one_event_goes_into_further_ones():
    many = [table(f"sales.t{number}", units=[unit("compacted")] * 20) for number in range(300)]
    events = OutletEventAccessors()
    health_events.emit({"outlet_events": events}, parsed("done", *many), {"report": None}, "hive:10000")
    extras = extras_in(events)
    assert [each["page"] for each in extras] == list(range(1, len(extras) + 1))
    assert len(extras) > 1
    assert [name for each in extras for name in names_in(each)] == [each["table"] for each in many]
    assert {each["server"] for each in extras} == {"hive:10000"}


class TestTold:
    def test_a_job_says_whether_it_has_looked_at_all_partitions(self, spark):
        whole = {
            "all": AnalyzeOperator(task_id="a", table="sales.a"),
            "some": AnalyzeOperator(task_id="a", table="sales.a", where="date > '2026'"),
            "named": compact(partitions=[{"date": "2026-02-23"}]),
            "rollback": RollbackOperator(task_id="r", table="sales.a"),
        }
        found = {name: told(operator)[0][0]["whole"] for name, operator in whole.items()}
        assert found == {"all": True, "some": False, "named": False, "rollback": False}

    def test_a_cleanup_says_its_retention(self, spark):
        [extra], _ = told(CleanupOperator(task_id="c", table="sales.a", older_than="7d", keep_last=1))
        assert (extra["older_than"], extra["keep_last"]) == ("7d", 1)

    def test_a_task_that_succeeds_leaves_no_xcom_of_it(self, spark):
        [extra], xcoms = told(compact())
        assert (names_in(extra), xcoms) == (["sales.events"], {})
        assert (extra["version"], extra["verb"], extra["page"], extra["pages"]) == (1, "compact", 1, 1)

    @pytest.mark.parametrize("outcome", ["partial", "failed", "nothing"])
    def test_a_task_that_does_not_succeed_leaves_it_in_xcom(self, spark, outcome):
        """Airflow records no event of it."""
        spark.plan(compact={"outcome": outcome, "exit": 0 if outcome == "nothing" else 1})
        _, xcoms = told(compact())
        assert names_in(xcoms["lakekeeper_health_0"]) == ["sales.events"]
        assert xcoms["lakekeeper_health_0"]["server"] == "default"

    def test_what_cannot_be_recorded_does_not_fail_the_task(self, spark, monkeypatch, caplog):
        def failing(*_):
            raise KeyError("units")

        monkeypatch.setattr(health, "records", failing)
        assert compact().execute(context(outlet_events=OutletEventAccessors()))["outcome"] == "done"
        assert "the health of the tables of this job could not be recorded" in caplog.text
