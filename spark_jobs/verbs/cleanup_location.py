"""The verb cleanup for a table that was dropped: it is named by the location that it had."""

from __future__ import annotations

from dataclasses import replace

from spark_jobs.core.model import parent
from spark_jobs.core.outcomes import TableOutcome
from spark_jobs.core.wire import TableReport
from spark_jobs.protocol.execution.table_session import TableSession, lease_options
from spark_jobs.protocol.planning.dropped_table import DroppedTable, dropped_tables
from spark_jobs.protocol.runs.lease import LeaseSet
from spark_jobs.protocol.runs.settled_home import delete_settled_home
from spark_jobs.verbs.cleanup import clean_up
from spark_jobs.verbs.job import Job


def cleanup_location(job: Job, location: str) -> list[TableReport]:
    """Clean up what dropped tables left at a location, and return a report for each of them."""
    root = job.services.fs.qualify(location.rstrip("/"))
    tables = dropped_tables(job.services, job.layers, root)
    if not tables:
        reason = f"no table has left runs at {root}: there is no journal beside it or below it"
        return [TableReport(root, TableOutcome.NOTHING, reason=reason, location=root)]
    return [_clean(job, table) for table in tables]


def _clean(job: Job, table: DroppedTable) -> TableReport:
    options = lease_options(job.invocation.verb, table.options)
    with LeaseSet(job.services, options) as leases:
        session = TableSession(job.services, table, leases, job.invocation.verb, lambda: table)
        report = clean_up(session)
        if not table.options.dry_run:
            _delete_homes(session, leases)
            report = _with_warnings(report, session)
        return report


def _with_warnings(report: TableReport, session: TableSession) -> TableReport:
    return replace(report, warnings=list(dict.fromkeys([*report.warnings, *session.notes])))


def _delete_homes(session: TableSession, leases: LeaseSet) -> None:
    """Delete the homes of the table if none of its runs holds originals, or is unfinished."""
    runs = session.runs()
    if any(run.state.unfinished or not unit.final for run in runs for unit in run.state.units.values()):
        return
    folders = {run.folder for run in runs}
    homes = sorted({parent(folder) for folder in folders})
    leases.take(homes)
    texts = [delete_settled_home(session.services.fs, home, folders) for home in homes]
    session.notes += [text for text in texts if text]
