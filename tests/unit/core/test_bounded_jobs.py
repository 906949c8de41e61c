"""A job for which no executor can be had is cancelled; one whose tasks run takes as long as it takes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from spark_jobs.adapters.spark import bounded_jobs
from spark_jobs.adapters.spark.bounded_jobs import BoundedJobs, NoExecutor


class Context:
    """A context whose one job ends when it is cancelled, or when its tasks are done.

    Args:
        looks: for each look at its only stage, the tasks that have ended, and those at work.
    """

    def __init__(self, looks: list[tuple[int, int]], planned_after: int = 0) -> None:
        self.looks, self.planned_after = looks, planned_after
        self.groups: list[str] = []
        self.cancelled: list[str] = []
        self.ended = threading.Event()
        self.error: Exception | None = None

    def setJobGroup(self, group: str, description: str, interruptOnCancel: bool) -> None:
        self.groups.append(group)
        assert description
        assert not interruptOnCancel

    def cancelJobGroup(self, group: str) -> None:
        self.cancelled.append(group)
        if len(self.cancelled) > self.planned_after:
            self.error = RuntimeError("the job was cancelled")
            self.ended.set()

    def statusTracker(self) -> Context:
        return self

    def getJobIdsForGroup(self, group: str) -> list[int]:
        assert [group] == self.groups
        return [1]

    def getJobInfo(self, _: int) -> Any:
        return SimpleNamespace(stageIds=[1, 2])

    def getStageInfo(self, stage: int) -> Any:
        if stage == 2:
            return None
        last = len(self.looks) == 1
        ended, at_work = self.looks[0] if last else self.looks.pop(0)
        if last and at_work:
            self.ended.set()
        return SimpleNamespace(numCompletedTasks=ended, numFailedTasks=0, numActiveTasks=at_work)

    def job(self) -> str:
        assert self.ended.wait(60)
        if self.error:
            raise self.error
        return "rows"


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten seconds pass between two looks."""
    now = iter(range(0, 100_000, 10))
    monkeypatch.setattr(bounded_jobs, "_INTERVAL", 0.001)
    monkeypatch.setattr(bounded_jobs, "time", SimpleNamespace(monotonic=lambda: float(next(now))))


def run(context: Context, act: Callable[[], str]) -> str:
    spark: Any = SimpleNamespace(sparkContext=context)
    return BoundedJobs(spark, 100).run(act, "look")


@pytest.mark.usefixtures("clock")
def test_a_job_whose_tasks_run_is_not_cancelled() -> None:
    """However long one task takes, and however slowly executors start."""
    looks = [(0, 0)] * 3 + [(0, 1)] * 40 + [(n, 0) for n in range(1, 40)] + [(40, 1)]
    context = Context(looks)
    assert run(context, context.job) == "rows"
    assert context.cancelled == []


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize("looks", [[(0, 0)], [(0, 1), (3, 0)]], ids=["none at all", "all are gone"])
def test_a_job_without_executors_is_cancelled_and_no_other_one(looks: list[tuple[int, int]]) -> None:
    context = Context(looks)
    with pytest.raises(NoExecutor, match="no executor has run a task of it for 100 s"):
        run(context, context.job)
    assert set(context.cancelled) == set(context.groups)
    assert len(context.groups) == 1


@pytest.mark.usefixtures("clock")
def test_a_job_that_is_planned_after_it_was_cancelled_is_cancelled_again() -> None:
    context = Context([(0, 0)], planned_after=5)
    with pytest.raises(NoExecutor):
        run(context, context.job)
    assert len(context.cancelled) > 5


@pytest.mark.usefixtures("clock")
def test_a_job_that_has_ended_while_it_was_cancelled_counts() -> None:
    context = Context([(0, 0)])

    def ended() -> str:
        assert context.ended.wait(60)
        return "rows"

    assert run(context, ended) == "rows"


def test_an_error_of_the_job_is_raised_as_it_is() -> None:
    def fail() -> str:
        raise KeyError("x")

    with pytest.raises(KeyError):
        run(Context([(0, 0)]), fail)


def test_a_job_of_a_driver_that_is_stopped_is_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    context = Context([(0, 0)])

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(bounded_jobs, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(context, context.job)
    assert len(context.cancelled) == 1
