"""Jobs of Spark that do not wait without end for executors, for work that the driver can do too."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

from py4j.clientserver import ClientServer
from pyspark.sql import SparkSession

from spark_jobs.core.messages.errors import LakekeeperError

T = TypeVar("T")
#: Seconds between two looks at the tasks.
_INTERVAL = 1.0


class NoExecutor(LakekeeperError):
    """No task of a job has run for too long."""


class BoundedJobs:
    """Runs jobs, and cancels one of which no task has run for so many seconds.

    A full queue, a limit of executors, and the jobs of other units that run at the same time may be the reason.
    """

    def __init__(self, spark: SparkSession, seconds: float) -> None:
        self._context: Any = spark.sparkContext
        self._seconds = seconds

    def run(self, act: Callable[[], T], what: str) -> T:
        """Return what `act` returns, all jobs of which are started in its own thread.

        Raises:
            NoExecutor: its job was cancelled.
        """
        # A name of its own: with the same one, the job of another thread would be cancelled too.
        group = f"lakekeeper {uuid.uuid4().hex}"
        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(self._in_group, group, what, act)
            try:
                waited = self._watch(running, group)
            except BaseException:
                self._context.cancelJobGroup(group)
                raise
        if waited and running.exception() is not None:
            raise NoExecutor(f"no executor has run a task of it for {self._seconds:.0f} s")
        return running.result()

    def _in_group(self, group: str, what: str, act: Callable[[], T]) -> T:
        # Not interrupted: no task runs when it is cancelled, and an interrupt breaks a client of HDFS.
        self._context.setJobGroup(group, what, interruptOnCancel=False)
        return act()

    def _watch(self, running: Future[T], group: str) -> bool:
        """Wait for the end of the jobs of a group. Return whether they were cancelled."""
        last, since, waited = 0, time.monotonic(), False
        while not wait([running], _INTERVAL).done:
            ended, at_work = self._tasks(group)
            if at_work or ended != last:
                last, since = ended, time.monotonic()
            waited = waited or time.monotonic() - since >= self._seconds
            if waited:
                # Each time: a job that is planned for long does not exist yet, and one query may start several.
                self._context.cancelJobGroup(group)
        return waited

    def _tasks(self, group: str) -> tuple[int, int]:
        """Return how many tasks of a group have ended, and how many are at work."""
        tracker = self._context.statusTracker()
        jobs = [tracker.getJobInfo(number) for number in tracker.getJobIdsForGroup(group)]
        stages = [tracker.getStageInfo(stage) for job in jobs if job for stage in job.stageIds]
        known = [stage for stage in stages if stage]
        ended = sum(stage.numCompletedTasks + stage.numFailedTasks for stage in known)
        return ended, sum(stage.numActiveTasks for stage in known)


def can_be_cancelled(spark: SparkSession) -> bool:
    """Tell whether a job can be cancelled alone: each thread of Python has one of the JVM, and so its own group."""
    return isinstance(spark.sparkContext._gateway, ClientServer)
