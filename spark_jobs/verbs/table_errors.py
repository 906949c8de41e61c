"""What the report of a table says about an error that ended the work on it, and the way out."""

from __future__ import annotations

import logging
from dataclasses import replace

from spark_jobs.core.messages.errors import Busy, LakekeeperError, Refusal, UnreadableRun, Unsafe, in_one_line
from spark_jobs.core.messages.outcomes import TableOutcome
from spark_jobs.core.messages.remedies import runs, verbs
from spark_jobs.core.messages.remedies.accounts import with_quota_command
from spark_jobs.core.values.model import TableName
from spark_jobs.core.wire.report import UNSAFE, TableReport
from spark_jobs.protocol.runs.unreadable import Remains, remains_in
from spark_jobs.verbs.job import Job

log = logging.getLogger("lakekeeper")


def report_of(job: Job, name: str, error: Exception) -> TableReport:
    """Return the report of a table on which the work ended with this error."""
    if isinstance(error, Refusal):
        report = TableReport(name, TableOutcome.REFUSED, error.code, error.reason)
        return replace(report, **error.held.report()) if error.held else report
    if isinstance(error, Unsafe):
        return TableReport(name, TableOutcome.FAILED, UNSAFE, f"{error}. {_unsafe_way_out(job, name, error)}")
    if isinstance(error, Busy):
        return TableReport(name, TableOutcome.BUSY, reason=str(error))
    if isinstance(error, (LakekeeperError, OSError)):
        return TableReport(name, TableOutcome.FAILED, reason=with_quota_command(str(error)))
    log.error("%s failed", name, exc_info=error)
    return TableReport(name, TableOutcome.FAILED, reason=in_one_line(error))


def hint(job: Job) -> str:
    """Return what can be done for a table that was dropped. A wrong name is the more probable cause."""
    verb = job.invocation.verb
    if verb not in ("cleanup", "rollback", "forget", "history", "check"):
        return ""
    return runs.dropped_table(verb)


def _unsafe_way_out(job: Job, name: str, error: Unsafe) -> str:
    target = verbs.at_location(name) if job.invocation.location else verbs.of_table(name)
    look = runs.look_at_journals(target)
    if not isinstance(error, UnreadableRun):
        return look
    left = _remains_in(job, name, error.directory)
    return f"{look}. {runs.unreadable(error.directory, left.originals, left.unclear)}"


def _remains_in(job: Job, name: str, directory: str) -> Remains:
    """Return what the directory of an unreadable run holds of the table."""
    if job.invocation.location:
        return Remains()
    try:
        locations = {unit.location for unit in job.table(TableName.parse(name)).units}
        return remains_in(job.services.fs, directory, locations)  # guard: only_originals_named
    except (LakekeeperError, OSError):
        return Remains()
