"""The verb history: it lists what was done to a table, and what can still be undone. It writes nothing."""

from __future__ import annotations

from spark_jobs.core.messages.outcomes import TableOutcome
from spark_jobs.core.messages.warning_codes import WarningCode
from spark_jobs.core.records import history, snapshot_listing
from spark_jobs.core.records.journal import RunState
from spark_jobs.core.records.snapshots import BrokenLog, Snapshot, Token
from spark_jobs.core.rules.eligibility import check_runs
from spark_jobs.core.values.model import TableName
from spark_jobs.core.wire.report import TableReport
from spark_jobs.protocol.commit_log.publisher import log_of
from spark_jobs.protocol.commit_log.store import CommitLog
from spark_jobs.protocol.runs.run_finder import TableRuns
from spark_jobs.protocol.swap.legacy import kept_by_lakekeeper_0_0_6
from spark_jobs.verbs.job import Job


def history_table(job: Job, name: TableName) -> TableReport:
    """Return one table's part of the report. Also show it as a table of text."""
    services = job.services
    facts = services.metastore.table(name)
    check_runs(facts)
    root = facts.storage.location
    runs: dict[str, list[RunState]] = {}
    units = [unit for unit, _ in services.metastore.units(facts)]
    trusted = job.layers.resolve(str(name)).trusted_owners
    found_runs = TableRuns(services.fs, facts, units, trusted)
    directories = found_runs.all()
    for run in directories:
        runs.setdefault(run.run_id, []).append(run.state)
    log = log_of(services.fs, facts, services.now, trusted)
    snapshots, logged, problem = _read(log, list(runs))
    # After the log: a snapshot is deleted only once the record of settled runs has it.
    settled = found_runs.settled(directories)
    snapshots = found_runs.settled_store.read().with_deleted(snapshots)
    units_of = log.units if job.invocation.units else None
    own = history.of_table(snapshots, facts.name, root)
    rows = history.rows(own, runs, logged, settled, units_of)
    shown = rows[: job.invocation.limit]
    job.show(history.render(str(name), shown, len(rows) - len(shown)))
    listed = None
    if job.invocation.snapshots:
        listed = snapshot_listing.rows(own, log.lists, job.invocation.limit)
        job.show(snapshot_listing.render(str(name), listed))
    return TableReport(
        table=str(name),
        outcome=TableOutcome.DONE if shown else TableOutcome.NOTHING,
        reason=None if shown or job.invocation.database else kept_by_lakekeeper_0_0_6(services.fs, units),
        location=root,
        format=facts.storage.format,
        warnings=[*problem, *found_runs.notes],
        history=shown,
        snapshots=listed,
    )


def _read(log: CommitLog, run_ids: list[str]) -> tuple[list[Snapshot], set[Token], list[str]]:
    """Return the snapshots, the results that the log has, and warnings.

    If the log cannot be read, no run is hidden: the journals are the authority, and all runs are shown from them.
    """
    try:
        return log.snapshots(), log.logged(run_ids), []
    except (BrokenLog, OSError) as error:
        text = f"the commit log cannot be read, and all runs are shown from their journals: {error}"
        return [], set(), [WarningCode.LOG_UNREADABLE.text(text)]
