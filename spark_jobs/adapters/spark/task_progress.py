"""Shows how far Spark's tasks are, while a write takes long."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark import SparkContext

log = logging.getLogger("lakekeeper")

#: Seconds between two lines.
INTERVAL = 30.0


class TaskProgress:
    """Logs the tasks of the jobs that run, from time to time, while at least one write is at work."""

    def __init__(self, context: SparkContext, interval: float = INTERVAL) -> None:
        self._context = context
        self._interval = interval
        self._lock = threading.Lock()
        self._writes = 0
        self._ended = threading.Event()

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Log the tasks until the end of the block. Blocks of several threads share the lines."""
        with self._lock:
            self._writes += 1
            if self._writes == 1:
                self._ended = self._started()
        try:
            yield
        finally:
            with self._lock:
                self._writes -= 1
                if not self._writes:
                    self._ended.set()

    def _started(self) -> threading.Event:
        """Start the thread that logs; return what ends it."""
        ended = threading.Event()
        try:
            threading.Thread(target=self._watch, args=(ended,), daemon=True).start()
        except RuntimeError as error:
            log.debug("the tasks will not be counted: %s", error)
        return ended

    def _watch(self, ended: threading.Event) -> None:
        while not ended.wait(self._interval):
            try:
                text = self._text()
            except Exception as error:
                # The lines are a convenience; the write must not be disturbed, and reports its errors itself.
                log.debug("the tasks cannot be counted: %s", error)
                return
            if text and not ended.is_set():
                log.info("progress: %s", text)

    def _text(self) -> str:
        """Return the number of tasks of all jobs that run; empty if none does."""
        tracker = self._context.statusTracker()
        jobs = [tracker.getJobInfo(number) for number in tracker.getActiveJobsIds()]
        stages = [tracker.getStageInfo(stage) for job in jobs if job for stage in job.stageIds]
        known = [stage for stage in stages if stage]
        if not known:
            return ""
        done, total = (
            sum(getattr(stage, name) for stage in known) for name in ("numCompletedTasks", "numTasks")
        )
        return f"{done:,} of {total:,} Spark tasks done, {sum(stage.numActiveTasks for stage in known):,} at work"
