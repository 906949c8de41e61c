"""The verb cleanup for a table that was dropped: it is named by the location that it had."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace

from spark_jobs.core.messages.outcomes import TableOutcome
from spark_jobs.core.records.snapshots import BrokenLog
from spark_jobs.core.values.layout import Home
from spark_jobs.core.values.model import parent
from spark_jobs.core.wire.report import TableReport
from spark_jobs.protocol.commit_log.publisher import log_of
from spark_jobs.protocol.execution.table_session import TableSession, lease_options
from spark_jobs.protocol.planning.dropped_table import DroppedTable, dropped_tables, with_users
from spark_jobs.protocol.runs.lease import LeaseSet
from spark_jobs.protocol.runs.settled_home import delete_settled_home
from spark_jobs.verbs.cleanup import clean_up
from spark_jobs.verbs.job import Job


def cleanup_location(job: Job, location: str) -> list[TableReport]:
    """Clean up what dropped tables left at a location, and return a report for each of them."""
    root = root_at(job, location)
    tables = with_users(dropped_tables(job.services, job.layers, root))
    return [_clean(job, _with_writers(job, table)) for table in tables] or [nothing_left(root)]


def _with_writers(job: Job, table: DroppedTable) -> DroppedTable:
    """Return the table with what the command line says of its writers: its properties are gone."""
    writers = job.invocation.writers or table.options.writers
    return replace(table, options=replace(table.options, writers=writers))


def root_at(job: Job, location: str) -> str:
    """Return the URI of the root that a dropped table had."""
    return job.services.fs.qualify(location.rstrip("/"))


def nothing_left(root: str) -> TableReport:
    """Return the report for a location without runs."""
    reason = f"no table has left runs at {root}: there is no journal beside it or below it"
    return TableReport(root, TableOutcome.NOTHING, reason=reason, location=root)


def _clean(job: Job, table: DroppedTable) -> TableReport:
    with session_of(job, table) as session:
        trusted = table.options.trusted_owners
        with suppress(BrokenLog):  # the journals count
            log_of(job.services.fs, table.facts, job.services.now, trusted).latest()  # guard: log_of_home
        report = clean_up(session)
        if not table.options.dry_run:
            _delete_homes(session)
            report = _with_warnings(report, session)
        return report


@contextmanager
def session_of(job: Job, table: DroppedTable) -> Iterator[TableSession]:
    """Open a session of a dropped table. The leases that it takes are released at the end, also after an error."""
    with LeaseSet(job.services, lease_options(job.invocation.verb, table.options)) as leases:
        yield TableSession(job.services, table, leases, job.invocation.verb, lambda: table)


def _with_warnings(report: TableReport, session: TableSession) -> TableReport:
    return replace(report, warnings=list(dict.fromkeys([*report.warnings, *session.notes])))


def _delete_homes(session: TableSession) -> None:
    """Delete the homes of the table if none of its runs holds originals, or is unfinished."""
    runs = session.runs()
    if any(run.state.unfinished or not unit.final for run in runs for unit in run.state.units.values()):
        return
    directories = {run.directory for run in runs}
    own = Home.of_table(session.facts.storage.location, bool(session.facts.partition_keys))
    homes = sorted({own.path, *(parent(directory) for directory in directories)})
    session.leases.take(homes)
    texts = [delete_settled_home(session.services.fs, home, directories) for home in homes]
    session.notes += [text for text in texts if text]
