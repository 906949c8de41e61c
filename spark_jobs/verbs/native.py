"""The verbs on a table of a format that keeps the list of its own files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from spark_jobs.core.messages.outcomes import TableOutcome
from spark_jobs.core.planning.plan_file import options_of
from spark_jobs.core.records.history import render
from spark_jobs.core.rules.eligibility import native_format
from spark_jobs.core.values.model import TableName
from spark_jobs.core.wire.report import TableReport
from spark_jobs.protocol.checking.table_check import own_properties
from spark_jobs.protocol.execution.table_session import lease_options
from spark_jobs.protocol.native.compaction import NativeCompaction
from spark_jobs.protocol.native.ending import clean_up, roll_back
from spark_jobs.protocol.native.plan import NativePlan, plan_table, report_of
from spark_jobs.protocol.native.record import row
from spark_jobs.protocol.native.runs import NativeHistory, own_names
from spark_jobs.protocol.native.session import NativeSession, open_session
from spark_jobs.verbs.job import Job
from spark_jobs.verbs.planned import PLANNED, estimated, limited


def native_session(job: Job, name: TableName) -> NativeSession | None:
    """Return the session of a native table; None for any other one, and where its format is not switched on.

    No table is looked at where no format is.

    Raises:
        Refusal: NO_CATALOG or OPTED_OUT.
    """
    if not job.layers.resolve(str(name)).native_formats:
        return None
    table = job.table(name)
    found = native_format(table.facts)
    if found is None or found not in table.options.native_formats:
        return None
    return open_session(job.services, found, table.facts, table.options)


def _plan(job: Job, session: NativeSession) -> NativePlan:
    name = TableName.parse(session.facts.name)
    return plan_table(session, job.wanted_units(name), NativeHistory.of(session.table))


def analyze_native(job: Job, session: NativeSession) -> TableReport:
    """Analyse a native table. Nothing is changed, and a run that was killed stays as it is."""
    return _plan(job, session).report().conclude(acted=PLANNED)


def plan_native(job: Job, session: NativeSession) -> TableReport:
    """Plan a native table without limits, as other tables are planned."""
    report = replace(_plan(job, session).report(), options=options_of(session.options))
    return estimated(report, job.admission.now.pace).conclude(acted=PLANNED)


@contextmanager
def _history(job: Job, session: NativeSession) -> Iterator[NativeHistory]:
    """Return the history under the lease. A dry run changes nothing, and so takes no lease and ends no killed run."""
    if session.options.dry_run:
        yield NativeHistory.of(session.table)
        return
    with session.leased(lease_options(job.invocation.verb, session.options)) as history:
        yield history


def compact_native(job: Job, session: NativeSession) -> TableReport:
    """Compact a native table by the procedure of its format."""
    if session.options.dry_run:
        return limited(job, plan_native(job, session))
    with _history(job, session) as history:
        name = TableName.parse(session.facts.name)
        plan = plan_table(session, job.wanted_units(name), history)
        return NativeCompaction(session, plan, job.run_id, history, job.admission).run()


def roll_back_native(job: Job, session: NativeSession) -> TableReport:
    """Roll a native table back by its own commits."""
    name = TableName.parse(session.facts.name)
    wanted = [job.invocation.run_id] if job.invocation.run_id else job.requested_runs(name)
    with _history(job, session) as history:
        return roll_back(session, history, wanted)


def clean_up_native(job: Job, session: NativeSession) -> TableReport:
    """Forget the runs of a native table that are past the retention."""
    with _history(job, session) as history:
        return clean_up(session, history)


def history_native(job: Job, session: NativeSession) -> TableReport:
    """List the runs of a native table, newest first, as far as the table keeps their commits."""
    history = NativeHistory.of(session.table)
    rows = [row(session, history, run) for run in reversed(history.runs)]
    shown = rows[: job.invocation.limit]
    job.show(render(session.facts.name, shown, len(rows) - len(shown)))
    report = report_of(session, [])
    return replace(report, outcome=TableOutcome.DONE if shown else TableOutcome.NOTHING, history=shown)


def check_native(_: Job, session: NativeSession) -> TableReport:
    """Say what the table has of ours. The format checks its own files itself."""
    home = [session.home] if session.services.fs.status(session.home) else []
    left = [*own_names(session.table), *home, *own_properties(session.facts)]
    return replace(report_of(session, []), outcome=TableOutcome.NOTHING, left=left)
