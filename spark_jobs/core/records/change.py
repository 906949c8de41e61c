"""The changes that a run made to a table, derived from its journals. The commit log publishes them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Callable

from spark_jobs.core.records import journal
from spark_jobs.core.records.journal import RunState, UnitState
from spark_jobs.core.records.row_counts import RowCounts
from spark_jobs.core.records.snapshots import (
    ADD,
    CLEANUP,
    COMPACT,
    DELETE,
    KINDS,
    ROLLBACK,
    Entry,
    Sizes,
    Snapshot,
    Token,
    UnitChange,
)
from spark_jobs.core.rules.eligibility import TableFacts
from spark_jobs.core.values.model import FileListing
from spark_jobs.core.values.numbered_names import following


@dataclass(frozen=True)
class Change:
    """The changes of one kind (compact, rollback or cleanup) that one run made to its units.

    `who`, `schema_hash` and `seconds` are None if they are unknown.
    """

    kind: str
    run_id: str
    table: str
    location: str
    units: tuple[UnitChange, ...] = ()
    entries: tuple[Entry, ...] = ()
    who: str | None = None
    schema_hash: str | None = None
    seconds: float | None = None

    @property
    def at(self) -> datetime:
        """Return the time of the last unit's change. Not for a change without units."""
        return max(unit.at for unit in self.units)

    @property
    def before(self) -> Sizes:
        return Sizes.total(unit.before for unit in self.units)

    @property
    def after(self) -> Sizes:
        return Sizes.total(unit.after for unit in self.units)

    def token(self, unit: UnitChange) -> Token:
        return self.kind, self.run_id, unit.unit, unit.old

    def without(self, logged: Collection[Token]) -> Change:
        """Return the change of the units that are not logged yet. A retry may have swapped more units."""
        units = tuple(unit for unit in self.units if self.token(unit) not in logged)
        keys = {unit.unit for unit in units}
        return replace(self, units=units, entries=tuple(e for e in self.entries if e.unit in keys))

    def snapshot(
        self,
        uuid: str,
        last: Snapshot | None,
        lists: tuple[str, str],
        survey: str | None,
        now: datetime,
        rows: RowCounts,
    ) -> Snapshot:
        """Return the snapshot that publishes this change.

        Args:
            last: the latest snapshot; None if there is none.
            lists: the names of the base list and of the delta list.
            survey: the name of the file with the figures of listings.
            now: the time of the publication.
            rows: the rows of each unit, as far as the log has seen them.
        """
        base, delta = lists
        return Snapshot(
            id=following(last.id, last.location) if last else 1,
            uuid=uuid,
            kind=self.kind,
            run_id=self.run_id,
            table=self.table,
            location=self.location,
            who=self.who,
            committed_at=self.at,
            logged_at=now,
            schema_hash=self.schema_hash,
            base=base,
            delta=delta,
            units=len(self.units),
            rows=sum(unit.rows for unit in self.units),
            before=self.before,
            after=self.after,
            survey=survey,
            seconds=self.seconds,
            total_rows=rows.after,
            total_row_units=rows.units,
            base_rows=rows.before,
            row_counts=rows.file,
        )


def change_of(run_id: str, state: RunState, kind: str, who: str | None = None) -> Change:
    """Return one kind of change from a run's journal.

    A unit that was compacted and rolled back has both changes, so that the log can be derived at any time.

    Args:
        who: the user of a rollback or a cleanup. The user of a compaction is in the journal.
    """
    units = [unit for unit in state.units.values() if _HAPPENED[kind](unit)]
    entries = [entry for unit in units for entry in _ENTRIES[kind](unit)]
    changes = [_unit_change(unit, kind) for unit in units]
    by = state.user if kind == COMPACT else who
    change = Change(kind, run_id, state.table, state.location, tuple(changes), tuple(entries), by)
    return replace(change, seconds=state.seconds) if kind == COMPACT else change


def changes_of(run_id: str, states: Sequence[RunState]) -> list[Change]:
    """Return the changes of a run in all its homes that have units, in the order in which they can happen."""
    parts = [[change_of(run_id, state, kind) for state in states] for kind in KINDS]
    return [joined(changes) for changes in parts if any(change.units for change in changes)]


def joined(changes: Sequence[Change]) -> Change:
    """Return the changes of a run in several homes as one change."""
    units = tuple(unit for change in changes for unit in change.units)
    entries = tuple(entry for change in changes for entry in change.entries)
    # The homes of a run are worked on by one job, so each journal has the duration of the whole.
    seconds = max((change.seconds for change in changes if change.seconds is not None), default=None)
    return replace(changes[0], units=units, entries=entries, seconds=seconds)


_HAPPENED: dict[str, Callable[[UnitState], bool]] = {
    COMPACT: lambda unit: unit.committed_at is not None,
    ROLLBACK: lambda unit: unit.committed_at is not None and unit.kind == journal.ROLLED_BACK,
    CLEANUP: lambda unit: unit.committed_at is not None and unit.kind == journal.CLEANED,
}


def _entries(unit: UnitState, gone: FileListing, come: FileListing) -> list[Entry]:
    key, pairs = unit.swap.unit.key, ((DELETE, gone), (ADD, come))
    return [Entry(kind, key, f.name, f.length, f.mtime) for kind, files in pairs for f in files.data]


_ENTRIES: dict[str, Callable[[UnitState], list[Entry]]] = {
    COMPACT: lambda unit: _entries(unit, unit.swap.originals, unit.swap.compacted),
    ROLLBACK: lambda unit: _entries(unit, unit.swap.compacted, unit.swap.originals),
    CLEANUP: lambda _: [],
}


def _unit_change(unit: UnitState, kind: str) -> UnitChange:
    swap = unit.swap
    originals, compacted = Sizes.of(swap.originals), Sizes.of(swap.compacted)
    before, after = {
        COMPACT: (originals, compacted),
        ROLLBACK: (compacted, originals),
        CLEANUP: (originals, Sizes()),
    }[kind]
    at = unit.committed_at if kind == COMPACT and unit.committed_at else unit.at
    seconds = unit.seconds if kind == COMPACT else None
    return UnitChange(swap.unit.key, swap.old, at, before, after, swap.rows, seconds)


def contradicts(kind: str, logged: UnitChange, entries: Collection[Entry], unit: UnitState) -> bool:
    """Tell whether the log has another change of a unit than its journal.

    Of the files only those are compared that the compaction wrote: a later record may have found more originals.

    Args:
        entries: all entries of the snapshot.
    """
    if kind not in KINDS or not _HAPPENED[kind](unit):
        return True
    if kind == CLEANUP:
        return False
    sizes, side = (logged.after, ADD) if kind == COMPACT else (logged.before, DELETE)
    key, written = unit.swap.unit.key, unit.swap.compacted
    files = {
        (entry.file, entry.bytes, entry.mtime) for entry in entries if (entry.unit, entry.kind) == (key, side)
    }
    known = {(file.name, file.length, file.mtime) for file in written.data}
    return files != known or (sizes, logged.rows) != (Sizes.of(written), unit.swap.rows)


def schema_hash(facts: TableFacts) -> str:
    """Return a hash of the columns and the partition keys.

    By it, a comparison of snapshots shows that the schema was changed.
    """
    text = json.dumps([facts.columns, facts.partition_keys, facts.partition_types])
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()
