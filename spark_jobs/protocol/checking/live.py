"""The live directories: each one that the metastore has, against the last compaction that wrote it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from spark_jobs.core.messages.damage import DamageCode, Finding
from spark_jobs.core.messages.remedies import hdfs, originals
from spark_jobs.core.messages.remedies.runs import after_journals
from spark_jobs.core.records import journal
from spark_jobs.core.records.swap_state import SwapState
from spark_jobs.core.rules.eligibility import may_have_runs
from spark_jobs.core.values import ddl
from spark_jobs.core.values.legacy_leftovers import described
from spark_jobs.core.values.model import FileListing, ListingDiff, Unit, parent
from spark_jobs.protocol.checking.scope import Scope, UnitOfRun
from spark_jobs.protocol.planning.unfinished_runs import taken_away
from spark_jobs.protocol.swap.directories import staging_above
from spark_jobs.protocol.swap.late_files import differences
from spark_jobs.protocol.swap.legacy import leftovers_beside
from spark_jobs.protocol.swap.locations import statement_back

#: States of an open swap in which nothing but a person, or a writer, has taken the live directory away.
_GONE = (SwapState.DROPPED, SwapState.UNKNOWN)


@dataclass(frozen=True)
class Written:
    """A live directory that still is the rewritten directory of a compaction, with all its files unchanged."""

    unit: UnitOfRun
    place: str


class LiveCheck:
    """The check of one table's live directories. `intact` has those that the last compaction left so.

    A directory of another identity was overwritten, rolled back or compacted again: whatever is in it is right.
    """

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._fs = scope.services.fs
        self.intact: list[Written] = []

    def check(self, unit: Unit) -> list[Finding]:
        if not may_have_runs(unit.location):
            return []
        try:
            return list(self._check(unit))
        except OSError as error:
            return [Finding(DamageCode.NOT_CHECKED, unit.location, str(error), unit=unit.to_json())]

    def _check(self, unit: Unit) -> Iterator[Finding]:
        known = list(self._scope.of(unit))
        identity = self._fs.identity(unit.location)
        if identity is None:
            yield from self._missing(unit, known)
            return
        for of_run in known:
            if of_run.rewritten and of_run.state.swap.new_id == identity:
                yield from self._check_files(unit, of_run)

    def _missing(self, unit: Unit, known: list[UnitOfRun]) -> Iterator[Finding]:
        interrupted = [each for each in known if each.state.kind in journal.INTENTS]
        states = [each.paths(self._scope.services).look() for each in interrupted]
        legacy = leftovers_beside(self._fs, unit.location)
        if any(state not in _GONE for state in states) and not legacy:
            return  # Between the renames of a swap: the next job finishes it.
        away = taken_away(self._fs, self._scope.of_others, unit.location)
        if away:
            yield Finding(DamageCode.RUN_UNFINISHED, unit.location, away, unit=unit.to_json())
            return
        text = f"{unit.location} does not exist, although the metastore has it"
        staging = self._young_staging(unit.location)
        if staging:
            text += f"; {staging} belongs to a writer, which may be replacing it"
            yield Finding(DamageCode.LIVE_MISSING, unit.location, text, unit=unit.to_json(), only_notice=True)
            return
        held = [each for each in known if each.held]
        rows = self._only_copy(unit, interrupted)
        text += f"; {described(legacy)}" if legacy else ""
        where, command = self._way_back(unit, rows, legacy, held)
        certain = rows or legacy or held or self._scope.unknown
        yield Finding(
            DamageCode.LIVE_MISSING,
            unit.location,
            text + where,
            command,
            unit.to_json(),
            held[-1].run.run_id if held else None,
            only_notice=not (certain or any(each.rewritten for each in known)),
        )

    def _way_back(
        self, unit: Unit, rows: str | None, legacy: Sequence[str], held: Sequence[UnitOfRun]
    ) -> tuple[str, str | None]:
        """Return where the files of a missing live directory are, and the command that restores it.

        Args:
            legacy: what Lakekeeper 0.0.6 has left. It was live, or written from what was live, after the end of each
                run here, so that a rollback of such a run would lose what was written in between. No command puts it
                back.
        """
        if legacy:
            return "", None
        if rows:
            return f"; {rows} has its files", self._put_back(unit, rows)
        if held:
            return f"; its originals are in {held[-1].old}", self._restore(held[-1], unit)
        if self._scope.unknown:
            return ("; a run whose journal cannot be read may have its files", after_journals())
        return "", f"restore it from a snapshot, or {self._drop(unit)}"

    def _put_back(self, unit: Unit, rows: str) -> str:
        """Return the command that restores a live directory.

        The originals of a run that cannot be read are moved. So, if its journal becomes readable again, the first
        rename of its swap counts as undone. What a readable journal knows at its path is copied.
        """
        moved = rows == self._scope.only_originals.get(unit.location)
        return hdfs.move(rows, unit.location) if moved else hdfs.copy(rows, unit.location)

    def _only_copy(self, unit: Unit, interrupted: list[UnitOfRun]) -> str | None:
        """Return the directory that has the rows of a unit, and that no job puts in its place.

        It came with a copy, or is in a run whose journal cannot be read. Or it is the rewritten directory of a swap
        whose originals somebody has deleted: the next job calls that swap off, and deletes it.
        """
        paths = (each.paths(self._scope.services).rewritten() for each in interrupted)
        left = (self._scope.copies.get(unit.key), self._scope.only_originals.get(unit.location))
        for path in (*left, *paths):
            if path is not None and self._fs.status(path) is not None:
                return path
        return None

    def _restore(self, held: UnitOfRun, unit: Unit) -> str:
        """Return what restores the originals. A rollback needs the unit at the location that the journal has."""
        rollback, locations = (
            self._scope.rollback(held.run),
            {u.key: u.location for u in self._scope.table.units},
        )
        statement = statement_back(held.state.swap, locations, self._scope.name, unit.location)
        return rollback if statement is None else f"{statement}, then {rollback}"

    def _drop(self, unit: Unit) -> str:
        return ddl.drop(self._scope.name, unit.spec)

    def _check_files(self, unit: Unit, of_run: UnitOfRun) -> Iterator[Finding]:
        compacted, live = of_run.state.swap.compacted, self._fs.list_files(unit.location)
        changes = differences(compacted, live)
        lost = [file.name for file in changes.lost if file.is_data]
        if not lost:
            self.intact.append(Written(of_run, unit.location))
        elif not self._overwritten(of_run, compacted, live):
            finding = self._changed(unit, of_run, lost, sum(file.is_data for file in changes.added))
            kept = bool(set(compacted.data) & set(live.files))
            yield replace(finding, only_notice=self._is_life(of_run, changes, live, kept))

    def _overwritten(self, of_run: UnitOfRun, compacted: FileListing, live: FileListing) -> bool:
        """Return whether a writer has replaced all files in place.

        While originals are held, only the table property tells that from a deletion. A cleanup decides alike.
        """
        kept = set(compacted.data) & set(live.files)
        replaced = not kept and any(file.length for file in live.data)
        return replaced and (self._scope.table.options.writers == "overwrite" or not of_run.held)

    def _is_life(self, of_run: UnitOfRun, changes: ListingDiff, live: FileListing, kept: bool) -> bool:
        """Return whether writers of the table, and not damage, explain files that are missing or changed.

        That is so if writers replace all files in place, and have left no rows, or no originals are held any more.
        It is also so if only the modification times differ: the file ids tell that the files are the same ones.
        """
        rows = any(file.length for file in live.data)
        overwrites = self._scope.table.options.writers == "overwrite"
        if overwrites and not kept and not (of_run.held and rows):
            return True
        here = {file.name: (file.length, file.file_id) for file in live.files}
        known = [file for file in changes.lost if file.is_data]
        return all(
            file.file_id is not None and here.get(file.name) == (file.length, file.file_id) for file in known
        )

    def _young_staging(self, live: str) -> str | None:
        """Return the staging directory of a writer above a live directory; None if the writer has died long ago."""
        table = self._scope.table
        base = table.root if table.partitioned else parent(table.root)
        rules = table.writer_rules([self._scope.services.now()])
        staging = staging_above(self._fs, live, base)
        return staging.path if staging and rules.is_young(staging.path, staging.mtime) else None

    def _changed(self, unit: Unit, of_run: UnitOfRun, lost: list[str], added: int) -> Finding:
        text = originals.lost_files(of_run.run.run_id, unit.location, lost)
        command = "restore the files from a snapshot, or write the data again (INSERT OVERWRITE)"
        if of_run.held:
            # A rollback does not replace a directory that was changed: what is in it may be a writer's.
            command = f"{hdfs.move_away(unit.location)}, then {self._scope.rollback(of_run.run)}"
            command += f", then put back the {added} files that writers added" if added else ""
        return of_run.finding(DamageCode.LIVE_CHANGED, unit.location, text, command)
