"""rollback: puts the originals of a run back, and keeps the rows that were added since."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from spark_jobs.core import journal
from spark_jobs.core.eligibility import TableFacts
from spark_jobs.core.errors import LakekeeperError
from spark_jobs.core.model import TableName, Unit
from spark_jobs.core.options import Options
from spark_jobs.core.wire import TableReport, utc
from spark_jobs.shell.cluster import Cluster
from spark_jobs.shell.compaction import remove_empty
from spark_jobs.shell.job import Job
from spark_jobs.shell.journal_store import Run
from spark_jobs.shell.restoration import Restoration
from spark_jobs.shell.runs import all_runs, newest_generation

log = logging.getLogger("lakekeeper")


def rollback_table(job: Job, name: TableName) -> TableReport:
    """One table's part of the report."""
    facts = job.cluster.metastore.table(name)
    options = job.layers.resolve(str(name), facts.properties)
    units = table_units(job.cluster, facts)
    runs = all_runs(job.cluster.fs, facts, units)
    wanted = _wanted(job, name, runs)
    chosen = [run for run in runs if run.run_id in wanted and _holds_originals(run)]
    report = TableReport(table=str(name), location=facts.storage.location, format=facts.storage.format)
    for run in reversed(chosen):
        _roll_back(job.cluster, facts, run, units, options, report)
    report.run_id = chosen[-1].run_id if chosen else None
    report.reason = None if report.units else _nothing(runs, wanted)
    return report.conclude(acted=("restored",))


def table_units(cluster: Cluster, facts: TableFacts) -> list[Unit]:
    """The units of a table as the metastore has them now."""
    if facts.partition_keys:
        return [unit for unit, _ in cluster.metastore.partitions(facts)]
    return [Unit((), facts.storage.location)]


def _holds_originals(run: Run) -> bool:
    return any(unit.restorable for unit in run.state.units.values())


def _wanted(job: Job, name: TableName, runs: Sequence[Run]) -> list[str]:
    """The ids of the runs to undo: the one on the command line exactly; of those in a request the newest generation,
    and never an older one in its place; else the newest run that still holds originals."""
    if job.invocation.run_id:
        return [job.invocation.run_id]
    requested = job.requested_runs(name)
    if requested is not None:
        return [newest_generation(run_id, runs) for run_id in requested]
    held = [run.run_id for run in runs if _holds_originals(run)]
    return held[-1:]


def _nothing(runs: Sequence[Run], wanted: Sequence[str]) -> str:
    mine = [run for run in runs if run.run_id in wanted]
    cleaned = [u.at for run in mine for u in run.state.units.values() if u.kind == journal.CLEANED]
    if cleaned:
        return f"nothing to restore: the originals were cleaned up at {utc(max(cleaned))}"
    unknown = [run_id for run_id in wanted if run_id not in {run.run_id for run in runs}]
    return (
        f"nothing to restore: there is no run {unknown[0]} of this table" if unknown else "nothing to restore"
    )


def _roll_back(
    cluster: Cluster,
    facts: TableFacts,
    run: Run,
    units: Sequence[Unit],
    options: Options,
    report: TableReport,
) -> None:
    restoration = Restoration(cluster, run, {u.key: u.location for u in units}, options.on_new_data)
    pending = [unit for unit in run.state.units.values() if unit.restorable]
    log.info("rolling back %d units of run %s", len(pending), run.run_id)
    report.units += restoration.run(pending, options.parallelism)
    retire_backup(cluster, facts, run, options, report)
    for entry in cluster.fs.list(run.folder):
        if entry.is_dir and entry.name.startswith("__"):
            remove_empty(cluster, entry.path)


def retire_backup(
    cluster: Cluster, facts: TableFacts, run: Run, options: Options, report: TableReport
) -> None:
    """Forgets in the backup table what this run does not hold any more; drops it once it holds nothing."""
    state = run.journal.state()
    database = options.backup_database or TableName.parse(facts.name).database
    try:
        named = [TableName.parse(state.backup_table)] if state and state.backup_table else []
        for backup in named or cluster.metastore.backup_tables(run.run_id, database, facts.name):
            _forget(cluster, facts, run, backup)
    except LakekeeperError as error:
        report.warnings.append(f"the backup table could not be updated: {error}")


def _forget(cluster: Cluster, facts: TableFacts, run: Run, backup: TableName) -> None:
    if not cluster.metastore.table_exists(backup):
        return
    held = run.journal.state()
    gone = [u.swap.unit for u in held.units.values() if not u.restorable] if held else []
    registered = {unit.key for unit in table_units(cluster, cluster.metastore.table(backup))}
    left = registered - {unit.key for unit in gone}
    if facts.partition_keys and left:
        cluster.metastore.drop_backup_partitions(backup, [unit for unit in gone if unit.key in registered])
    elif not facts.partition_keys and not gone:
        return
    else:
        cluster.metastore.drop_backup(backup, run.run_id, facts.name)
