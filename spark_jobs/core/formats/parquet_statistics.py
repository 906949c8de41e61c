"""The exact figures in the footer of a Parquet file.

Counts of entries are taken from every writer: readers find the end of a column by them. All other figures are taken
only from writers that are known to be right. Others have written wrong null counts, or statistics that are no exact
minimum and maximum.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any

from spark_jobs.core.formats.leaf_statistics import EMPTY, UNKNOWN, Bounds, LeafStatistics, combined
from spark_jobs.core.formats.parquet_types import dotted

#: Statistics in the text form of parquet-java. It leaves out the bounds of columns with NaN, of INT96, and those that
#: were written in the wrong order (PARQUET-251).
_WITH_BOUNDS = re.compile(r"min: (.*), max: (.*), num_nulls(?:: (\d+)| not defined)", re.DOTALL)
_WITHOUT_BOUNDS = re.compile(r"num_nulls: (\d+), min/max not defined")
_BETWEEN = ", max: "
_WRITER = re.compile(r"(parquet-mr|parquet-cpp-arrow) version (\d+)\.(\d+)")
#: From 1.10 on, parquet-java knows NaN and the order of each type.
_ORDERED_JAVA = (1, 10)
#: From 12 on, Arrow's figures of dictionaries are right. Its null counts below lists are not
#: (https://github.com/apache/arrow/issues/51097).
_RIGHT_ARROW = (12, 0)
#: What Java writes in place of bytes that are no text.
_NO_TEXT = "\ufffd"
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d\.\d+(\+0000)?)?")
#: The years of a minimum in which texts have the order of the values. Java writes a year before Christ without a sign:
#: 4713 BC, the first day of some calendars, looks like a late one. Tables hold no days from 2999 to 1583 BC.
_FIRST_YEAR, _LAST_YEAR = "1583", "2999"


@dataclass(frozen=True)
class Reliability:
    """Which statistics of a writer are taken: null counts, null counts of nested leaves, and bounds."""

    nulls: bool = False
    nested: bool = False
    bounds: bool = False


def file_statistics(
    leaves: Mapping[str, str], blocks: Sequence[Mapping[str, Any]], created_by: str
) -> dict[str, LeafStatistics]:
    """Return the figures of each leaf.

    Args:
        leaves: the types of leaves and groups, by lower-cased dotted path.
        blocks: the row groups, as parquet-java's classes are in JSON.
    """
    nested = _nested(tuple(leaves.items()))
    statistics: dict[str, list[LeafStatistics]] = {path: [] for path in nested}
    reliability = _reliability(created_by)
    for block in blocks:
        for chunk in block["columns"]:
            path = _path(chunk["path"])
            if path in statistics:
                statistics[path].append(_of_chunk(chunk, leaves[path], reliability, nested[path]))
    return {path: _over_blocks(parts, len(blocks)) for path, parts in statistics.items()}


def contradiction(leaves: Mapping[str, str], blocks: Sequence[Mapping[str, Any]]) -> str | None:
    """Return how a row group contradicts itself; None if it does not.

    A leaf that is neither repeated nor below a group has a value, or a null, in each row.
    """
    nested = _nested(tuple(leaves.items()))
    for block in blocks:
        for chunk in block["columns"]:
            path, values = _path(chunk["path"]), int(chunk["valueCount"])
            if not nested.get(path, True) and values != block["rowCount"]:
                return f"a row group of {block['rowCount']} rows has {values} values of column '{path}'"
    return None


@lru_cache(maxsize=256)
def _nested(leaves: tuple[tuple[str, str], ...]) -> Mapping[str, bool]:
    """Return the leaves without the groups, and whether each is repeated or below a group."""
    groups = {path for path, kind in leaves if _is_group(kind)}
    return {
        path: path.rpartition(".")[0] in groups or kind.startswith("repeated")
        for path, kind in leaves
        if path not in groups
    }


def _over_blocks(parts: list[LeafStatistics], blocks: int) -> LeafStatistics:
    """Combine one part for each row group. Two names can have one text, and then there are more."""
    if not blocks:
        return EMPTY
    return combined(parts) if len(parts) == blocks else UNKNOWN


@lru_cache(maxsize=4096)
def _path(text: str) -> str:
    """Return the path of a Java list in its text form, `[a, list, element]`."""
    return dotted(text[1:-1].split(", ")).lower()


def _is_group(kind: str) -> bool:
    return kind.startswith(("group", "repeated group"))


@lru_cache(maxsize=256)
def _reliability(created_by: str) -> Reliability:
    match = _WRITER.match(created_by)
    if not match:
        return Reliability()
    version = int(match[2]), int(match[3])
    if match[1] == "parquet-mr":
        return Reliability(nulls=True, nested=True, bounds=version >= _ORDERED_JAVA)
    return Reliability(nulls=version >= _RIGHT_ARROW, bounds=version >= _RIGHT_ARROW)


def _of_chunk(chunk: Mapping[str, Any], kind: str, reliability: Reliability, nested: bool) -> LeafStatistics:
    entries, text = int(chunk["valueCount"]), chunk.get("statistics") or ""
    if not reliability.nulls or (nested and not reliability.nested):
        return LeafStatistics(entries)
    match = _WITH_BOUNDS.fullmatch(text)
    counted = match[3] if match else _nulls(text)
    non_null = entries - int(counted) if counted is not None else None
    if non_null is None or non_null < 0:
        return LeafStatistics(entries)
    bounds = _bounds(kind, match[1], match[2]) if match and reliability.bounds and non_null else None
    return LeafStatistics(entries, non_null, bounds, None if non_null else 0)


def _nulls(text: str) -> str | None:
    match = _WITHOUT_BOUNDS.fullmatch(text)
    return match[1] if match else None


def _bounds(kind: str, minimum: str, maximum: str) -> Bounds | None:
    """Return the bounds of a chunk; None where the type has no order that all writers agree on."""
    parse = _parser(kind)
    if parse is None or _BETWEEN in minimum or _BETWEEN in maximum:
        return None
    try:
        lowest, highest = parse(minimum), parse(maximum)
    except (ValueError, ArithmeticError):
        return None
    if lowest is None or highest is None or lowest > highest:
        return None
    if parse is _as_moment and not _FIRST_YEAR <= lowest[:4] <= _LAST_YEAR:
        return None
    return Bounds(lowest, highest, truncated=parse is _as_text)


def _as_text(text: str) -> str | None:
    return None if _NO_TEXT in text else text


def _as_moment(text: str) -> str | None:
    """Return a date or timestamp of four digits a year, whose texts have the order of the values."""
    return text if _MOMENT.fullmatch(text) else None


def _as_float(text: str) -> float | None:
    number = float(text)
    return None if math.isnan(number) else number


#: Unsigned numbers, decimals in bytes, and bytes that are no text are left out: writers have sorted them in several
#: orders.
_PARSERS: tuple[tuple[str, Callable[[str], Any]], ...] = (
    (r"boolean", ("false", "true").index),
    (r"int(32|64)( \(INTEGER\(\d+,true\)\))?", int),
    (r"int32 \(DATE\)|int64 \(TIMESTAMP\(\w+,\w+\)\)", _as_moment),
    (r"int(32|64) \(DECIMAL\(\d+,\d+\)\)", Decimal),
    (r"float|double", _as_float),
    (r"binary \(STRING\)", _as_text),
)


@lru_cache(maxsize=1024)
def _parser(kind: str) -> Callable[[str], Any] | None:
    plain = re.sub(r"\Arepeated | = \d+\Z", "", kind)
    return next((parse for pattern, parse in _PARSERS if re.fullmatch(pattern, plain)), None)
