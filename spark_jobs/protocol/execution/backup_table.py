"""The backup table of a run: a view of its journal that people and query engines can read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from spark_jobs.core.messages.errors import LeaseLost
from spark_jobs.core.messages.warning_codes import WarningCode
from spark_jobs.core.options.definitions import Options
from spark_jobs.core.records import journal
from spark_jobs.core.rules.eligibility import TableFacts
from spark_jobs.core.values.layout import is_below, working_directory_above
from spark_jobs.core.values.model import TableName, Unit
from spark_jobs.protocol.runs.journal_store import Run
from spark_jobs.protocol.services import Services


@dataclass(frozen=True)
class _BackupContent:
    """The content that the backup table of a run must have: its root, and the path of the originals of each unit."""

    root: str
    units: Sequence[tuple[Unit, str]]

    def locations(self) -> dict[str, str]:
        """Return the paths of the originals by unit key."""
        return {unit.key: location for unit, location in self.units}


def sync_backup_table(
    services: Services, facts: TableFacts, options: Options, runs: Sequence[Run], fresh: bool = False
) -> tuple[str | None, list[str]]:
    """Create, update or drop the backup table of a run so that it shows the originals that the run holds now.

    The call is idempotent. A failure is a warning: a rollback does not need the table, and a table that is kept too
    long does no harm.

    Args:
        runs: the directories of the run.
        fresh: skip the search for tables of an earlier attempt.

    Returns:
        The name of the table, or None if there is none, and warnings.
    """
    try:
        return _sync(services, facts, options, runs, fresh), []
    except Exception as error:
        return None, [
            WarningCode.BACKUP_TABLE_NOT_UPDATED.text(
                f"the backup table could not be brought up to date ({error}); a rollback does not need it"
            )
        ]


def _sync(
    services: Services, facts: TableFacts, options: Options, runs: Sequence[Run], fresh: bool
) -> str | None:
    wanted = _backup_content(facts, runs)
    known = [] if fresh else _existing_tables(services, facts, options, runs)
    kept = None
    for name in known:
        if kept is None and wanted is not None and _matches(services, facts, name, wanted):
            kept = name
        else:
            services.metastore.drop_backup(name, runs[0].run_id, facts.name)
    if kept is None and wanted is not None and options.register_backup:  # guard: backup_if_wanted
        kept = _create(services, facts, options, runs, wanted, known)
    return str(kept) if kept else None


def _backup_content(facts: TableFacts, runs: Sequence[Run]) -> _BackupContent | None:
    held: list[tuple[Unit, str]] = []
    for run in runs:
        committed = run.current().of_kind(journal.COMMITTED)  # guard: backup_of_committed_only
        held += [(unit.swap.unit, run.path(unit.swap.old)) for unit in committed]
    if not held:
        return None
    first = held[0][1]
    if not facts.partition_keys:
        return _BackupContent(first, held)
    directory = next(run.directory for run in runs if is_below(first, run.directory))
    return _BackupContent(working_directory_above(first, directory), held)


def _existing_tables(
    services: Services, facts: TableFacts, options: Options, runs: Sequence[Run]
) -> list[TableName]:
    """Return the backup tables that the run has.

    They are identified by the run's journal, else by their table properties, never by their names.
    """
    named = {run.state.backup_table for run in runs if run.state.backup_table}
    if named:
        return [name for name in map(TableName.parse, sorted(named)) if services.metastore.table_exists(name)]
    database = options.backup_database or TableName.parse(facts.name).database
    return services.metastore.backup_tables(runs[0].run_id, database, facts.name)


def _matches(services: Services, facts: TableFacts, name: TableName, wanted: _BackupContent) -> bool:
    """Return whether the table has the wanted content, after dropping partitions whose originals are gone."""
    registered = {unit.key: unit for unit, _ in services.metastore.units(services.metastore.table(name))}
    locations = wanted.locations()
    if any(key not in registered or registered[key].location != path for key, path in locations.items()):
        return False
    gone = [unit for key, unit in registered.items() if key not in locations]
    if gone and facts.partition_keys:
        services.metastore.drop_backup_partitions(name, gone)
    return True


def _create(
    services: Services,
    facts: TableFacts,
    options: Options,
    runs: Sequence[Run],
    wanted: _BackupContent,
    known: Sequence[TableName],
) -> TableName:
    """Create the backup table, and journal its name.

    The directories of the run must exist: the metastore creates missing directories, and a later rename to such a path
    would fail.

    Raises:
        LeaseLost: a directory of the run was renamed by another job.
    """
    for run in runs:
        if services.fs.status(run.directory) is None:  # guard: no_backup_of_fenced_run
            raise LeaseLost(f"{run.directory} was taken over by another job")
    name = known[0] if known else _unused_name(services, facts, options)
    services.metastore.create_backup(name, facts, runs[0].run_id, wanted.root, wanted.units)
    for run in runs:
        if run.state.backup_table != str(name):
            run.journal.append(journal.BACKUP, backup_table=str(name))
    return name


def backup_names(prefix: str, table: str) -> re.Pattern[str]:
    """Return the names that backup tables of a table may have, in lower case, as a pattern."""
    return re.compile(rf"{re.escape(prefix)}_\d{{8}}_\d{{6}}_{re.escape(table)}(_\d+)?".lower())


def _unused_name(services: Services, facts: TableFacts, options: Options) -> TableName:
    """Return a table name that is not in use. Two runs may end within one second, so that a number may be needed.

    Lakekeeper 0.0.6 takes each table `<prefix>_<table>_...` for its backup table: its rollback moves the table to the
    directory that it reads, which would be inside the home. So the time comes first. Its cleanup drops each table
    `<prefix>_<other>_<date>_<time>` without a table `<other>`: a table named by a date and a time gets a number.
    """
    source = TableName.parse(facts.name)
    stamp = services.now().strftime("%Y%m%d_%H%M%S")
    base = f"{options.backup_prefix}_{stamp}_{source.table}"  # guard: backup_not_of_another_tool
    named_by_time = re.search(r"_\d{8}_\d{6}\Z", base)
    first = f"{base}_1" if named_by_time else base  # guard: backup_no_orphan_of_another_tool
    wanted = TableName(options.backup_database or source.database, first)  # guard: backup_database_of_its_own
    name, number = wanted, 2
    while services.metastore.table_exists(name):
        name, number = TableName(wanted.database, f"{base}_{number}"), number + 1
    return name
