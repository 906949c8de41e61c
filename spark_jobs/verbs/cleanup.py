"""The verb cleanup: it deletes the originals of runs that are past their retention. This cannot be undone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from spark_jobs.core.messages.outcomes import UnitOutcome
from spark_jobs.core.messages.warning_codes import WarningCode
from spark_jobs.core.options.definitions import Options
from spark_jobs.core.planning.retention import AgedRun, expired, in_future
from spark_jobs.core.records import journal
from spark_jobs.core.values.file_times import AHEAD
from spark_jobs.core.values.model import TableName, parent
from spark_jobs.core.wire.report import TableReport, utc
from spark_jobs.protocol.execution.cleanup import Cleanup
from spark_jobs.protocol.execution.folding import fold_settled_runs
from spark_jobs.protocol.execution.rounds import held_when_found
from spark_jobs.protocol.execution.table_session import TableSession
from spark_jobs.protocol.execution.unit_results import UnitResult
from spark_jobs.protocol.execution.waves import Waves
from spark_jobs.protocol.runs.journal_store import Run
from spark_jobs.protocol.runs.run_lifecycle import enter
from spark_jobs.protocol.swap.leftovers import remove_empty_directories
from spark_jobs.protocol.swap.legacy import kept_by_lakekeeper_0_0_6
from spark_jobs.verbs.job import Job


def cleanup_table(job: Job, name: TableName) -> TableReport:
    """Clean a table up, and return its part of the report."""
    with job.session(name) as session:
        report = clean_up(session)
        if report.units or job.invocation.database:
            return report
        other = kept_by_lakekeeper_0_0_6(session.services.fs, session.units)
        return replace(report, reason=f"{report.reason}; {other}") if other else report


def clean_up(session: TableSession) -> TableReport:
    """Delete the originals of one table that are past the retention."""
    runs = _due(session.services.now(), session.runs(), session.options)
    session.notes += _from_future(session, runs)
    if session.options.dry_run:
        would = [result for run in runs for result in _dry_run(session, run)]
        return _report(session, runs, would, session.runs())
    runs = _recover_and_choose(session, runs)
    results = [result for run in runs for result in _clean(session, run)]
    left = _close(session, runs)
    session.notes += fold_settled_runs(session)
    return _report(session, runs, results, left)


def _report(
    session: TableSession, runs: Sequence[Run], results: Sequence[UnitResult], left: Sequence[Run]
) -> TableReport:
    units = [*session.unresolved, *(result.report for result in results)]
    report = TableReport(
        table=session.facts.name,
        location=session.facts.storage.location,
        format=session.facts.storage.format,
        run_id=runs[-1].run_id if len({run.run_id for run in runs}) == 1 else None,
        reason=None if units else _nothing_due(session),
        freed_bytes=sum(result.freed for result in results),
        trashed_bytes=sum(result.trashed for result in results),
        units=units,
        warnings=list(session.notes),
        **held_when_found(left).report(),
    )
    return report.conclude(acted=(UnitOutcome.CLEANED, UnitOutcome.FLAGGED))


def _nothing_due(session: TableSession) -> str:
    """Return why no originals are deleted: there are none, or because of their age, or of their number."""
    options, ages = session.options, _ages(session.runs())
    if not ages:
        return "no originals are kept"
    kept = expired(ages, session.services.now(), options.older_than, keep_last=0)
    by_number = f"; keep_last={options.keep_last} keeps {len(kept)} that would be" if kept else ""
    return f"no originals are past the retention{by_number}"


def _recover_and_choose(session: TableSession, runs: Sequence[Run]) -> list[Run]:
    """Recover unfinished runs, and return the directories of the runs that are due.

    Which runs are due is decided again under the leases, and after the recovery. It is decided by the clock of the file
    system, because the clock of this driver may be wrong; if that one is more than a day ahead, by the driver's. So
    other runs than before may be due.
    """
    session.leases.take(
        parent(run.directory) for run in (session.runs() if runs else ())
    )  # guard: leases_by_file_system
    session.recover()
    now = session.leases.taken() or session.services.now()  # guard: retention_by_file_system
    own = session.services.now()
    if now - own > AHEAD:  # guard: retention_by_both_clocks
        # Either clock may be the wrong one, so that only what is due by both of them is deleted.
        text = (
            f"the clock of the file system says {utc(now)}, and that of the driver {utc(own)}, which counts"
        )
        session.notes.append(WarningCode.TIME_IN_FUTURE.text(text))
        now = own
    return _due(now, session.runs(), session.options)


def _close(session: TableSession, runs: Sequence[Run]) -> list[Run]:
    """Close the directories of these runs, and return all runs of the table."""
    all_runs = session.runs()
    for run_id in dict.fromkeys(run.run_id for run in runs):
        session.close([run for run in all_runs if run.run_id == run_id])
    return all_runs


def _from_future(session: TableSession, due: Sequence[Run]) -> list[str]:
    """Return a warning for each run whose originals stay because nothing tells its age."""
    candidates = [each for each in _ages(session.runs()) if each.run_id not in {run.run_id for run in due}]
    return [
        WarningCode.TIME_IN_FUTURE.text(
            f"the swaps of run {each.run_id} are of {utc(each.committed_at)}: no retention deletes its originals"
        )
        for each in in_future(candidates, session.services.now())
    ]


def _due(now: datetime, runs: Sequence[Run], options: Options) -> list[Run]:
    """Return the directories of the runs that are past the retention.

    The directories that one run has in several homes are due together.
    """
    due = {c.run_id for c in expired(_ages(runs), now, options.older_than, options.keep_last)}
    return [run for run in runs if run.run_id in due]


def _ages(runs: Sequence[Run]) -> list[AgedRun]:
    """Return each run once, with the time when it swapped the last of its units."""
    ages: dict[str, AgedRun] = {}
    for run in runs:
        at = run.state.committed_at
        if at is not None:
            known = ages.get(run.run_id)
            ages[run.run_id] = AgedRun(run.run_id, max(at, known.committed_at) if known else at)
    return list(ages.values())


def _dry_run(session: TableSession, run: Run) -> list[UnitResult]:
    options = session.options
    cleanup = Cleanup(session.services, run, session.recovery(), options.skip_trash)
    pending = run.state.of_kind(journal.COMMITTED, journal.CLEANUP_CLAIMED)
    return cleanup.would(pending, options.parallelism)


def _clean(session: TableSession, directory: Run) -> list[UnitResult]:
    options = session.options
    run = enter(directory, session.leases, "cleanup")
    cleanup = Cleanup(session.services, run, session.recovery(), options.skip_trash)
    cleanup.check_trash()
    pending = run.state.of_kind(journal.COMMITTED, journal.CLEANUP_CLAIMED)
    results = Waves(cleanup, options.parallelism).run(pending)
    remove_empty_directories(session.services, cleanup.entered, options.parallelism)
    return results
