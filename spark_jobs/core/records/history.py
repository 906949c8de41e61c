"""The history of a table: the runs that changed it, when, by whom, and which of them can still be rolled back."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any, Optional

from spark_jobs.core.messages.printable import printable_lines
from spark_jobs.core.messages.readable import grid, human
from spark_jobs.core.records import journal
from spark_jobs.core.records.change import Change, changes_of
from spark_jobs.core.records.journal import RunState, UnitState
from spark_jobs.core.records.settled_runs import SettledRun
from spark_jobs.core.records.snapshots import COMPACT, Sizes, Snapshot, Token, UnitChange
from spark_jobs.core.wire.report import utc

POSSIBLE, DONE, CLEANED, SUPERSEDED = "possible", "done", "cleaned", "superseded"

#: The journals of a table by run id. A run has one journal in each home that it uses.
Runs = Mapping[str, Sequence[RunState]]
Row = dict[str, Any]
UnitsOf = Callable[[Snapshot], Optional[Sequence[UnitChange]]]


def rows(
    snapshots: Iterable[Snapshot],
    runs: Runs,
    logged: Collection[Token],
    settled: Sequence[SettledRun] = (),
    units_of: UnitsOf | None = None,
) -> list[Row]:
    """Return one row for each change, newest first. Changes that are not in the commit log come from the journals.

    Args:
        units_of: returns the units of a snapshot, or None if they are not kept any more. Without it the rows have no
            results of units.
        logged: the tokens of all units of these runs that are in snapshots.
        settled: the runs whose journals are deleted.
    """
    undo = {run_id: rollback(run_id, runs, settled) for run_id in [*runs, *(run.run_id for run in settled)]}
    entries = [(s.committed_at, s.id, _logged(s, undo.get(s.run_id), units_of)) for s in snapshots]
    for run_id, states in runs.items():
        lacking = [change.without(logged) for change in changes_of(run_id, states)]
        entries += [
            (c.at, _AFTER_SNAPSHOTS, _unlogged(c, undo[run_id], units_of is not None))
            for c in lacking
            if c.units
        ]
        entries += [(at, _AFTER_SNAPSHOTS, row) for at, row in _interrupted(run_id, states, undo[run_id])]
    return [row for _, _, row in sorted(entries, key=lambda item: item[:2], reverse=True)]


#: Sorts a change without a snapshot number after a snapshot of the same time.
_AFTER_SNAPSHOTS = 1 << 62


def of_table(snapshots: Iterable[Snapshot], table: str, location: str) -> list[Snapshot]:
    """Return the snapshots of this table, by its name, or by its location if it was renamed since."""
    return [s for s in snapshots if s.table == table or s.location == location]


def rollback(run_id: str, runs: Runs, settled: Sequence[SettledRun] = ()) -> str | None:
    """Return whether this run can be rolled back: POSSIBLE, SUPERSEDED, DONE or CLEANED.

    None means that the run has never swapped a unit. Only the journals are read, and not the directories: whether a
    writer has overwritten a unit since is checked by the rollback itself.
    """
    units = [unit for state in runs.get(run_id, ()) for unit in state.units.values()]
    held = [unit for unit in units if not unit.final]
    if held:
        others = [s for other, states in runs.items() if other != run_id for s in states]
        gone = [run for run in settled if run.run_id != run_id]
        return SUPERSEDED if all(_superseded(unit, others, gone) for unit in held) else POSSIBLE
    kinds = {unit.kind for unit in units}.union(*(run.kinds for run in settled if run.run_id == run_id))
    if journal.CLEANED in kinds:
        return CLEANED
    return DONE if journal.ROLLED_BACK in kinds else None


def _superseded(unit: UnitState, others: Iterable[RunState], settled: Iterable[SettledRun]) -> bool:
    """Tell whether a later run has compacted the unit again.

    Then the later run must be rolled back first.
    """
    key, at = unit.swap.unit.key, unit.committed_at
    if at is not None and any(at < run.replaced[key] for run in settled if key in run.replaced):
        return True
    same = [state.units.get(unit.swap.unit.key) for state in others]
    return any(
        later is not None
        and later.kind not in (journal.ROLLED_BACK, journal.DISCARDED)
        and later.committed_at is not None
        and unit.committed_at is not None
        and later.committed_at > unit.committed_at
        for later in same
    )


def _logged(snapshot: Snapshot, undo: str | None, units_of: UnitsOf | None) -> Row:
    row = _row(
        snapshot.run_id,
        snapshot.kind,
        snapshot.committed_at,
        snapshot.who,
        snapshot.units,
        snapshot.rows,
        undo,
    )
    row = {**row, **_sizes(snapshot.before, snapshot.after), "snapshot": snapshot.id, "unlogged": False}
    row["seconds"] = snapshot.seconds
    return row if units_of is None else {**row, "results": _results(units_of(snapshot))}


def _unlogged(change: Change, undo: str | None, results: bool) -> Row:
    swapped = sum(unit.rows for unit in change.units)
    row = _row(change.run_id, change.kind, change.at, change.who, len(change.units), swapped, undo)
    row = {**row, **_sizes(change.before, change.after), "seconds": change.seconds}
    return {**row, "results": _results(change.units)} if results else row


def _results(units: Sequence[UnitChange] | None) -> list[Row] | None:
    """Return what was done to each unit; None if it is not kept any more."""
    return None if units is None else [_result(unit) for unit in units]


def _result(unit: UnitChange) -> Row:
    values = dict(json.loads(unit.unit))
    return {"unit": values, **_sizes(unit.before, unit.after), "rows": unit.rows, "seconds": unit.seconds}


def _interrupted(run_id: str, states: Sequence[RunState], undo: str | None) -> list[tuple[datetime, Row]]:
    """Return a row for a run that has an open intent, and has committed no swap yet; else no row.

    Such a run is active, or it was killed.
    """
    if changes_of(run_id, states) or not any(state.has_open_intent for state in states):
        return []
    row = _row(run_id, COMPACT, states[0].started, states[0].user, 0, 0, undo)
    return [(states[0].started, {**row, **_sizes(Sizes(), Sizes())})]


def _row(
    run_id: str, kind: str, at: datetime, who: str | None, units: int, swapped: int, undo: str | None
) -> Row:
    return {
        "snapshot": None,
        "run_id": run_id,
        "kind": kind,
        "at": utc(at),
        "who": who,
        "units": units,
        "rows": swapped,
        "seconds": None,
        "rollback": undo if kind == COMPACT else None,
        "unlogged": True,
    }


def _sizes(before: Sizes, after: Sizes) -> Row:
    return {"before": asdict(before), "after": asdict(after)}


_COLUMNS = ("snapshot", "at (UTC)", "kind", "run", "who", "units", "files", "bytes", "seconds", "rollback")


def render(table: str, rows: Sequence[Row], older: int = 0) -> str:
    """Return the rows as a table of text. `older` is the number of rows that are not shown."""
    if not rows:
        return f"{table}: no run is on record"
    shown = grid([_COLUMNS, *(_cells(row) for row in rows)])
    more = [f"  ... and {older} older"] if older else []
    return printable_lines([table, *shown, *more, shown[1], f"  {_sum(rows)}", *_units_text(rows)])


def _units_text(runs: Sequence[Row]) -> list[str]:
    """Return a line for each unit of each run, if the rows have them."""
    lines = []
    for row in runs:
        for unit in row.get("results") or ():
            name = "/".join(f"{key}={value}" for key, value in unit["unit"].items()) or "table"
            files, _, seconds = _figures(unit)
            lines.append(
                f"  {row['run_id']} {row['kind']} {name}: {files} files, {unit['rows']} rows, {seconds} s"
            )
    return lines


def _figures(row: Row) -> tuple[str, str, str]:
    before, after = row["before"], row["after"]
    files = f"{before['files']} -> {after['files']}"
    sizes = f"{human(before['bytes'])} -> {human(after['bytes'])}"
    return files, sizes, "-" if row["seconds"] is None else f"{row['seconds']:.1f}"


def _sum(rows: Sequence[Row]) -> str:
    """Return how many of the rows can be rolled back, and what their originals hold."""
    held = [row["before"] for row in rows if row["rollback"] == POSSIBLE]
    runs = f"{len(rows)} {'entry' if len(rows) == 1 else 'entries'}"
    if not held:
        return f"{runs}, none can be rolled back"
    files, size = (sum(each[what] for each in held) for what in ("files", "bytes"))
    return f"{runs}, {len(held)} can be rolled back: {files:,} original files, {human(size)}"


def _cells(row: Row) -> tuple[str, ...]:
    return (
        "unlogged" if row["unlogged"] else str(row["snapshot"]),
        row["at"].replace("T", " ").rstrip("Z"),
        row["kind"],
        row["run_id"],
        row["who"] or "-",
        str(row["units"]),
        *_figures(row),
        row["rollback"] or "-",
    )
