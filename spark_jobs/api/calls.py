"""One call of the API: the job's frame, without its process."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from spark_jobs import __version__
from spark_jobs.core.messages.errors import LakekeeperError, UsageError
from spark_jobs.core.messages.outcomes import JobOutcome
from spark_jobs.core.options.arguments import Invocation
from spark_jobs.core.wire.report import Report
from spark_jobs.core.wire.summary import failure
from spark_jobs.protocol.measuring.clock import utc_now
from spark_jobs.protocol.services import Services
from spark_jobs.verbs.runner import run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger("lakekeeper")
_FAILURES = (JobOutcome.PARTIAL, JobOutcome.FAILED, JobOutcome.UNSAFE)


class JobFailed(LakekeeperError, RuntimeError):
    """A table or a unit failed, was busy, or was refused although it was named; or a check has found damage.

    Attributes:
        report: the whole report, also of the tables that were done.
    """

    def __init__(self, report: Report) -> None:
        self.report = report
        super().__init__(failure(report))


def call(spark: SparkSession, invocation: Invocation) -> Report:
    """Run one job in a session beside the caller's, and return its report.

    Raises:
        UsageError: an argument or the configuration is wrong; nothing was changed. It is a ValueError.
        JobFailed: the job's exit code would be 1 or 3. It is a RuntimeError.
    """
    report = Report(invocation.verb, __version__, started=utc_now())
    with _same_log_level():
        run(_services(spark), invocation, report, show=_nowhere)
    if report.usage:
        raise UsageError(report.error or "")
    if report.outcome in _FAILURES:
        raise JobFailed(report)
    return report


def _services(spark: SparkSession) -> Services:
    # The adapters need Spark, and an option that is wrong must be told without it.
    from spark_jobs.adapters.composition import live_services

    return live_services(spark)


def _nowhere(text: str) -> None:
    """Show nothing: the report has it."""


@contextmanager
def _same_log_level() -> Iterator[None]:
    """Leave the level of the logger to the caller; a job sets it by its options."""
    level = log.level
    try:
        yield
    finally:
        log.setLevel(level)
