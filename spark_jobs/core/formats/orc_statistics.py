"""The exact figures in the footer of an ORC file.

Only files of ORC's Java writer count. Other writers have left figures out, or written them in another way.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from spark_jobs.core.formats.leaf_statistics import EMPTY, UNKNOWN, Bounds, LeafStatistics

#: Versions of ORC's Java writer, by the names in its enumeration. The very first one is missing: it wrote wrong
#: statistics, and writers that are not Java's use its number.
_ORDERED = frozenset({"ORC_101", "ORC_135", "ORC_517", "ORC_203", "ORC_14"})
_COUNTED = _ORDERED | {"HIVE_8732", "HIVE_4243", "HIVE_12055", "HIVE_13083"}
#: The first day, counted from 1970-01-01, that is the same in the Julian and the Gregorian calendar.
_GREGORIAN = -141427
_NO_TEXT = "\ufffd"
_Statistics = Mapping[str, Any]


@dataclass(frozen=True)
class OrcColumn:
    """A column at any depth: its lower-cased dotted path, and its category (`bigint`, `struct`)."""

    path: str
    category: str


def file_statistics(
    columns: Sequence[OrcColumn], of_columns: Sequence[_Statistics], rows: int, writer: str
) -> dict[str, LeafStatistics]:
    """Return the figures of each column.

    Args:
        columns: the columns in the order of their ids, without the root.
        of_columns: ORC's statistics of the root and of these columns, as its classes are in JSON.
        writer: the version of the writer.
    """
    if not rows:
        return {column.path: EMPTY for column in columns}
    # A file without indexes has statistics in which nothing is counted, not even its rows.
    counted = len(of_columns) == len(columns) + 1 and of_columns[0]["numberOfValues"] == rows
    if writer not in _COUNTED or not counted:
        return {column.path: UNKNOWN for column in columns}
    figures = {column.path: _of_column(column, each, writer) for column, each in zip(columns, of_columns[1:])}
    # Two names can have one path, and then neither is compared.
    return figures if len(figures) == len(columns) else {path: UNKNOWN for path in figures}


def may_hold_nan(columns: Sequence[OrcColumn], of_columns: Sequence[_Statistics]) -> bool:
    """Tell whether a column of the file may hold NaNs: they are in the sum of its values. Arguments as above."""
    return any(
        column.category in _FLOATS and math.isnan(float(each.get("sum", math.nan)))
        for column, each in zip(columns, of_columns[1:])
        if each["numberOfValues"]
    )


def bounded_by_nan(columns: Sequence[OrcColumn], stripes: Sequence[Sequence[_Statistics]]) -> frozenset[str]:
    """Return the paths of the columns whose values begin with a NaN in a stripe.

    ORC's writer compares each value with the first one, and nothing is less or greater than a NaN, so that it is
    minimum and maximum of the stripe (`DoubleStatisticsImpl.updateDouble`).

    Args:
        columns: as above.
        stripes: for each stripe, the statistics of the root and of these columns.
    """
    return frozenset(
        column.path
        for stripe in stripes
        for column, each in zip(columns, stripe[1:])
        if column.category in _FLOATS
        if each["numberOfValues"] and math.isnan(float(each.get("minimum", math.nan)))
    )


def _of_column(column: OrcColumn, statistics: _Statistics, writer: str) -> LeafStatistics:
    non_null = int(statistics["numberOfValues"])
    if not non_null:
        return LeafStatistics(None, 0, None, 0)
    ordered = writer in _ORDERED
    bounds = _BOUNDS.get(column.category) if ordered else None
    total = _TOTALS.get(column.category) if ordered else None
    return LeafStatistics(None, non_null, bounds and bounds(statistics), total and total(statistics))


def _integers(column: _Statistics, minimum: str = "minimum", maximum: str = "maximum") -> Bounds | None:
    return _ordered(column.get(minimum), column.get(maximum))


def _floats(column: _Statistics) -> Bounds | None:
    """Return None if there may be a NaN: which values are compared then depends on where it stands."""
    if math.isnan(float(column.get("sum", math.nan))):
        return None
    return _ordered(float(column["minimum"]), float(column["maximum"]))


def _decimals(column: _Statistics) -> Bounds | None:
    texts = column.get("minimum"), column.get("maximum")
    return None if None in texts else _ordered(*(Decimal(str(text)) for text in texts))


def _texts(column: _Statistics) -> Bounds | None:
    """Return None if a text was cut: ORC tells it from a whole one."""
    texts = column.get("minimum"), column.get("maximum")
    if None in texts or any(_NO_TEXT in str(text) for text in texts):
        return None
    return _ordered(*texts)


def _days(column: _Statistics) -> Bounds | None:
    """Return None for days that the calendars count differently."""
    bounds = _integers(column, "minimumDayOfEpoch", "maximumDayOfEpoch")
    return bounds if bounds and bounds.minimum >= _GREGORIAN else None


def _ordered(lowest: Any, highest: Any) -> Bounds | None:
    """Return the bounds; None where they are missing, which ORC shows by a minimum above the maximum."""
    if lowest is None or highest is None or not lowest <= highest:
        return None
    return Bounds(lowest, highest)


def _sum(column: _Statistics) -> int | None:
    return int(column["sum"]) if column.get("sumDefined") else None


def _length(column: _Statistics) -> int | None:
    """Return the length of all texts in bytes. ORC says 0 where a file lacks it."""
    return int(column.get("sum") or 0) or None


def _true(column: _Statistics) -> int | None:
    return column.get("trueCount")


#: CHAR is left out, whose values some writers pad, and timestamps, which depend on time zones.
_INTEGERS = ("tinyint", "smallint", "int", "bigint")
_FLOATS = ("float", "double")
_BOUNDS: Mapping[str, Callable[[_Statistics], Bounds | None]] = {
    **dict.fromkeys(_INTEGERS, _integers),
    **dict.fromkeys(_FLOATS, _floats),
    "decimal": _decimals,
    "string": _texts,
    "varchar": _texts,
    "date": _days,
}
_TOTALS: Mapping[str, Callable[[_Statistics], int | None]] = {
    **dict.fromkeys(_INTEGERS, _sum),
    "string": _length,
    "varchar": _length,
    "binary": _length,
    "boolean": _true,
}
