"""The exact figures in the footer of a Parquet file.

Counts of entries are taken from every writer: readers find the end of a column by them. All other figures are taken
only from writers that are known to be right. Others have written wrong null counts, or statistics that are no exact
minimum and maximum.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from decimal import Decimal
from functools import lru_cache
from typing import Any, NamedTuple

from spark_jobs.core.formats.leaf_statistics import EMPTY, UNKNOWN, Bounds, LeafStatistics, combined
from spark_jobs.core.formats.parquet_types import dotted

#: Statistics in the text form of parquet-java. It leaves out the bounds of columns with NaN, of INT96, and those that
#: were written in the wrong order (PARQUET-251).
WITH_BOUNDS = re.compile(r"min: (.*), max: (.*), num_nulls(?:: (\d+)| not defined)", re.DOTALL)
WITHOUT_BOUNDS = re.compile(r"num_nulls: (\d+), min/max not defined")
BETWEEN = ", max: "
_WRITER = re.compile(r"(parquet-mr|parquet-cpp-arrow) version (\d+)\.(\d+)")
#: From 1.10 on, parquet-java knows NaN and the order of each type.
_ORDERED_JAVA = (1, 10)
#: From 12 on, Arrow's figures of dictionaries are right. Its null counts below lists are not
#: (https://github.com/apache/arrow/issues/51097).
_RIGHT_ARROW = (12, 0)
#: What Java writes in place of bytes that are no text.
NO_TEXT = "\ufffd"
MOMENT = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d\.\d+(\+0000)?)?")
#: The years of a minimum in which texts have the order of the values. Java writes a year before Christ without a sign:
#: 4713 BC, the first day of some calendars, looks like a late one. Tables hold no days from 2999 to 1583 BC.
FIRST_YEAR, LAST_YEAR = "1583", "2999"


class Order(Enum):
    """How the texts of bounds are compared: as numbers, as floating-point numbers, or as they are."""

    NUMBER = "number"
    FLOAT = "float"
    MOMENT = "moment"
    TEXT = "text"


class BoundsParser(NamedTuple):
    """How bounds of a type are read. `parse` raises ValueError or ArithmeticError, or returns None, for no bound."""

    parse: Callable[[str], Any]
    order: Order

    def bounds(self, minimum: str, maximum: str) -> Bounds | None:
        """Return the bounds of these texts; None if they are none in the order of the type."""
        try:
            lowest, highest = self.parse(minimum), self.parse(maximum)
        except (ValueError, ArithmeticError):
            return None
        if lowest is None or highest is None or lowest > highest:
            return None
        if self.order is Order.MOMENT and not FIRST_YEAR <= lowest[:4] <= LAST_YEAR:
            return None
        return Bounds(lowest, highest, truncated=self.parse is _as_text)


@dataclass(frozen=True)
class Reliability:
    """Which statistics of a writer are taken: null counts, null counts of nested leaves, and bounds."""

    nulls: bool = False
    nested: bool = False
    bounds: bool = False

    def of_nulls(self, nested: bool) -> bool:
        """Tell whether the null counts of a leaf are taken; if not, nothing is but the number of its entries."""
        return self.nulls and (self.nested or not nested)


def file_statistics(
    leaves: Mapping[str, str], blocks: Sequence[Mapping[str, Any]], created_by: str
) -> dict[str, LeafStatistics]:
    """Return the figures of each leaf.

    Args:
        leaves: the types of leaves and groups, by lower-cased dotted path.
        blocks: the row groups, as parquet-java's classes are in JSON.
    """
    nested = nested_leaves(tuple(leaves.items()))
    chunks: dict[str, list[Mapping[str, Any]]] = {path: [] for path in nested}
    reliability = reliability_of(created_by)
    for block in blocks:
        for chunk in block["columns"]:
            path = path_of(chunk["path"])
            if path in chunks:
                chunks[path].append(chunk)
    return {
        path: _over_blocks(found, len(blocks), leaves[path], reliability, nested[path])
        for path, found in chunks.items()
    }


def contradiction(leaves: Mapping[str, str], blocks: Sequence[Mapping[str, Any]]) -> str | None:
    """Return how a row group contradicts itself; None if it does not.

    No count is negative: with others it could add up to a sum that looks right. A leaf that is neither repeated nor
    below a group has a value, or a null, in each row.
    """
    nested = nested_leaves(tuple(leaves.items()))
    for block in blocks:
        rows = block["rowCount"]
        for chunk in block["columns"]:
            values = chunk["valueCount"]
            if values == rows >= 0:
                continue
            path = path_of(chunk["path"])
            if values < 0 or rows < 0 or not nested.get(path, True):
                return f"a row group of {rows} rows has {values} values of column '{path}'"
    return None


@lru_cache(maxsize=256)
def nested_leaves(leaves: tuple[tuple[str, str], ...]) -> Mapping[str, bool]:
    """Return the leaves without the groups, and whether each is repeated or below a group."""
    groups = {path for path, kind in leaves if _is_group(kind)}
    return {
        path: path.rpartition(".")[0] in groups or kind.startswith("repeated")
        for path, kind in leaves
        if path not in groups
    }


def _over_blocks(
    chunks: Sequence[Mapping[str, Any]], blocks: int, kind: str, reliability: Reliability, nested: bool
) -> LeafStatistics:
    """Combine one chunk for each row group. Two names can have one text, and then there are more."""
    if not blocks:
        return EMPTY
    if len(chunks) != blocks:
        return UNKNOWN
    if not reliability.of_nulls(nested):
        return LeafStatistics(sum(chunk["valueCount"] for chunk in chunks))
    parser = bounds_parser(kind) if reliability.bounds else None
    return combined(
        [_of_chunk(chunk["valueCount"], chunk.get("statistics") or "", parser) for chunk in chunks]
    )


@lru_cache(maxsize=4096)
def path_of(text: str) -> str:
    """Return the path of a Java list in its text form, `[a, list, element]`."""
    return dotted(text[1:-1].split(", ")).lower()


def _is_group(kind: str) -> bool:
    return kind.startswith(("group", "repeated group"))


@lru_cache(maxsize=256)
def reliability_of(created_by: str) -> Reliability:
    match = _WRITER.match(created_by)
    if not match:
        return Reliability()
    version = int(match[2]), int(match[3])
    if match[1] == "parquet-mr":
        return Reliability(nulls=True, nested=True, bounds=version >= _ORDERED_JAVA)
    return Reliability(nulls=version >= _RIGHT_ARROW, bounds=version >= _RIGHT_ARROW)


def _of_chunk(entries: int, text: str, parser: BoundsParser | None) -> LeafStatistics:
    """Return the figures of a chunk.

    Args:
        parser: None where the type has no order that all writers agree on, or the writer's bounds are not taken.
    """
    match = WITH_BOUNDS.fullmatch(text)
    counted = match[3] if match else _nulls(text)
    non_null = entries - int(counted) if counted is not None else None
    if non_null is None or non_null < 0:
        return LeafStatistics(entries)
    bounds = _bounds(parser, match[1], match[2]) if match and parser and non_null else None
    return LeafStatistics(entries, non_null, bounds, None if non_null else 0)


def _nulls(text: str) -> str | None:
    match = WITHOUT_BOUNDS.fullmatch(text)
    return match[1] if match else None


def _bounds(parser: BoundsParser, minimum: str, maximum: str) -> Bounds | None:
    """Return the bounds of a chunk; None where the text does not tell where one ends."""
    return None if BETWEEN in minimum or BETWEEN in maximum else parser.bounds(minimum, maximum)


def _as_text(text: str) -> str | None:
    return None if NO_TEXT in text else text


def _as_moment(text: str) -> str | None:
    """Return a date or timestamp of four digits a year, whose texts have the order of the values."""
    return text if MOMENT.fullmatch(text) else None


def _as_float(text: str) -> float | None:
    number = float(text)
    return None if math.isnan(number) else number


def _as_float32(text: str) -> float | None:
    """Return a number of 32 bits. Java writes it with more digits than it needs before version 19, and reads both."""
    number = _as_float(text)
    return None if number is None else float(struct.unpack("<f", struct.pack("<f", number))[0])


#: Unsigned numbers, decimals in bytes, and bytes that are no text are left out: writers have sorted them in several
#: orders.
_PARSERS = tuple(
    (pattern, BoundsParser(parse, order))
    for pattern, parse, order in (
        (r"boolean", ("false", "true").index, Order.TEXT),
        (r"int(32|64)( \(INTEGER\(\d+,true\)\))?", int, Order.NUMBER),
        (r"int32 \(DATE\)|int64 \(TIMESTAMP\(\w+,\w+\)\)", _as_moment, Order.MOMENT),
        (r"int(32|64) \(DECIMAL\(\d+,\d+\)\)", Decimal, Order.NUMBER),
        (r"float", _as_float32, Order.FLOAT),
        (r"double", _as_float, Order.FLOAT),
        (r"binary \(STRING\)", _as_text, Order.TEXT),
    )
)


@lru_cache(maxsize=1024)
def bounds_parser(kind: str) -> BoundsParser | None:
    """Return how the bounds of a leaf of this type are read; None where no order is the same for all writers."""
    plain = re.sub(r"\Arepeated | = \d+\Z", "", kind)
    return next((parser for pattern, parser in _PARSERS if re.fullmatch(pattern, plain)), None)
