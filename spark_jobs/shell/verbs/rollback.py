"""rollback: puts the originals of a run back, and keeps the rows that were added since."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from spark_jobs.core import journal
from spark_jobs.core.eligibility import TableFacts
from spark_jobs.core.model import TableName
from spark_jobs.core.options import Options
from spark_jobs.core.wire import TableReport, utc
from spark_jobs.shell.backup import retire_backup
from spark_jobs.shell.cluster import Cluster
from spark_jobs.shell.job import Job
from spark_jobs.shell.journal_store import Run
from spark_jobs.shell.leftovers import remove_empty_folders
from spark_jobs.shell.restoration import Restoration
from spark_jobs.shell.retirement import Retirement
from spark_jobs.shell.runs import all_runs, newest_generation, take_over
from spark_jobs.shell.settle import Settlement

log = logging.getLogger("lakekeeper")


def rollback_table(job: Job, name: TableName) -> TableReport:
    """One table's part of the report."""
    facts = job.cluster.metastore.table(name)
    options = job.layers.resolve(str(name), facts.properties)
    units = [unit for unit, _ in job.cluster.metastore.units(facts)]
    locations = {unit.key: unit.location for unit in units}
    runs = all_runs(job.cluster.fs, facts, units)
    wanted = _wanted(job, name, runs)
    chosen = [run for run in runs if run.run_id in wanted and _holds_originals(run)]
    report = TableReport(table=str(name), location=facts.storage.location, format=facts.storage.format)
    for run in reversed(chosen):
        _roll_back(job.cluster, facts, run, locations, options, report)
    report.run_id = chosen[-1].run_id if chosen else None
    report.reason = None if report.units else _nothing(runs, wanted)
    return report.conclude(acted=("restored",))


def _holds_originals(run: Run) -> bool:
    return any(not unit.final for unit in run.state.units.values())


def _wanted(job: Job, name: TableName, runs: Sequence[Run]) -> list[str]:
    """The ids of the runs to undo: the one on the command line exactly; of those in a request the newest
    generation, and never an older one in its place; else the newest run that still holds originals."""
    if job.invocation.run_id:
        return [job.invocation.run_id]
    requested = job.requested_runs(name)
    if requested is not None:
        return [newest_generation(run_id, runs) for run_id in requested]
    held = [run.run_id for run in runs if _holds_originals(run)]
    return held[-1:]


def _nothing(runs: Sequence[Run], wanted: Sequence[str]) -> str:
    mine = [run for run in runs if run.run_id in wanted]
    cleaned = [unit.at for run in mine for unit in run.state.of_kind(journal.CLEANED)]
    if cleaned:
        return f"nothing to restore: the originals were cleaned up at {utc(max(cleaned))}"
    unknown = [run_id for run_id in wanted if run_id not in {run.run_id for run in runs}]
    return (
        f"nothing to restore: there is no run {unknown[0]} of this table" if unknown else "nothing to restore"
    )


def _roll_back(
    cluster: Cluster,
    facts: TableFacts,
    found: Run,
    locations: Mapping[str, str],
    options: Options,
    report: TableReport,
) -> None:
    run = _settled(cluster, found, locations, report)
    restoration = Restoration(cluster, run, locations, options.on_new_data)
    state = run.journal.state() or run.state
    pending = state.of_kind(journal.COMMITTED, journal.ROLLBACK_PREPARED)
    log.info("rolling back %d units of run %s", len(pending), run.run_id)
    report.units += restoration.run(pending, options.parallelism)
    report.warnings += retire_backup(cluster, facts, run, options)
    remove_empty_folders(cluster, run)


def _settled(cluster: Cluster, run: Run, locations: Mapping[str, str], report: TableReport) -> Run:
    """A run that was killed is settled first, as its retry would: what it swapped can then go back like the rest."""
    Retirement(cluster, run, locations, skip_trash=True).release(run.state.of_kind(journal.CLEANUP_CLAIMED))
    if not run.state.unsettled:
        return run
    mine = take_over(cluster.fs, run)
    report.units += Settlement(cluster, mine, locations).run()
    return mine
