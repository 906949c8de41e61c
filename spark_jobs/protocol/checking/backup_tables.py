"""The backup tables of a table's runs: each shows the originals that its run holds, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from spark_jobs.core.messages.damage import DamageCode, Finding
from spark_jobs.core.messages.errors import LakekeeperError
from spark_jobs.core.records import journal
from spark_jobs.core.records.journal_bounds import uri_path
from spark_jobs.core.values import ddl
from spark_jobs.core.values.layout import is_below, is_inside_home
from spark_jobs.core.values.model import TableName
from spark_jobs.protocol.checking.scope import Scope, UnitOfRun
from spark_jobs.protocol.execution.backup_table import backup_names
from spark_jobs.protocol.runs.journal_store import Run

_RUN, _SOURCE = "lakekeeper.run_id", "lakekeeper.source_table"


def check_backup_tables(scope: Scope) -> Iterator[Finding]:
    """Check the backup tables that the journals name, and those that name this table as their source."""
    if scope.table.dropped and not scope.runs:
        return  # Nothing that can be read has the table's name.
    check = _BackupCheck(scope)
    try:
        yield from check.all()
    except (LakekeeperError, OSError) as error:
        yield Finding(
            DamageCode.NOT_CHECKED, scope.name, f"the backup tables could not be looked at: {error}"
        )


class _BackupCheck:
    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._metastore = scope.services.metastore
        self._fs = scope.services.fs
        self._by_id: dict[str, list[Run]] = {}
        for run in scope.runs:
            self._by_id.setdefault(run.run_id, []).append(run)

    def all(self) -> Iterator[Finding]:
        for name in self._tables():
            run_id = self._metastore.properties(name).get(_RUN, "")
            runs = self._by_id.get(run_id, [])
            # A run at work, or one that is not known, may hold what the table shows.
            if run_id not in self._scope.unknown and not any(run.state.unfinished for run in runs):
                yield from self._check(name, run_id, runs)
        for run_id, runs in self._by_id.items():
            yield from self._missing(run_id, runs)

    def _tables(self) -> list[TableName]:
        """Return the backup tables of this table. Names only limit what is read; properties decide."""
        options, source = self._scope.table.options, TableName.parse(self._scope.name)
        database = options.backup_database or source.database
        ours = backup_names(options.backup_prefix, source.table)
        names = self._metastore.tables(database) if self._metastore.database_exists(database) else []
        likely = {TableName(database, name) for name in names if ours.fullmatch(name.lower())}
        named = {
            TableName.parse(run.state.backup_table) for run in self._scope.runs if run.state.backup_table
        }
        known = sorted(likely | {name for name in named if self._metastore.table_exists(name)})
        return [name for name in known if self._metastore.properties(name).get(_SOURCE) in self._sources()]

    def _sources(self) -> set[str]:
        """Return the names that the table has, and had when its runs were made."""
        return {self._scope.name, *(run.state.table for run in self._scope.runs)}

    def _check(self, name: TableName, run_id: str, runs: Sequence[Run]) -> Iterator[Finding]:
        wanted = _originals(runs)
        facts = self._metastore.table(name)
        if not is_inside_home(facts.storage.location) and str(name) not in {
            run.state.backup_table for run in runs
        }:
            return  # CREATE TABLE LIKE has copied the properties of a backup table: this one is a user's.
        registered = {
            unit.key: self._as_in_journal(unit.location, wanted) for unit, _ in self._metastore.units(facts)
        }
        foreign = [path for path in registered.values() if self._is_elsewhere(path, wanted, runs)]
        command = ddl.drop(str(name))
        if foreign:
            text = f"backup table {name} reads {foreign[0]}, which does not hold originals of run {run_id}"
            yield Finding(DamageCode.BACKUP_TABLE_ELSEWHERE, str(name), text, command, run_id=run_id)
        elif registered != wanted:
            what = "does not show the originals" if wanted else "shows originals"
            text = f"backup table {name} {what} that run {run_id} holds{'' if wanted else ' no more'}"
            yield Finding(DamageCode.BACKUP_TABLE_STALE, str(name), text, command, run_id=run_id)

    def _as_in_journal(self, path: str, wanted: Mapping[str, str]) -> str:
        """Return the path that the journal has for the same directory: a nameservice may have got another name."""
        same = [each for each in wanted.values() if path != each and uri_path(path) == uri_path(each)]
        return next((each for each in same if self._fs.identity(each) == self._fs.identity(path)), path)

    def _is_elsewhere(self, path: str, wanted: Mapping[str, str], runs: Sequence[Run]) -> bool:
        """Return whether a path exists and is outside the directories of the run."""
        ours = path in wanted.values() or any(is_below(path, run.directory) for run in runs)
        return not ours and bool(runs) and self._fs.status(path) is not None

    def _missing(self, run_id: str, runs: Sequence[Run]) -> Iterator[Finding]:
        """Find a run that holds originals and has no backup table. It is not missed where none is to be registered."""
        if not self._scope.table.options.register_backup or any(run.state.unfinished for run in runs):
            return
        names = {run.state.backup_table for run in runs} - {None}
        if not _originals(runs) or any(self._metastore.table_exists(TableName.parse(str(n))) for n in names):
            return
        name = next(iter(sorted(map(str, names))), None)
        which = f"backup table {name}" if name else "the backup table"
        text = f"{which} of run {run_id} does not exist; a rollback does not need it"
        command = f"{self._scope.rollback(runs[0])}, or cleanup, when the originals are not needed"
        yield Finding(
            DamageCode.BACKUP_TABLE_MISSING, name or runs[0].directory, text, command, run_id=run_id
        )


def _originals(runs: Sequence[Run]) -> dict[str, str]:
    """Return where the originals of each unit are that these directories of one run hold."""
    held = [UnitOfRun(run, state) for run in runs for state in run.state.of_kind(journal.COMMITTED)]
    return {unit.state.swap.unit.key: unit.old for unit in held}
