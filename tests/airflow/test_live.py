"""Clear, retry and kill on a running Airflow 3, through its REST API: when does the rollback task act?"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from tests.airflow.live_server import ENDED, LiveAirflow, LiveRun
from tests.airflow.support import after, wait_for

pytestmark = pytest.mark.live

OPEN_FOR = timedelta(hours=3)


@pytest.fixture(scope="module")
def airflow(tmp_path_factory) -> Iterator[LiveAirflow]:
    with LiveAirflow(tmp_path_factory.mktemp("live") / "home") as running:
        yield running


@pytest.fixture(scope="module")
def waiting(airflow) -> tuple[LiveRun, datetime]:
    """A compaction that is deferred until its window opens; it waits while the other tests run.

    Where a task takes long to start, the window may be open by then: the next one opens later.
    """
    for lead in (20, 120, 480):
        run, opens = window_run(airflow, lead)
        if run.wait("compact", "deferred", *ENDED) == "deferred":
            run.wait_for_worker("compact")
            if datetime.now(timezone.utc) < opens:
                return run, opens
    raise AssertionError("no task started in the eight minutes before its window opened")


def window_run(airflow: LiveAirflow, lead: int) -> tuple[LiveRun, datetime]:
    """A DAG run whose window opens in so many seconds, and at most a minute more: windows know whole minutes."""
    opens = (datetime.now(timezone.utc) + timedelta(seconds=lead + 60)).replace(second=0, microsecond=0)
    closes = opens + OPEN_FOR
    window = {"start": f"{opens:%H:%M}", "end": f"{closes:%H:%M}"}
    return airflow.trigger("live_window", table=f"night.events_{lead}", **window), opens


@pytest.fixture
def run(airflow, waiting, request) -> LiveRun:
    """A DAG run that has ended, with a table of its own."""
    table = f"live.{request.node.name[5:40]}"
    started = airflow.trigger("live_rollback", table=table)
    assert started.end() == "success"
    assert len(started.runs()) == 1
    assert (started.state("rollback"), started.rollbacks()) == ("skipped", 0)
    return started


def test_the_metrics_of_a_run_reach_statsd(airflow, run):
    """From the process of a task, which has set up the client by Airflow's configuration."""
    names = {f"airflow.lakekeeper.compact.{name}" for name in ("tables.done", "units.compacted", "duration")}
    wait_for("the metrics", lambda: names <= set(airflow.statsd.received))


def test_clear_table(run):
    """The whole story of one DAG run, row by row."""
    run.clear("rollback")  # alone: undoes the compaction of this DAG run
    assert run.end() == "success"
    assert (run.state("rollback"), run.runs(), run.rollbacks()) == ("success", [], 1)

    run.clear("rollback")  # a second time: nothing left, and green
    assert run.end() == "success"
    assert (run.state("rollback"), run.runs(), run.rollbacks()) == ("success", [], 2)

    run.clear("compact", downstream=True)  # compacts again, and the rollback waits again
    assert run.end() == "success"
    assert (run.state("compact"), run.state("rollback")) == ("success", "skipped")
    assert (len(run.runs()), run.rollbacks()) == (1, 2)

    run.clear("rollback")  # undoes the newest
    assert run.end() == "success"
    assert (run.state("rollback"), run.runs(), run.rollbacks()) == ("success", [], 3)

    run.clear()  # the whole DAG run: compacts again, and the rollback waits again
    assert run.end() == "success"
    assert (run.state("compact"), run.state("rollback")) == ("success", "skipped")
    assert (len(run.runs()), run.rollbacks()) == (1, 3)


def test_compact_cleared_without_the_tasks_after_it(run):
    run.clear("rollback")
    run.end()
    run.clear("compact")
    assert run.end() == "success"
    assert (len(run.runs()), run.rollbacks()) == (1, 1)
    run.clear("rollback")
    assert run.end() == "success"
    assert run.runs() == []


def test_while_the_dag_run_still_runs_neither_a_retry_nor_a_clear_acts(airflow, waiting):
    run = airflow.trigger("live_gated", table="live.early")
    run.flag("hold").touch()
    run.wait("rollback", "skipped")
    run.flag("die").touch()
    run.clear("rollback")  # it dies, and is tried again in the pass that still runs
    wait_for("the third try", lambda: run.tasks("rollback")[0]["try_number"] == 3)
    run.wait("rollback", "skipped")
    run.flag("hold").unlink()
    assert run.end() == "success"
    assert (len(run.runs()), run.rollbacks()) == (1, 0)
    run.clear("rollback")
    assert run.end() == "success"
    assert run.runs() == []


def test_a_cleared_rollback_that_fails_is_tried_again(run):
    run.flag("die").touch()
    run.clear("rollback")
    assert run.end() == "success"
    assert (run.state("rollback"), run.runs(), run.rollbacks()) == ("success", [], 1)


def test_whole_run_cleared_but_the_compaction_does_not_get_its_turn(airflow, waiting):
    """The compaction's XCom of the first pass is still there: it must not be taken for a clear of the rollback."""
    run = airflow.trigger("live_gated", table="live.closed")
    assert run.end() == "success"
    run.flag("closed").touch()
    run.clear()
    assert run.end() == "failed"
    assert (run.state("compact"), run.state("rollback")) == ("upstream_failed", "skipped")
    assert (len(run.runs()), run.rollbacks()) == (1, 0)
    run.clear("rollback")
    run.end()
    assert (run.state("rollback"), run.runs()) == ("success", [])


def test_partial_compaction_is_red_and_can_be_undone(airflow, waiting):
    broken = {"outcome": "partial", "exit": 1, "table": {"outcome": "partial", "reason": "one unit failed"}}
    airflow.spark.plan(**{"compact live.partial": broken})
    run = airflow.trigger("live_gated", table="live.partial")
    assert run.end() == "failed"
    assert (run.state("compact"), run.state("rollback")) == ("failed", "skipped")
    assert run.tasks("compact")[0]["try_number"] == 2
    run.clear("rollback")
    run.end()
    assert (run.state("rollback"), run.runs()) == ("success", [])


def test_a_failed_compaction_with_no_other_task_after_it_is_red_all_the_same(airflow, waiting):
    broken = {"outcome": "partial", "exit": 1, "table": {"outcome": "partial", "reason": "one unit failed"}}
    airflow.spark.plan(**{"compact live.alone": broken})
    run = airflow.trigger("live_rollback", table="live.alone")
    assert run.end() == "failed"
    assert (run.state("rollback"), run.rollbacks()) == ("failed", 0)
    run.clear("rollback")
    run.end()
    assert (run.state("rollback"), run.runs(), run.rollbacks()) == ("success", [], 1)


def test_mapped_compactions_one_of_them_cleared(airflow, waiting):
    run = airflow.trigger("live_mapped", table="mapped")
    assert run.end() == "success"
    assert [len(run.runs(f"mapped.{name}")) for name in "ab"] == [1, 1]
    run.clear(["compact", 1], downstream=True)
    assert run.end() == "success"
    assert (run.state("rollback"), run.rollbacks()) == ("skipped", 0)
    assert [instance["try_number"] for instance in run.tasks("compact")] == [1, 2]
    run.clear("rollback")
    assert run.end() == "success"
    assert [run.runs(f"mapped.{name}") for name in "ab"] == [[], []]


def test_killed_from_the_ui_then_cleared(airflow, waiting):
    airflow.spark.plan(**{"compact live.killed": {"sleep": 300, "report": "none"}})
    run = airflow.trigger("live_gated", table="live.killed")
    wait_for("spark-submit", (airflow.spark.home / "started").exists)
    airflow.call("PATCH", f"{run.path}/taskInstances/compact", {"new_state": "failed"})
    assert run.end() == "failed"
    assert (run.state("compact"), run.state("rollback")) == ("failed", "skipped")
    airflow.spark.plan()
    run.clear("compact", downstream=True)
    assert run.end() == "success"
    assert len(run.runs()) == 1


def test_a_load_starts_the_compaction_of_just_its_partitions(airflow, waiting):
    """By the asset event of another DAG; the compaction's own event does not start a second run."""
    airflow.unpause("lakekeeper_after_load")
    partitions = [{"date": "2026-02-23"}, {"date": "2026-02-24"}]
    assert airflow.trigger("live_load", partitions=partitions).end() == "success"
    started = lambda: airflow.runs_of("lakekeeper_after_load", "sales.events")  # noqa: E731
    [run] = wait_for("the DAG run that the event starts", started)
    assert run.end() == "success", run.states()
    [call] = [call for call in airflow.spark.calls if run.table in call["argv"]]
    assert call["request"]["arguments"]["partitions"] == partitions
    # The scheduler has seen the compaction's event by then: the next load is one run more, not two.
    assert airflow.trigger("live_load", partitions=[]).end() == "success"
    second = wait_for("the run of the second load", lambda: len(started()) == 2 and started()[-1])
    assert second.end() == "success"
    assert second.state("compact") == "skipped"
    assert len(started()) == 2


@pytest.mark.parametrize(("answer", "deletion"), [("Approve", "success"), ("Reject", "skipped")])
def test_backups_are_deleted_only_after_approval(airflow, waiting, answer, deletion):
    database = f"shop_{answer.lower()}"
    airflow.spark.add_tables({f"{database}.a": ["r1"], f"{database}.b": []})
    run = airflow.trigger("live_cleanup", database=database)
    run.wait("approve", "awaiting_input", "deferred")
    run.wait_for_worker("approve")
    assert [arguments["dry_run"] for arguments in cleanups(airflow, database)] == [True]
    details = f"{run.path}/taskInstances/approve/-1/hitlDetails"
    assert f"- {database}.a" in airflow.call("GET", details)["body"]
    airflow.call("PATCH", details, {"chosen_options": [answer]})
    assert run.end() == "success", run.states()
    assert run.state("delete") == deletion
    _, *deletions = cleanups(airflow, database)
    assert deletions == ([{"older_than": "7d", "keep_last": 1}] if answer == "Approve" else [])


def cleanups(airflow: LiveAirflow, database: str) -> list[dict[str, Any]]:
    """What was submitted for this database, by whichever task."""
    mine = (call for call in airflow.spark.calls if database in call["argv"])
    return [call["request"]["arguments"] for call in mine]


def test_a_closed_window_is_waited_for_in_the_triggerer(airflow, waiting):
    run, opens = waiting
    assert run.end(after=opens) == "success"
    [call] = [call for call in airflow.spark.calls if run.table in call["argv"]]
    assert call["at"] >= opens.timestamp()
    assert after(call["argv"], "--deadline") == f"{opens + OPEN_FOR:%Y-%m-%dT%H:%M:%SZ}"
