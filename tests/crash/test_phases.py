"""What a job tells about itself: the phases of its report, and how tasks share a rewrite."""

from __future__ import annotations

import logging

import pytest

from spark_jobs.core.planning import plan as plans
from spark_jobs.core.planning.task_plan import TaskPlan
from spark_jobs.protocol.planning import inspection
from tests.crash import checked
from tests.crash.flat_table import clean_up, compact, only, roll_back
from tests.crash.scenario import FLAT, build
from tests.crash.test_joint_writes import DAYS, days


def test_each_verb_reports_the_phases_that_it_had() -> None:
    sim = build()
    compacted = compact(sim.client())["phases"]
    looked = checked.check(sim)["phases"]
    restored = roll_back(sim)["phases"]
    compact(sim.client(), FLAT, "r2")
    cleaned = clean_up(sim)["phases"]

    assert set(compacted) == {"list", "footers", "write", "verify", "swap", "register", "log"}
    assert set(looked) == {"list", "verify"}
    assert set(restored) == set(cleaned) == {"list", "swap", "register", "log"}


def test_each_verb_sets_the_limit_of_calls_and_reports_how_many_there_were() -> None:
    sim = build()
    client = sim.client()
    client.cluster.calls.add("hdfs://nn/x", 7)
    report = compact(client, FLAT, "r1", "--max-calls-per-second", "50")

    assert client.cluster.calls.together == 5
    assert report["namenode_calls"] == 7
    assert report["namenode_calls_per_second"] is None or report["namenode_calls_per_second"] > 0


@pytest.fixture
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every rewrite by itself would be read by twenty tasks."""
    for module in (plans, inspection):
        monkeypatch.setattr(module, "plan_tasks", lambda *_: TaskPlan(20, 1))


@pytest.mark.parametrize(("units", "said"), [(1, 1), (3, 0)])
def test_only_a_unit_that_is_written_by_itself_is_said_to_be_read_by_many_tasks(
    units: int, said: int, wide: None, caplog: pytest.LogCaptureFixture
) -> None:
    sim = days(units)
    with caplog.at_level(logging.INFO, "lakekeeper"):
        only(compact(sim.client(), DAYS))

    assert sum("are read by 20 tasks" in message for message in caplog.messages) == said


@pytest.mark.parametrize(("units", "tasks"), [(1, [20]), (3, [None] * 3)])
def test_the_plan_announces_these_tasks_only_for_such_a_unit(
    units: int, tasks: list[int | None], wide: None
) -> None:
    report = only(compact(days(units).client(), DAYS, "r1", "--dry-run"))

    assert [unit.get("read_tasks") for unit in report["units"]] == tasks
