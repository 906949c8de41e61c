"""The units of a report as a text: what was done to each, and which were left alone and why."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lakekeeper_provider.report import open_units
from lakekeeper_provider.report.report import unit_name, units_with

#: How many units of a table are listed, the largest first. The others are counted; the report has all of them.
UNITS_SHOWN = 20
#: How many tables have their units listed. Of a database of thousands of tables, the log would not be readable.
TABLES_SHOWN = 50
_DONE = ("compacted", "restored", "cleaned", "forgotten")

Unit = Mapping[str, Any]
Row = tuple[str, ...]


@dataclass(frozen=True)
class _Shown:
    """How many units of a table and how many tables are listed, and whether in the order of the report."""

    units: int = UNITS_SHOWN
    tables: int = TABLES_SHOWN
    in_order: bool = False


def lines(tables: Sequence[Mapping[str, Any]], *, in_order: bool = False, whole: bool = False) -> list[str]:
    """Return the units of each table: those that were flagged or processed, and those that were left alone.

    Args:
        in_order: list them as the report does, in the order of their compaction; else the largest first
        whole: list all of them, however many they are
    """
    how = _Shown(sys.maxsize, sys.maxsize, in_order) if whole else _Shown(in_order=in_order)
    blocks = [(table, block) for table in tables if (block := _of_table(table, how))]
    shown = [line for table, block in blocks[: how.tables] for line in (f"{table['table']}:", *block)]
    more = len(blocks) - how.tables
    return [*shown, f"... the units of {more} more tables are in the report"] if more > 0 else shown


def notes(table: Mapping[str, Any]) -> list[str]:
    """Return a note on a table of which no unit has small files, or none of those that have is due."""
    units = table.get("units") or ()
    if units and _all_sound(units):
        threshold = units[0].get("threshold")
        return [f"{len(units)} healthy{'' if threshold is None else f' (small is below {human(threshold)})'}"]
    waiting = [unit for unit in units if unit.get("reason")]
    if not waiting or any(unit["outcome"] != "healthy" for unit in units):
        return []
    return [f"{len(waiting)} of {len(units)} with small files, which stay: {waiting[0]['reason']}"]


def grid(rows: Sequence[Row], indent: str = "") -> list[str]:
    """Return the rows as lines with aligned columns."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    return [
        f"{indent}{'  '.join(cell.ljust(width) for cell, width in zip(row, widths))}".rstrip() for row in rows
    ]


def human(size: float) -> str:
    """Return a number of bytes with a readable unit."""
    for unit in ("B", "KB", "MB", "GB"):
        # Not 1013.6 KB, but 1.0 MB.
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TB"


def _of_table(table: Mapping[str, Any], how: _Shown) -> list[str]:
    units = table.get("units") or ()
    if _all_sound(units):
        return []
    flagged, largest = units_with(table, ("flagged",)), replace(how, in_order=False)
    return [
        *_grid_of([unit for unit in flagged if _is_assessed(unit)], _FLAGGED, _flagged, how),
        *_counted("", (_strategy(unit) for unit in flagged)),
        *_counted("", (_engine(unit) for unit in flagged)),
        *_grid_of([unit for unit in flagged if not _is_assessed(unit)], _PROCESSED, _processed, largest),
        *_grid_of(units_with(table, _DONE), _PROCESSED, _processed, largest),
        *_left_alone(table, how.units),
        *open_units.lines(table),
        *_healthy(table),
    ]


def _all_sound(units: Iterable[Unit]) -> bool:
    return all(unit["outcome"] == "healthy" and not unit.get("reason") for unit in units)


def _is_assessed(unit: Unit) -> bool:
    """Tell whether the size of the files was the reason: it is not in the dry run of a cleanup."""
    return unit.get("threshold") is not None


_FLAGGED = (
    "partition",
    "files",
    "bytes",
    "average",
    "median",
    "threshold",
    "files after (estimate)",
    "score",
    "engine",
    "strategy",
    "minutes (estimate)",
)
_PROCESSED = (
    "partition",
    "files",
    "fewer files",
    "bytes",
    "average",
    "rows",
    "seconds",
    "outcome",
    "what would be done",
)


def _flagged(unit: Unit) -> Row:
    sizes = (unit.get(key) for key in ("bytes", "avg_file_size", "median_file_size", "threshold"))
    score, engine = unit.get("score"), unit.get("engine") or ""
    plan = (_count(unit.get("target_files")), _score(score), engine, unit.get("strategy") or "")
    seconds = unit.get("estimated_seconds")
    minutes = "" if seconds is None else f"{seconds / 60:.1f}"
    return (_name(unit), _count(unit.get("files")), *map(_size, sizes), *plan, minutes)


def _score(score: float | None) -> str:
    if score is None:
        return ""
    return f"{score:,.0f}" if score >= 10 else f"{score:.2f}"


def _processed(unit: Unit) -> Row:
    if unit["outcome"] == "cleaned":
        # What was deleted are originals, and no table has fewer files than before.
        unit = {**unit, "files_after": None, "bytes_after": None}
    return (
        _name(unit),
        _change(unit, "files", _count),
        _reduction(unit.get("files"), unit.get("files_after")),
        _change(unit, "bytes", _size),
        _averages(unit),
        _count(unit.get("rows")),
        "-" if unit.get("seconds") is None else f"{unit['seconds']:.1f}",
        unit["outcome"],
        (unit.get("reason") or "") if unit["outcome"] == "flagged" else "",
    )


def _grid_of(units: Sequence[Unit], header: Row, row: Callable[[Unit], Row], how: _Shown) -> list[str]:
    """Return the units as a table, in their order, or those with the most files first."""
    if not units:
        return []
    ordered = units if how.in_order else sorted(units, key=lambda unit: -(unit.get("files") or 0))
    shown, rest = ordered[: how.units], ordered[how.units :]
    return [*grid(_filled([header, *map(row, shown)]), indent="  "), *_rest(rest)]


def _filled(rows: Sequence[Row]) -> list[Row]:
    """Return the rows without the columns that are empty below their header."""
    columns = [column for column in zip(*rows) if any(column[1:])]
    return list(zip(*columns))


def _rest(units: Sequence[Unit]) -> list[str]:
    if not units:
        return []
    files, size = (sum(unit.get(key) or 0 for unit in units) for key in ("files", "bytes"))
    return [f"  ... and {len(units)} more: {files} files, {human(size)}"]


def _left_alone(table: Mapping[str, Any], most: int) -> list[str]:
    """Return the units that were refused, changed, deferred or failed, with code and reason, and count the rest."""
    units = [
        unit for unit in table.get("units") or () if unit["outcome"] not in (*_DONE, "flagged", "healthy")
    ]
    shown, rest = units[:most], units[most:]
    lines = [f"  {_name(unit)}: {_why(unit)}" for unit in shown]
    counted = ", ".join(f"{count} {what}" for what, count in Counter(map(_kind, rest)).items())
    return [*lines, f"  ... and {counted}"] if rest else lines


def _why(unit: Unit) -> str:
    reason = unit.get("reason")
    return f"{_kind(unit)}: {reason}" if reason else _kind(unit)


def _kind(unit: Unit) -> str:
    return " ".join(filter(None, (unit["outcome"], unit.get("code"))))


def _healthy(table: Mapping[str, Any]) -> list[str]:
    """Count the healthy units, and say why those whose files are small stay as they are."""
    units = units_with(table, ("healthy",))
    counted = [f"  {len(units)} healthy"] if units else []
    return [*counted, *_counted("of them: ", (unit.get("reason") for unit in units))]


def _strategy(unit: Unit) -> str | None:
    """Return which files of a unit are rewritten and why; None if there is nothing to say about it."""
    reason = unit.get("strategy_reason")
    return f"{unit.get('strategy')}: {reason}" if reason else None


def _engine(unit: Unit) -> str | None:
    """Return which engine writes a unit that was to be written by Arrow, and why; None of any other unit."""
    reason = unit.get("engine_reason")
    return f"{unit.get('engine')}, not arrow: {reason}" if reason else None


def _counted(what: str, reasons: Iterable[str | None]) -> list[str]:
    """Count the units for each of the reasons that most of them have."""
    counts = Counter(filter(None, reasons))
    return [f"  {count} {what}{reason}" for reason, count in counts.most_common(5)]


def _name(unit: Unit) -> str:
    return unit_name(unit["unit"])


def _change(unit: Unit, key: str, show: Callable[[Any], str]) -> str:
    before, after = unit.get(key), unit.get(f"{key}_after")
    return show(before) if after is None else f"{show(before)} -> {show(after)}"


def _reduction(before: int | None, after: int | None) -> str:
    """Return by how many per cent there are fewer files; nothing if there are not fewer."""
    if not before or after is None or after >= before:
        return ""
    return f"{100 * (before - after) / before:.1f} %"


def _averages(unit: Unit) -> str:
    """Return the average file size before and after."""
    if unit.get("files_after") is None:
        return ""
    sizes = (_average(unit, "bytes", "files"), _average(unit, "bytes_after", "files_after"))
    return " -> ".join(map(_size, sizes))


def _average(unit: Unit, size: str, files: str) -> float | None:
    return unit[size] / unit[files] if unit.get(files) and unit.get(size) is not None else None


def _count(value: int | None) -> str:
    return "-" if value is None else str(value)


def _size(value: float | None) -> str:
    return "-" if value is None else human(value)
