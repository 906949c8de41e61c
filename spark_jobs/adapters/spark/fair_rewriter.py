"""Lets the jobs of units that are written at the same time share the executors."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from queue import Empty, SimpleQueue

from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession

from spark_jobs.adapters.spark.task_progress import TaskProgress
from spark_jobs.core.formats.encoding import Encoding
from spark_jobs.core.formats.footers import Profile
from spark_jobs.core.values.model import FileListing
from spark_jobs.protocol.ports import Arrow, FileRewriter, JointFiles, RewriteRequest, RewriteResult

_MODE = "spark.scheduler.mode"
_POOL = "spark.scheduler.pool"


def scheduler_settings() -> dict[str, str]:
    """Return the settings with which a driver must start: a fair scheduler, unless its user has chosen another one.

    The default runs jobs in the order in which they were started: many tasks of one unit would delay all others.
    """
    SparkContext._ensure_initialized()
    return {_MODE: str(SparkConf().get(_MODE, "FAIR"))}


class FairRewriter:
    """A rewriter whose writes run in a scheduler pool each. Without a fair scheduler this has no effect."""

    def __init__(self, spark: SparkSession, rewriter: FileRewriter) -> None:
        self._context = spark.sparkContext
        self._rewriter = rewriter
        self._numbers = itertools.count()
        self._free: SimpleQueue[str] = SimpleQueue()
        self._progress = TaskProgress(spark.sparkContext)

    @property
    def slots(self) -> int:
        return self._rewriter.slots

    def encoding(self, profile: Profile, file_format: str) -> Encoding:
        return self._rewriter.encoding(profile, file_format)

    def write(self, request: RewriteRequest) -> RewriteResult:
        with self._own_pool(), self._progress.shown():
            return self._rewriter.write(request)

    def write_jointly(self, requests: Sequence[RewriteRequest], staging: str) -> Sequence[str]:
        with self._own_pool(), self._progress.shown():
            return self._rewriter.write_jointly(requests, staging)

    def arrow(self) -> Arrow:
        return self._rewriter.arrow()

    def write_by_arrow(self, requests: Sequence[RewriteRequest], staging: str) -> JointFiles:
        with self._own_pool(), self._progress.shown():
            return self._rewriter.write_by_arrow(requests, staging)

    def copy(self, directory: str, files: FileListing, target: str) -> Mapping[str, str]:
        with self._own_pool(), self._progress.shown():
            return self._rewriter.copy(directory, files, target)

    def differing(self, directory: str, copies: Mapping[str, str]) -> Sequence[str]:
        return self._rewriter.differing(directory, copies)

    def same_rows(self, request: RewriteRequest, written: Sequence[str]) -> bool | None:
        with self._own_pool(), self._progress.shown():
            return self._rewriter.same_rows(request, written)

    @contextmanager
    def _own_pool(self) -> Iterator[None]:
        """Run the jobs of this thread in a pool that no other thread uses. There are as many as are needed at once."""
        try:
            pool = self._free.get_nowait()
        except Empty:
            pool = f"lakekeeper-{next(self._numbers)}"
        self._context.setLocalProperty(_POOL, pool)
        try:
            yield
        finally:
            self._context.setLocalProperty(_POOL, None)  # type: ignore[arg-type]
            self._free.put(pool)
