"""Analyses whose flagged units do not fit into one XCom, in Airflow's database and without a folder for reports."""

from __future__ import annotations

import json

import pytest

from lakekeeper_provider.compat import AIRFLOW_V_3_0_PLUS, AirflowFailException
from lakekeeper_provider.operators.compact import CompactOperator
from tests.airflow.support import XCOMS, TaskInstance, after, context, dags_in, dags_of
from tests.airflow.tasks import analyze
from tests.airflow.test_dags import dagbag, maintenance, only, run

__all__ = ["dagbag"]

LIMIT = 48 * 1024
NAMES = ("sales.a", "sales.b", "sales.c")


def flagged(count: int, **more):
    """Units of a table with two partition keys, as an analysis reports them."""
    base = {"outcome": "flagged", "code": None, "reason": None, "files": 200, "bytes": 1048576, "score": 1.5}
    units = [{"date": f"{2000 + n // 366}-{n % 366:03}", "country": f"c{n % 7}"} for n in range(count)]
    return [{**base, "unit": unit, **more} for unit in units]


def plan_units(spark, **tables):
    spark.plan(analyze={"tables": {f"sales.{name}": {"units": units} for name, units in tables.items()}})


def compactions(spark):
    return [call for call in spark.calls if "--run-id" in call["argv"]]


def requested(spark):
    """The units of all compactions by table, each with the number of requests that name it."""
    found: dict[str, list[str]] = {}
    for call in compactions(spark):
        for name, units in call["request"]["units"].items():
            found.setdefault(name, []).extend(json.dumps(unit) for unit in units)
    return {name: sorted(units) for name, units in found.items()}


def expected(**tables):
    return {
        f"sales.{name}": sorted(json.dumps(unit["unit"]) for unit in units) for name, units in tables.items()
    }


def xcoms(dagrun) -> dict[tuple[str, int, str], int]:
    """The XComs of a DAG run in the database, with their bytes, by task, map index and key."""
    from airflow.models import xcom
    from airflow.utils.session import create_session

    model = xcom.XComModel if AIRFLOW_V_3_0_PLUS else xcom.BaseXCom
    with create_session() as session:
        rows = session.query(model.task_id, model.map_index, model.key, model.value)
        found = rows.filter(model.run_id == dagrun.run_id, model.dag_id == dagrun.dag_id).all()
    return {(t, i, k): len(v if isinstance(v, (str, bytes)) else json.dumps(v)) for t, i, k, v in found}


DAGS = """
from datetime import datetime

from airflow.providers.common.compat.sdk import DAG, task

from lakekeeper_provider.operators.chunks import split
from lakekeeper_provider.operators.analyze import AnalyzeOperator
from lakekeeper_provider.operators.compact import CompactOperator
from lakekeeper_provider.sensors.small_files import SmallFilesSensor

START = datetime(2026, 1, 1)

with DAG("lists", schedule=None, start_date=START):
    mapped = AnalyzeOperator.partial(task_id="analyze").expand(table=["sales.a", "sales.b"])
    CompactOperator(task_id="compact", analysis=mapped.output)
    sensor = SmallFilesSensor(task_id="wait", table="sales.c", mode="poke")
    CompactOperator(task_id="compact_c", analysis=sensor.output)

with DAG("parts", schedule=None, start_date=START):
    @task
    def parts(found, ti=None):
        return split(found, 3, within_tables=True, ti=ti)

    found = parts(AnalyzeOperator(task_id="analyze", tables="sales.a,sales.b").output)
    CompactOperator.partial(task_id="compact", max_active_tis_per_dagrun=1).expand(analysis=found)

with DAG("given", schedule=None, start_date=START):
    CompactOperator(task_id="compact", analysis="{{ dag_run.conf.analysis | tojson }}")
"""


@pytest.fixture
def folder(airflow_db, tmp_path, monkeypatch):
    """A folder with the DAGs of these tests."""
    return dags_of(DAGS, tmp_path / "large", monkeypatch)


TABLES = {"a": 6000, "b": 3500, "c": 500}


@pytest.mark.parametrize("listing", ["metastore", pytest.param("spark", marks=pytest.mark.full)])
def test_the_maintenance_compacts_10000_flagged_partitions(dagbag, spark, listing):
    """The DAG as it is shipped, in client mode: one analysis for each table, or one of the whole database."""
    units = {name: flagged(count) for name, count in TABLES.items() if name != "c" or listing != "spark"}
    plan_units(spark, **units)
    tables = list(NAMES) if listing == "metastore" else None
    state, states, dagrun = maintenance(dagbag, tables=tables, database="sales", listing=listing)
    assert state == "success"
    assert states["compact"] == {"success": len(units)}
    assert only(states, "summary") == "success"
    assert states["rollback"] == {"skipped": len(units)}
    assert requested(spark) == expected(**units)
    sizes = xcoms(dagrun)
    assert max(sizes.values()) <= LIMIT, max(sizes, key=sizes.__getitem__)
    assert {task for task, _, key in sizes if key.startswith("flagged_")} == {"analyze"}


def test_the_maintenance_moves_units_that_fit_only_one_by_one(dagbag, spark):
    """Three analyses fit into their XComs; the list of all three does not."""
    units = {name: flagged(800) for name in "abc"}
    plan_units(spark, **units)
    state, _, dagrun = maintenance(dagbag)
    assert state == "success"
    assert requested(spark) == expected(**units)
    sizes = xcoms(dagrun)
    assert max(sizes.values()) <= LIMIT
    assert {task for task, _, key in sizes if key.startswith("flagged_")} == {"only_flagged"}


def test_the_maintenance_starts_the_most_urgent_table_first(dagbag, spark):
    plan_units(
        spark,
        a=flagged(1, score=5.0),
        b=flagged(1, score=100.0),
        c=flagged(1, score=1.0, deferred_since="2026-02-22T01:00:00Z"),
    )
    _, _, dagrun = maintenance(dagbag)
    instances = [ti for ti in dagrun.get_task_instances() if ti.task_id == "compact"]
    order = [str(ti.rendered_map_index) for ti in sorted(instances, key=lambda ti: ti.map_index)]
    assert order == ["sales.c", "sales.b", "sales.a"]


def test_one_task_compacts_what_a_mapped_analysis_and_a_sensor_have_flagged(folder, spark):
    units = {name: flagged(3000) for name in "abc"}
    plan_units(spark, **units)
    state, _, _ = run(dags_in(folder).dags["lists"])
    assert state == "success"
    assert requested(spark) == expected(**units)
    assert len(compactions(spark)) == 2


def test_parts_are_compacted_one_by_one_under_their_own_run_ids(folder, spark):
    units = {"a": flagged(3000), "b": flagged(1000)}
    plan_units(spark, **units)
    state, states, dagrun = run(dags_in(folder).dags["parts"])
    assert state == "success"
    assert states["compact"].total() == 3
    assert requested(spark) == expected(**units)
    assert len({after(call["argv"], "--run-id") for call in compactions(spark)}) == 3
    assert max(xcoms(dagrun).values()) <= LIMIT


def test_an_analysis_of_another_dag_run_is_read_too(folder, spark):
    units = {"a": flagged(3000), "b": flagged(3000)}
    plan_units(spark, **units)
    _, _, earlier = run(dags_in(folder).dags["parts"])
    [instance] = [ti for ti in earlier.get_task_instances() if ti.task_id == "analyze"]
    analysis = instance.xcom_pull(task_ids="analyze")
    assert analysis["flagged_in"]["run_id"] == earlier.run_id
    before = len(compactions(spark))
    state, _, dagrun = run(dags_in(folder).dags["given"], analysis=analysis)
    assert state == "success"
    assert dagrun.run_id != earlier.run_id
    [call] = compactions(spark)[before:]
    assert {name: len(of_table) for name, of_table in call["request"]["units"].items()} == {
        "sales.a": 3000,
        "sales.b": 3000,
    }


class TestOnePage:
    """One analysis and one compaction, without a scheduler."""

    def analysis(self, spark, instance=None):
        plan_units(spark, events=flagged(4000))
        return analyze().execute(context(ti=instance or TaskInstance()))

    def compact(self, analysis):
        CompactOperator(task_id="compact", analysis=analysis).execute(context())

    def test_nothing_is_compacted_while_a_page_is_missing(self, spark):
        analysis = self.analysis(spark, instance := TaskInstance())
        del XCOMS[instance.dag_id, instance.run_id, instance.task_id, -1, "flagged_0"]
        with pytest.raises(AirflowFailException, match=r"page 1 of .* is missing: clear the analysis"):
            self.compact(analysis)
        assert compactions(spark) == []

    def test_nothing_is_compacted_of_an_analysis_that_ran_again(self, spark):
        old, new = self.analysis(spark), self.analysis(spark)
        with pytest.raises(AirflowFailException, match="of another try"):
            self.compact(old)
        assert compactions(spark) == []
        self.compact(new)
        assert requested(spark) == expected(events=flagged(4000))

    def test_without_xcom_nothing_is_pushed_and_the_task_says_so(self, spark):
        plan_units(spark, events=flagged(4000))
        instance = TaskInstance()
        with pytest.raises(AirflowFailException, match="set report_dir"):
            analyze(do_xcom_push=False).execute(context(ti=instance))
        assert not any(key.startswith("flagged_") for key in instance.pushed)
