"""The backup table of a run: a projection of its journal that people and query engines can read."""

from __future__ import annotations

from collections.abc import Sequence

from spark_jobs.core.model import TableName, Unit
from spark_jobs.shell.cluster import Cluster
from spark_jobs.shell.survey import TableSurvey


def register_backup(
    cluster: Cluster, found: TableSurvey, run_id: str, root: str, units: Sequence[tuple[Unit, str]]
) -> TableName:
    """Registers the originals where they lie now; an earlier backup table of the same run is replaced."""
    facts, options = found.facts, found.options
    source = TableName.parse(facts.name)
    database = options.backup_database or source.database
    for earlier in cluster.metastore.backup_tables(run_id, database, facts.name):
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
