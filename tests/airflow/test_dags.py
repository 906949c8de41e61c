"""The example DAGs: they import, serialize and run from beginning to end."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from datetime import datetime, timedelta, timezone
from types import SimpleNamespace
from typing import Any

import pytest

from lakekeeper_provider.compat import AirflowSkipException
from lakekeeper_provider.sensors.maintenance_window import MaintenanceWindowSensor
from tests.airflow.conftest import ROOT
from tests.airflow.support import after, dags_in

EXAMPLES = ROOT / "example_dags"
IDS = {
    *("lakekeeper_maintenance", "lakekeeper_on_demand", "lakekeeper_cleanup", "lakekeeper_demo"),
    *("lakekeeper_after_load", "lakekeeper_first_night", "lakekeeper_when_needed"),
}


@pytest.fixture
def dagbag(airflow_db):
    return dags_in(EXAMPLES)


def run(dag, *, marked: str | None = None, **conf: Any) -> tuple[str, dict[str, Counter[str]], Any]:
    """Run a DAG, with a task that a person marks as success; return its state, the states of its tasks, and the run."""
    dagrun = dag.test(run_conf=conf or None, mark_success_pattern=marked)
    states: dict[str, Counter[str]] = {}
    for instance in dagrun.get_task_instances():
        states.setdefault(instance.task_id, Counter())[str(instance.state)] += 1
    return str(dagrun.state), states, dagrun


def only(states: dict[str, Counter[str]], task: str) -> str:
    [(state, _)] = states[task].items()
    return state


def test_all_import(dagbag):
    assert dagbag.import_errors == {}
    assert set(dagbag.dags) == IDS


@pytest.mark.parametrize("dag_id", sorted(IDS))
def test_a_newcomer_finds_a_description(dagbag, dag_id):
    dag = dagbag.dags[dag_id]
    assert dag.doc_md.strip().startswith("###")
    for name in dag.params:
        assert dag.params.get_param(name).schema.get("title"), f"{name} has no title"


def test_importing_one_does_no_work(tmp_path):
    """Neither Spark, nor a metastore, nor the configuration is touched: all of them would fail here."""
    program = (
        "import socket, subprocess, runpy, sys\n"
        "import croniter, lakekeeper_provider.operators.compact\n"
        "def banned(*a, **k): raise AssertionError('work at import')\n"
        "socket.socket.connect = subprocess.Popen.__init__ = banned\n"
        f"runpy.run_path({str(EXAMPLES / 'lakekeeper_maintenance.py')!r})\n"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_demo_compacts_verifies_and_leaves_the_rollback_waiting(dagbag, spark):
    state, states, _ = run(dagbag.dags["lakekeeper_demo"])
    assert state == "success"
    assert states["compact"] == {"success": 3}
    assert only(states, "nothing_left") == "success"
    assert only(states, "rollback") == "skipped"
    assert {table: len(runs) for table, runs in spark.tables.items()} == {
        "demo.lakekeeper_flat": 1,
        "demo.lakekeeper_events": 1,
        "demo.lakekeeper_events_2p": 1,
    }
    _, states, _ = run(dagbag.dags["lakekeeper_demo"])
    assert states["compact"] == {"skipped": 3}
    assert only(states, "nothing_left") == "success"


def maintenance(dagbag, **params: Any):
    whole_day = {"window_start": "00:00", "window_end": "24:00"}
    tables = {"tables": ["sales.a", "sales.b", "sales.c"]}
    return run(dagbag.dags["lakekeeper_maintenance"], **{**whole_day, **tables, **params})


def test_maintenance_compacts_what_is_flagged_and_skips_what_is_refused(dagbag, spark):
    (spark.home / "tables.json").write_text(json.dumps({"sales.b": ["earlier"]}))
    refused = {"outcome": "refused", "code": "BUCKETED", "reason": "it is bucketed"}
    spark.plan(analyze={"tables": {"sales.c": refused}})
    state, states, dagrun = maintenance(dagbag)
    assert state == "success"
    assert states["analyze"] == {"success": 2, "skipped": 1}
    assert states["compact"] == {"success": 1}
    assert only(states, "rollback") == "skipped"
    [compaction] = [call for call in spark.calls if "--run-id" in call["argv"]]
    assert after(compaction["argv"], "--table") == "sales.a"
    assert "--deadline" in compaction["argv"]
    summary = next(ti for ti in dagrun.get_task_instances() if ti.task_id == "summary")
    found = summary.xcom_pull(task_ids="summary")
    assert (found["tables"], found["files_before"], found["files_after"]) == (1, 600, 3)
    assert found["summary"].startswith("1 table compacted, 600 -> 3 files, ")


def test_maintenance_lists_by_spark_and_compacts_the_tables_side_by_side(dagbag, spark):
    """No metastore is asked: there is none here, and no connection to one."""
    state, states, _ = maintenance(dagbag, tables=None, database="sales", listing="spark")
    assert state == "success"
    assert states["analyze"] == {"success": 1}
    assert states["compact"] == {"success": 2}
    assert sorted(after(c["argv"], "--table") for c in spark.calls if "--run-id" in c["argv"]) == [
        "sales.a",
        "sales.b",
    ]


def test_maintenance_of_a_healthy_database_is_green(dagbag, spark):
    (spark.home / "tables.json").write_text(json.dumps({f"sales.{t}": ["r"] for t in "abc"}))
    state, states, _ = maintenance(dagbag)
    assert state == "success"
    assert only(states, "compact") == "skipped"


def test_maintenance_with_a_failed_compaction_is_red_and_does_the_other_tables(dagbag, spark, monkeypatch):
    broken = {"outcome": "failed", "reason": "disk full"}
    spark.plan(compact={"tables": {"sales.b": broken}, "outcome": "done"})
    dag = dagbag.dags["lakekeeper_maintenance"]
    for operator in dag.tasks:
        monkeypatch.setitem(getattr(operator, "partial_kwargs", {}), "retries", 0)
    state, states, _ = maintenance(dagbag)
    assert state == "failed"
    assert states["compact"] == {"success": 2, "failed": 1}
    assert only(states, "summary") == "failed"
    assert only(states, "rollback") == "skipped"


def test_maintenance_triggered_to_run_now_waits_for_no_window(dagbag, spark):
    """A window that opens on another day: without `run_now` the sensor would wait for it."""
    soon = datetime.now(timezone.utc) + timedelta(hours=2)
    closed = {"window_start": f"{soon:%H:%M}", "window_end": f"{soon + timedelta(minutes=5):%H:%M}"}
    state, states, _ = maintenance(dagbag, run_now=True, **closed)
    assert state == "success"
    assert states["compact"] == {"success": 3}


def nights(dagrun: Any) -> list[dict[str, int]] | None:
    """Return what the run has left for the next night; None if it was none."""
    summary = next(ti for ti in dagrun.get_task_instances() if ti.task_id == "summary")
    found = summary.xcom_pull(task_ids="summary", key="nights")
    return found["nights"] if found else None


def test_each_night_of_a_database_counts_from_the_nights_before(airflow_db, tmp_path, spark):
    source = (EXAMPLES / "lakekeeper_maintenance.py").read_text()
    assert source.count("DATABASE: str | None = None\n") == 1
    mine = source.replace("DATABASE: str | None = None\n", 'DATABASE: str | None = "sales"\n')
    (tmp_path / "maintenance.py").write_text(mine.replace('LISTING = "metastore"', 'LISTING = "spark"'))
    dagbag = dags_in(tmp_path)
    # All of them: a DAG keeps the parameters of its last test run.
    database = {"tables": None, "database": "sales", "listing": "spark", "run_now": False}
    counts = []
    for number in range(3):
        if number == 1:
            # These are no nights of the database: the next one counts from the night before them.
            for other in ({"tables": ["sales.a"]}, {"run_now": True}, {"database": "other"}):
                _, _, by_hand = maintenance(dagbag, **{**database, **other})
                assert nights(by_hand) is None
        state, _, dagrun = maintenance(dagbag, **database)
        assert state == "success"
        counts.append(len(nights(dagrun) or ()))
    assert counts == [1, 2, 3]


def test_a_night_that_does_not_know_all_tables_does_not_count(airflow_db, tmp_path, spark):
    source = (EXAMPLES / "lakekeeper_maintenance.py").read_text()
    mine = source.replace("DATABASE: str | None = None\n", 'DATABASE: str | None = "sales"\n')
    (tmp_path / "maintenance.py").write_text(mine)
    spark.plan(analyze={"report": "none", "exit": 1})
    dagbag = dags_in(tmp_path)
    for task in dagbag.dags["lakekeeper_maintenance"].tasks:
        getattr(task, "partial_kwargs", task.__dict__)["retries"] = 0
    state, _, dagrun = maintenance(dagbag, tables=None, database="sales", listing="spark")
    assert state == "failed"
    assert nights(dagrun) is None


def test_a_run_that_comes_too_late_is_skipped_as_a_whole(dagbag, spark, monkeypatch):
    def missed(*_: Any, **__: Any) -> None:
        raise AirflowSkipException("this run was due yesterday")

    monkeypatch.setattr(MaintenanceWindowSensor, "execute", missed)
    state, states, _ = maintenance(dagbag)
    assert state == "success"
    # `record` records that there is nothing to undo.
    expected = {**dict.fromkeys(states, "skipped"), "record": "success"}
    assert {task: only(states, task) for task in states} == expected
    assert spark.calls == []


def test_what_names_no_database_has_no_schedule_and_asks_for_one(dagbag):
    scheduled = {name for name, dag in dagbag.dags.items() if type(dag.timetable).__name__ != "NullTimetable"}
    assert scheduled == {"lakekeeper_after_load"}
    for name, asked in (("cleanup", "database"), ("first_night", "database"), ("when_needed", "table")):
        with pytest.raises(Exception, match=r"too short|non-empty"):
            dagbag.dags[f"lakekeeper_{name}"].params.get_param(asked).resolve()


def test_maintenance_has_a_rollback_for_each_compacted_table(dagbag, spark):
    (spark.home / "tables.json").write_text(json.dumps({"sales.b": ["earlier"]}))
    _, states, dagrun = maintenance(dagbag)
    assert states["rollback"] == {"skipped": 2}
    names = {str(ti.rendered_map_index) for ti in dagrun.get_task_instances() if ti.task_id == "rollback"}
    assert names == {"sales.a", "sales.c"}


ON_DEMAND = ("analyze", "compact", "rollback", "cleanup")


@pytest.mark.parametrize("action", ON_DEMAND)
def test_on_demand_does_the_chosen_action(dagbag, spark, action):
    state, states, _ = run(
        dagbag.dags["lakekeeper_on_demand"],
        table="sales.events",
        action=action,
        dry_run=False,
        partitions=[{"date": "2026-02-23", "hour": 1}],
    )
    assert state == "success"
    assert {task: only(states, task) for task in ON_DEMAND} == {
        **dict.fromkeys(ON_DEMAND, "skipped"),
        action: "success",
    }
    [call] = spark.calls
    partitions = {"partitions": [{"date": "2026-02-23", "hour": "1"}]}
    expected = {
        "analyze": partitions,
        "compact": {**partitions, "dry_run": False},
        "rollback": {"dry_run": False},
        "cleanup": {"older_than": "7d", "keep_last": 1, "dry_run": False},
    }
    assert call["request"].get("arguments", {}) == expected[action]


def test_on_demand_passes_the_whole_form(dagbag, spark):
    form = {
        "where": "date >= '2026-02-01'",
        "min_input_files": 5,
        "compaction_ratio_threshold": 4.5,
        "target_file_size": "256mb",
        "sort_columns": "user_id,date",
        "analyze_after_compaction": True,
        "order": "bytes-asc",
        "strategy": "minor",
        "max_bytes": "100gb",
        "max_files": 50000,
        "max_units": 100,
        "canary": 3,
        "max_failures": 5,
        "max_held_bytes": "1tb",
        "max_calls_per_second": 500,
        "trigger": "any",
        "trigger_unit_files": 10,
        "trigger_small_files": 1000,
        "trigger_growth": 100,
        "trigger_interval": "7d",
        "trigger_average_size": "16mb",
    }
    window = {"start": "00:00", "end": "24:00"}
    state, _, _ = run(
        dagbag.dags["lakekeeper_on_demand"],
        table="sales.events",
        action="compact",
        dry_run=False,
        window=window,
        **form,
    )
    assert state == "success"
    [call] = spark.calls
    assert call["request"]["arguments"] == {**form, "sort_columns": ["user_id", "date"], "dry_run": False}
    assert "--deadline" in call["argv"]


def test_no_list_of_a_form_has_a_null(dagbag):
    """The form of Airflow 2 sends the text None for it, which the schema then refuses."""
    for dag in dagbag.dags.values():
        for name in dag.params:
            found = dag.params.get_param(name).schema.get("enum", ())
            assert None not in found, (dag.dag_id, name)


def test_on_demand_selects_by_age(dagbag, spark):
    state, _, _ = run(
        dagbag.dags["lakekeeper_on_demand"],
        table="sales.events",
        action="compact",
        dry_run=False,
        idle_for="7d",
    )
    assert state == "success"
    [call] = spark.calls
    arguments = call["request"]["arguments"]
    assert (arguments["idle_for"], {"partitions", "where"} & set(arguments)) == ("7d", set())


def test_on_demand_with_the_form_as_it_comes_writes_nothing(dagbag, spark):
    run(dagbag.dags["lakekeeper_on_demand"], table="sales.events")
    [call] = spark.calls
    assert any(word.endswith("/analyze.py") for word in call["argv"])
    assert "arguments" not in call["request"]


def test_cleanup_with_nothing_to_delete_asks_nobody(dagbag, spark, capfd):
    state, states, _ = run(dagbag.dags["lakekeeper_cleanup"], database="sales")
    assert "no run is older than 7d, but for the newest 1 of each table" in capfd.readouterr().out
    assert state == "success"
    assert only(states, "delete") == "skipped"
    [call] = spark.calls
    assert call["request"]["arguments"] == {"older_than": "7d", "keep_last": 1, "dry_run": True}


def test_when_needed_compacts_what_the_sensor_has_found_due(dagbag, spark):
    form = {"table": "sales.events", "trigger_growth": 50, "trigger_small_files": None}
    state, states, _ = run(dagbag.dags["lakekeeper_when_needed"], **form)
    assert (state, only(states, "small_files"), only(states, "compact")) == ("success", "success", "success")
    analysis, compaction = (call["request"] for call in spark.calls)
    assert analysis["arguments"] == {
        "idle_for": "2h",
        "trigger": "any",
        "trigger_growth": 50,
        "trigger_interval": "7d",
    }
    assert compaction["arguments"] == {"idle_for": "2h"}
    assert compaction["units"] == {"sales.events": [{"date": "2026-02-23"}]}


def test_when_needed_waits_while_nothing_is_due(dagbag, spark):
    (spark.home / "tables.json").write_text(json.dumps({"sales.events": ["earlier"]}))
    sensor = dagbag.dags["lakekeeper_when_needed"].get_task("small_files")
    sensor.timeout, sensor.poke_interval, sensor.mode = 1, 2, "poke"
    _, states, _ = run(dagbag.dags["lakekeeper_when_needed"], table="sales.events")
    assert (only(states, "small_files"), only(states, "compact")) == ("skipped", "skipped")
    assert not [call for call in spark.calls if "--run-id" in call["argv"]]


def event(partitions: str | None) -> SimpleNamespace:
    return SimpleNamespace(extra={} if partitions is None else {"partitions": partitions})


class TestAfterLoad:
    def loaded(self, dagbag, *events: SimpleNamespace) -> Any:
        function = dagbag.dags["lakekeeper_after_load"].get_task("loaded_partitions").python_callable
        return function(triggering_asset_events={"hive://hs2.example.com:10000/sales/events": events})

    def test_the_partitions_of_all_events_are_compacted_once(self, dagbag):
        both = '[{"date": "2026-02-24"}, {"date": "2026-02-23"}]'
        assert self.loaded(dagbag, event('[{"date": "2026-02-23"}]'), event(None), event(both)) == [
            {"date": "2026-02-23"},
            {"date": "2026-02-24"},
        ]

    def test_events_without_partitions_compact_nothing(self, dagbag):
        with pytest.raises(AirflowSkipException, match="name no partitions"):
            self.loaded(dagbag, event(None), event("[]"))

    def test_without_events_it_is_skipped(self, dagbag, spark):
        _, states, _ = run(dagbag.dags["lakekeeper_after_load"])
        assert (only(states, "loaded_partitions"), only(states, "compact")) == ("skipped", "skipped")


def test_the_first_night_compacts_a_few_units_and_after_an_approval_the_rest(dagbag, spark):
    state, states, _ = run(
        dagbag.dags["lakekeeper_first_night"], marked="approve", database="sales", max_bytes="1tb"
    )
    assert state == "success"
    # The double compacts whole tables, so that nothing is left for the second job.
    found = [only(states, task) for task in ("first_units", "approve", "the_rest")]
    assert found == ["success", "success", "skipped"]
    assert {only(states, task) for task in ("rollback_first", "rollback_rest")} == {"skipped"}
    first, rest = (call for call in spark.calls if "--run-id" in call["argv"])
    assert first["request"]["units"] == rest["request"]["units"]
    assert first["request"]["arguments"] == {"verify": "hash", "max_units": 3, "max_failures": 1}
    assert rest["request"]["arguments"] == {"max_bytes": "1tb", "max_failures": 3}
    assert after(first["argv"], "--run-id") != after(rest["argv"], "--run-id")


def test_the_first_night_goes_no_further_without_an_approval(dagbag):
    dag = dagbag.dags["lakekeeper_first_night"]
    assert dag.get_task("the_rest").upstream_task_ids >= {"approve"}
    assert dag.get_task("approve").upstream_task_ids == {"first_units"}
    assert dag.get_task("the_rest").trigger_rule == "all_success"
