"""The verb forget: it ends the record of originals that somebody has deleted or changed. It deletes nothing."""

from __future__ import annotations

from collections.abc import Sequence

from spark_jobs.core.messages.outcomes import TableOutcome, UnitOutcome
from spark_jobs.core.messages.remedies import runs
from spark_jobs.core.values.model import TableName, parent
from spark_jobs.core.wire.report import TableReport, UnitReport
from spark_jobs.protocol.execution.forget import Forget, ForgetVerdict
from spark_jobs.protocol.execution.table_session import TableSession
from spark_jobs.protocol.planning.dropped_table import dropped_tables, with_users
from spark_jobs.protocol.runs.journal_store import Run
from spark_jobs.protocol.runs.run_lifecycle import enter
from spark_jobs.verbs.cleanup_location import root_at, session_of
from spark_jobs.verbs.job import Job


def forget_table(job: Job, name: TableName) -> TableReport:
    """End the record of the damaged originals of one run, and return the table's part of the report."""
    with job.session(name) as session:
        other = session.other_table_of(job.invocation.run_id)
        return _forget_run(job, session) or _unknown(job, str(name), other)


def forget_location(job: Job, location: str) -> list[TableReport]:
    """End the record of damaged originals that a run of a dropped table has, and return the reports."""
    root, reports = root_at(job, location), []
    tables = with_users(dropped_tables(job.services, job.layers, root))  # guard: forget_dropped_only
    for table in tables:
        with session_of(job, table) as session:
            reports.append(_forget_run(job, session))
    return [report for report in reports if report] or [_unknown(job, root)]


def _forget_run(job: Job, session: TableSession) -> TableReport | None:
    """Return the report of the run; None if the table has no such run."""
    run_id = job.invocation.run_id
    if not _directories(session, run_id):
        return None
    units = _forget(session, run_id) if job.invocation.yes else _would_forget(session, run_id)
    report = TableReport(
        table=session.facts.name,
        location=session.facts.storage.location,
        format=session.facts.storage.format,
        run_id=run_id,
        reason=None if units else f"run {run_id} holds no originals any more",
        units=units,
        warnings=list(session.notes),
    )
    return report.conclude(acted=(UnitOutcome.FORGOTTEN, UnitOutcome.FLAGGED))


def _unknown(job: Job, name: str, other: str | None = None) -> TableReport:
    run_id = job.invocation.run_id
    reason = runs.unknown(run_id, name, dropped=bool(job.invocation.location))
    if other:
        command = runs.of_other_table("forget", str(run_id), other)
        reason = f"run {run_id} is of {other}, which is at the same location: {command}"
    return TableReport(name, TableOutcome.FAILED, reason=reason, run_id=run_id)


def _directories(session: TableSession, run_id: str | None) -> list[Run]:
    return [run for run in session.runs() if run.run_id == run_id]


def _would_forget(session: TableSession, run_id: str | None) -> list[UnitReport]:
    verdicts = [v for run in _directories(session, run_id) for v in _forget_of(session, run).verdicts()]
    return [_planned(verdict) for verdict in verdicts]


def _planned(verdict: ForgetVerdict) -> UnitReport:
    if not verdict.damaged:
        return verdict.report(UnitOutcome.SKIPPED)
    unit, reason = verdict.unit.swap.unit.to_json(), f"would be forgotten with --yes: {verdict.reason}"
    return UnitReport.of(unit, UnitOutcome.FLAGGED, reason=reason)


def _forget(session: TableSession, run_id: str | None) -> list[UnitReport]:
    """Journal what is forgotten, under the leases and after the recovery. What was read before may be outdated."""
    session.leases.take(parent(run.directory) for run in session.runs())
    session.recover()
    reports: list[UnitReport] = []
    for directory in _directories(session, run_id):
        run = enter(directory, session.leases, "forget")
        work = _forget_of(session, run)
        verdicts = work.verdicts()
        work.forget(verdicts)
        reports += [_done(verdict) for verdict in verdicts]
    _close(session, run_id)
    return reports


def _done(verdict: ForgetVerdict) -> UnitReport:
    return verdict.report(UnitOutcome.FORGOTTEN if verdict.damaged else UnitOutcome.SKIPPED)


def _forget_of(session: TableSession, run: Run) -> Forget:
    return Forget(session.services, run, session.recovery())


def _close(session: TableSession, run_id: str | None) -> None:
    directories: Sequence[Run] = _directories(session, run_id)
    session.close(directories)
