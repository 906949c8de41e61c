"""The backup table of a run: a projection of its journal that people and query engines can read."""

from __future__ import annotations

from collections.abc import Sequence

from spark_jobs.core.eligibility import TableFacts
from spark_jobs.core.errors import LakekeeperError
from spark_jobs.core.model import TableName, Unit
from spark_jobs.core.options import Options
from spark_jobs.shell.cluster import Cluster
from spark_jobs.shell.journal_store import Run
from spark_jobs.shell.survey import TableSurvey


def register_backup(
    cluster: Cluster,
    found: TableSurvey,
    run_id: str,
    root: str,
    units: Sequence[tuple[Unit, str]],
    resumed: bool,
) -> TableName:
    """Registers the originals where they lie now; a resumed run replaces the backup table of its earlier attempt."""
    facts, options = found.facts, found.options
    source = TableName.parse(facts.name)
    database = options.backup_database or source.database
    for earlier in cluster.metastore.backup_tables(run_id, database, facts.name) if resumed else []:
        cluster.metastore.drop_backup(earlier, run_id, facts.name)
    stamp = cluster.now().strftime("%Y%m%d_%H%M%S")
    name = _free(cluster, TableName(database, f"{options.backup_prefix}_{source.table}_{stamp}"))
    cluster.metastore.create_backup(name, facts, run_id, root, units)
    return name


def _free(cluster: Cluster, wanted: TableName) -> TableName:
    """Two runs may end within one second."""
    name, number = wanted, 2
    while cluster.metastore.table_exists(name):
        name, number = TableName(wanted.database, f"{wanted.table}_{number}"), number + 1
    return name


def retire_backup(cluster: Cluster, facts: TableFacts, run: Run, options: Options) -> list[str]:
    """Forgets in the backup table what this run does not hold any more; drops it once it holds nothing.

    Returns warnings: a backup table that stays too long does no harm.
    """
    state = run.journal.state()
    database = options.backup_database or TableName.parse(facts.name).database
    try:
        named = [TableName.parse(state.backup_table)] if state and state.backup_table else []
        for backup in named or cluster.metastore.backup_tables(run.run_id, database, facts.name):
            _forget(cluster, facts, run, backup)
    except LakekeeperError as error:
        return [f"the backup table could not be updated: {error}"]
    return []


def _forget(cluster: Cluster, facts: TableFacts, run: Run, backup: TableName) -> None:
    state = run.journal.state()
    if state is None or not cluster.metastore.table_exists(backup):
        return
    gone = [unit.swap.unit for unit in state.units.values() if unit.final]
    registered = {unit.key for unit, _ in cluster.metastore.units(cluster.metastore.table(backup))}
    left = registered - {unit.key for unit in gone}
    if facts.partition_keys and left:
        cluster.metastore.drop_backup_partitions(backup, [unit for unit in gone if unit.key in registered])
    elif not left:
        cluster.metastore.drop_backup(backup, run.run_id, state.table)
