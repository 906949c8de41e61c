"""The backup table of a run: a projection of its journal that people and query engines can read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spark_jobs.core import journal
from spark_jobs.core.eligibility import TableFacts
from spark_jobs.core.errors import Held
from spark_jobs.core.layout import is_below, working_folder_above
from spark_jobs.core.model import TableName, Unit
from spark_jobs.core.options import Options
from spark_jobs.protocol.runs.journal_store import Run
from spark_jobs.protocol.services import Services


@dataclass(frozen=True)
class _Wanted:
    """What the backup table of a run should show: its root, and each unit where its originals lie."""

    root: str
    units: Sequence[tuple[Unit, str]]

    def places(self) -> dict[str, str]:
        return {unit.key: place for unit, place in self.units}


def sync_backup_table(
    services: Services, facts: TableFacts, options: Options, runs: Sequence[Run], fresh: bool = False
) -> tuple[str | None, list[str]]:
    """Makes the backup table of a run, whose folders `runs` are, equal to what it holds now. Idempotent.

    Returns its name, and warnings: a rollback does not need the table, and one that stays too long does no harm.
    `fresh` spares a search for tables of an earlier attempt.
    """
    try:
        return _project(services, facts, options, runs, fresh), []
    except Exception as error:
        return None, [
            f"the backup table could not be brought up to date ({error}); a rollback does not need it"
        ]


def _project(
    services: Services, facts: TableFacts, options: Options, runs: Sequence[Run], fresh: bool
) -> str | None:
    wanted = _wanted(facts, runs)
    known = [] if fresh else _known(services, facts, options, runs)
    kept = None
    for name in known:
        if kept is None and wanted is not None and _matches(services, facts, name, wanted):
            kept = name
        else:
            services.metastore.drop_backup(name, runs[0].run_id, facts.name)
    if kept is None and wanted is not None and options.register_backup:  # guard: backup_if_wanted
        kept = _create(services, facts, options, runs, wanted, known)
    return str(kept) if kept else None


def _wanted(facts: TableFacts, runs: Sequence[Run]) -> _Wanted | None:
    held: list[tuple[Unit, str]] = []
    for run in runs:
        committed = run.current().of_kind(journal.COMMITTED)  # guard: backup_of_committed_only
        held += [(unit.swap.unit, run.path(unit.swap.old)) for unit in committed]
    if not held:
        return None
    first = held[0][1]
    if not facts.partition_keys:
        return _Wanted(first, held)
    folder = next(run.folder for run in runs if is_below(first, run.folder))
    return _Wanted(working_folder_above(first, folder), held)


def _known(services: Services, facts: TableFacts, options: Options, runs: Sequence[Run]) -> list[TableName]:
    """The run's tables by its journal, else by their properties; never by their names."""
    named = {run.state.backup_table for run in runs if run.state.backup_table}
    if named:
        return [name for name in map(TableName.parse, sorted(named)) if services.metastore.table_exists(name)]
    database = options.backup_database or TableName.parse(facts.name).database
    return services.metastore.backup_tables(runs[0].run_id, database, facts.name)


def _matches(services: Services, facts: TableFacts, name: TableName, wanted: _Wanted) -> bool:
    """Is the table as it should be, once partitions that have gone are dropped from it?"""
    registered = {unit.key: unit for unit, _ in services.metastore.units(services.metastore.table(name))}
    places = wanted.places()
    if any(key not in registered or registered[key].location != place for key, place in places.items()):
        return False
    gone = [unit for key, unit in registered.items() if key not in places]
    if gone and facts.partition_keys:
        services.metastore.drop_backup_partitions(name, gone)
    return True


def _create(
    services: Services,
    facts: TableFacts,
    options: Options,
    runs: Sequence[Run],
    wanted: _Wanted,
    known: Sequence[TableName],
) -> TableName:
    """Only for folders that are there: the metastore makes what it misses, and a later rename onto it would fail."""
    for run in runs:
        if services.fs.status(run.folder) is None:  # guard: no_backup_of_fenced_run
            raise Held(f"{run.folder} was taken over by another job")
    name = known[0] if known else _free(services, facts, options)
    services.metastore.create_backup(name, facts, runs[0].run_id, wanted.root, wanted.units)
    for run in runs:
        if run.state.backup_table != str(name):
            run.journal.append(journal.BACKUP, backup_table=str(name))
    return name


def _free(services: Services, facts: TableFacts, options: Options) -> TableName:
    """Two runs may end within one second."""
    source = TableName.parse(facts.name)
    stamp = services.now().strftime("%Y%m%d_%H%M%S")
    base = f"{options.backup_prefix}_{source.table}_{stamp}"
    wanted = TableName(options.backup_database or source.database, base)  # guard: backup_database_of_its_own
    name, number = wanted, 2
    while services.metastore.table_exists(name):
        name, number = TableName(wanted.database, f"{base}_{number}"), number + 1
    return name
