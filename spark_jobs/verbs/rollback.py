"""The verb rollback: it restores the originals of a run, and keeps the rows that were added since."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

from spark_jobs.core.messages.outcomes import TableOutcome, UnitOutcome
from spark_jobs.core.messages.remedies.runs import of_other_table
from spark_jobs.core.records import journal
from spark_jobs.core.records.journal import UnitState
from spark_jobs.core.records.settled_runs import SettledRun, cleaned_at
from spark_jobs.core.rules.eligibility import refuse_native
from spark_jobs.core.values.model import TableName, parent
from spark_jobs.core.wire.report import TableReport, UnitReport, utc
from spark_jobs.protocol.execution.cleanup import Cleanup
from spark_jobs.protocol.execution.rollback import Rollback
from spark_jobs.protocol.execution.rounds import held_when_found
from spark_jobs.protocol.execution.table_session import TableSession
from spark_jobs.protocol.execution.unclaim import Unclaim
from spark_jobs.protocol.execution.unit_results import UnitResult, deleted_originals, not_deleted
from spark_jobs.protocol.execution.waves import Waves
from spark_jobs.protocol.runs.journal_store import Run
from spark_jobs.protocol.runs.run_lifecycle import enter, newest_generation
from spark_jobs.protocol.swap.leftovers import remove_empty_directories
from spark_jobs.protocol.swap.legacy import kept_by_lakekeeper_0_0_6
from spark_jobs.verbs.job import Job

log = logging.getLogger("lakekeeper")


def rollback_table(job: Job, name: TableName) -> TableReport:
    """Roll a table back, and return its part of the report."""
    with job.session(name) as session:
        dry_run = session.options.dry_run
        chosen, runs, wanted, settled = _choose(job, name, session, dry_run=dry_run)
        if not runs and not settled:  # guard: rollback_of_other_formats
            # Its own format may have runs to roll back: this job was not told to work on it.
            refuse_native(session.facts)
        deleted = [deleted_originals(unit) for unit in _without_originals(chosen, runs)]
        restored: dict[str, set[str]] = {}
        if dry_run:
            done = _dry_run(session, chosen)
        else:
            done, restored = _roll_back_all(session, chosen, runs)
        units = [*session.unresolved, *done, *deleted]
        report = TableReport(
            table=str(name),
            location=session.facts.storage.location,
            format=session.facts.storage.format,
            partition_types=session.facts.key_types or None,
            run_id=chosen[-1].run_id
            if chosen and not (dry_run and chosen[0].run_id != chosen[-1].run_id)
            else None,
            reason=None if units else _nothing_reason(job, session, runs, wanted, settled),
            units=units,
            warnings=list(session.notes),
            **held_when_found(runs, restored).report(),
        )
        report = report.conclude(acted=(UnitOutcome.RESTORED,))
        what = f"the originals of {len(deleted)} of {len(units)} units were deleted, and cannot be restored"
        lost = what if deleted else None
        if dry_run and report.outcome == TableOutcome.NOTHING and done:
            # A rollback that has restored nothing is never `done`: the option may stand in a file.
            reasons = filter(None, ["nothing was restored: dry_run is set", lost])
            return replace(report, reason="; ".join(reasons))
        if lost and report.outcome == TableOutcome.DONE:
            # A rollback that cannot restore all units of its runs is never `done`.
            return replace(report, outcome=TableOutcome.PARTIAL, reason=lost)
        return report


def _choose(
    job: Job, name: TableName, session: TableSession, *, dry_run: bool
) -> tuple[list[Run], list[Run], list[str], list[SettledRun]]:
    """Return the directories to roll back, those of all runs, the ids of the wanted runs, and runs without directories.

    The runs are chosen under the leases and after the recovery: what was read earlier may be outdated. A dry run
    changes nothing, and so does neither.
    """
    if not dry_run:
        session.leases.take(parent(run.directory) for run in session.runs() if _holds_originals(run))
        session.recover()
    runs = session.runs()
    settled = session.settled(runs)
    wanted = _wanted_run_ids(job, name, runs, settled, dry_run=dry_run)
    chosen = [run for run in runs if run.run_id in wanted and _holds_originals(run)]
    return chosen, runs, wanted, settled


def _roll_back_all(
    session: TableSession, chosen: Sequence[Run], runs: Sequence[Run]
) -> tuple[list[UnitReport], dict[str, set[str]]]:
    """Roll the runs back, the newest first, and close them.

    Returns:
        The units, and by directory of a run the names of those that were restored.
    """
    now: dict[str, Run] = {}
    units: list[UnitReport] = []
    restored: dict[str, set[str]] = {}
    for run in reversed(chosen):
        results, now[run.directory] = _roll_back(session, run)
        units += [result.report for result in results]
        done = (result for result in results if result.report.outcome == UnitOutcome.RESTORED)
        restored[run.directory] = {result.unit_key for result in done}
    session.put_back_statistics([now[run.directory] for run in reversed(chosen)])
    for run_id in dict.fromkeys(run.run_id for run in chosen):
        session.close([now.get(run.directory, run) for run in runs if run.run_id == run_id])
    return units, restored


def _dry_run(session: TableSession, chosen: Sequence[Run]) -> list[UnitReport]:
    """Return what a rollback would do, the newest run first. What a run has left open, it would finish before."""
    options = session.options
    units: list[UnitReport] = []
    newer: dict[str, str] = {}
    for run in reversed(chosen):
        rollback = Rollback(session.services, run, session.recovery(), options.on_new_data, newer)
        whole = run.state.of_kind(journal.COMMITTED)
        units += [result.report for result in rollback.would(whole, options.parallelism)]
        left_open = [
            unit for unit in run.state.units.values() if not unit.final and unit.kind != journal.COMMITTED
        ]
        why = f"dry run: what run {run.run_id} has left open would be finished first"
        units += [not_deleted(unit.swap, UnitOutcome.FLAGGED, why).report for unit in left_open]
        newer = {**newer, **{unit.swap.live: run.run_id for unit in (*whole, *left_open)}}
    return units


def _without_originals(chosen: Sequence[Run], runs: Sequence[Run]) -> list[UnitState]:
    """Return the units of the chosen runs whose originals were deleted, also those in directories that hold none."""
    wanted = {run.run_id for run in chosen}
    return [unit for run in runs if run.run_id in wanted for unit in run.state.of_kind(journal.CLEANED)]


def _holds_originals(run: Run) -> bool:
    return any(not unit.final for unit in run.state.units.values())  # guard: originals_by_journal


def _wanted_run_ids(
    job: Job, name: TableName, runs: Sequence[Run], settled: Sequence[SettledRun], *, dry_run: bool
) -> list[str]:
    """Return the ids of the runs to roll back.

    A run id on the command line is taken literally. A run id in a request means its newest generation, and never an
    older one. Without either, the newest run that still holds originals is chosen.
    """
    if job.invocation.run_id:
        return [job.invocation.run_id]
    requested = job.requested_runs(name)
    if requested is not None:
        return [newest_generation(run_id, runs, settled) for run_id in requested]
    held = [run for run in runs if _holds_originals(run)]
    return _that_may_be_newest(held) if dry_run else [run.run_id for run in held[-1:]]


def _that_may_be_newest(held: Sequence[Run]) -> list[str]:
    """Return the ids of the runs of which a recovery may leave one as the newest: it may take open units back."""
    run_ids: list[str] = []
    for run in reversed(held):
        run_ids.append(run.run_id)
        if run.state.of_kind(journal.COMMITTED):
            break
    return run_ids


def _nothing_reason(
    job: Job, session: TableSession, runs: Sequence[Run], wanted: Sequence[str], settled: Sequence[SettledRun]
) -> str:
    known = {run.run_id for run in runs} | {run.run_id for run in settled}
    named = wanted if job.invocation.run_id or job.request.runs is not None else known
    of_ids = [run for run in runs if run.run_id in named]
    cleaned = [(unit.at, unit.forgotten) for run in of_ids for unit in run.state.of_kind(journal.CLEANED)]
    cleaned += [(at, False) for at in cleaned_at(run for run in settled if run.run_id in named)]
    if cleaned:
        at, forgotten = max(cleaned)
        how = "forgotten" if forgotten else "cleaned up"
        return f"nothing to restore: the originals were {how} at {utc(at)}{_also_left(job, session, '; ')}"
    unknown = [run_id for run_id in wanted if run_id not in known]
    if not unknown:
        return f"nothing to restore{_also_left(job, session, ': ')}"
    other = session.other_table_of(unknown[0])
    if other is None:
        return f"nothing to restore: there is no run {unknown[0]} of this table"
    command = of_other_table("rollback", unknown[0], other)
    return f"nothing to restore: run {unknown[0]} is of {other}, at the same location: {command}"


def _also_left(job: Job, session: TableSession, joint: str) -> str:
    """Return what Lakekeeper 0.0.6 has left of a table that is named; nothing for a whole database."""
    if job.invocation.database:
        return ""
    other = kept_by_lakekeeper_0_0_6(session.services.fs, session.units)
    return f"{joint}{other}" if other else ""


def _roll_back(session: TableSession, directory: Run) -> tuple[list[UnitResult], Run]:
    """Return the results, and the run, whose directory may have another name afterwards."""
    run = enter(directory, session.leases, "rollback")
    claimed = run.state.of_kind(journal.CLEANUP_CLAIMED)
    recovery = session.recovery()
    unclaim = Unclaim(Cleanup(session.services, run, recovery, skip_trash=True))
    unclaim.move_back(claimed)
    state = run.current()
    kept, pending = (
        unclaim.not_moved_back(state.of_kind(journal.CLEANUP_CLAIMED)),
        state.of_kind(journal.COMMITTED),
    )
    log.info("rolling back run %s, units: %d", run.run_id, len(pending))
    rollback = Rollback(session.services, run, recovery, session.options.on_new_data)
    results = Waves(rollback, session.options.parallelism).run(pending)
    remove_empty_directories(session.services, rollback.entered, session.options.parallelism)
    return [*kept, *results], rollback.entered
