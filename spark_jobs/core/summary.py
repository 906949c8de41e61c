"""The line that a job logs for each table: its outcome, how many units have which outcome, and what is gained."""

from __future__ import annotations

from collections.abc import Sequence

from spark_jobs.core.outcomes import UnitOutcome
from spark_jobs.core.wire import TableReport, UnitReport


def summary(table: TableReport) -> str:
    """Return the outcome of a table in one line, for example `done, 2 units flagged, 600 -> 3 files (estimate)`."""
    why = f" ({table.code}: {table.reason})" if table.code else f" ({table.reason})" if table.reason else ""
    return ", ".join([f"{table.outcome}{why}", *_outcomes(table.units), *_gain(table)])


def _outcomes(units: Sequence[UnitReport]) -> list[str]:
    """Return the number of units of each outcome, with the reason if it is the same for all of them."""
    found: dict[UnitOutcome, list[str | None]] = {}
    for unit in units:
        found.setdefault(unit.outcome, []).append(unit.reason)
    return [_counted(outcome, reasons) for outcome, reasons in found.items()]


def _counted(outcome: UnitOutcome, reasons: Sequence[str | None]) -> str:
    why = f" ({reasons[0]})" if reasons[0] and len(set(reasons)) == 1 else ""
    return f"{len(reasons)} unit{'' if len(reasons) == 1 else 's'} {outcome}{why}"


def _gain(table: TableReport) -> list[str]:
    """Return files and bytes before and after. Of units that are only flagged, the files after are an estimate."""
    data = table.to_json()
    before, after = data["before"], data["after"]
    if expected := sum(map(_expected, table.units)):
        return [f"{before['files']} -> {before['files'] - expected} files (estimate)"]
    if before["files"] or after["files"]:
        return [f"{before[what]} -> {after[what]} {what}" for what in ("files", "bytes")]
    return []


def _expected(unit: UnitReport) -> int:
    """Return how many files less a flagged unit would have after its compaction."""
    flagged = unit.outcome == UnitOutcome.FLAGGED and unit.needs_compaction
    return (unit.files or 0) - (unit.target_files or 0) if flagged else 0
