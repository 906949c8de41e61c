"""The footers of many Parquet files that were grouped, and their figures added up, before they came to the driver.

What is computed here for a group is what `parquet_statistics` computes for each of its files, combined.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from spark_jobs.core.formats.footers import Footer
from spark_jobs.core.formats.leaf_statistics import EMPTY, UNKNOWN, Bounds, LeafStatistics, combined
from spark_jobs.core.formats.parquet_statistics import (
    Order,
    Reliability,
    bounds_parser,
    nested_leaves,
    path_of,
    reliability_of,
)
from spark_jobs.core.formats.parquet_types import parse_message


class Extremes(NamedTuple):
    """The smallest and the largest text of the bounds of some chunks, in one order."""

    minimum: str
    maximum: str


class ColumnFigures(NamedTuple):
    """The chunks of one column with one codec, in all row groups of the files of a group.

    Attributes:
        path: the text of a Java list: `[a, list, element]`.
        size: the compressed bytes.
        chunks: how many there are.
        entries: the values, nulls included.
        non_null: the values that are not null; None if a chunk does not say it.
        one_per_row: each chunk has as many values as its row group has rows.
        possible: no count is negative, or so large that a sum of them would be another number.
        encrypted: a chunk is encrypted.
        extremes: by order, of all chunks with values; an order is absent if a chunk has no valid bounds in it.
    """

    path: str
    codec: str
    size: int
    chunks: int
    entries: int
    non_null: int | None
    one_per_row: bool
    possible: bool
    encrypted: bool
    extremes: Mapping[Order, Extremes]


class FooterGroup(NamedTuple):
    """Files of one directory that differ only in rows, sizes and figures.

    Attributes:
        names: the names of the files.
        rows: the rows of all files.
        blocks: the row groups of all files.
        row_group: the size in bytes of the largest row group of the files that have several; 0 if none has.
        blooms: the columns, as dotted paths, that have a Bloom filter in all row groups.
    """

    names: tuple[str, ...]
    schema: str
    writer: Mapping[str, str]
    created_by: str
    rows: int
    blocks: int
    row_group: int
    blooms: frozenset[str]
    columns: Sequence[ColumnFigures]

    @property
    def plain(self) -> bool:
        """Tell whether nothing in these files is a reason to refuse one of them."""
        nested = nested_leaves(tuple(parse_message(self.schema).items()))
        return all(
            column.possible
            and not column.encrypted
            and (column.one_per_row or nested.get(path_of(column.path), True))
            for column in self.columns
        )


def footer_of(group: FooterGroup, struct: str | None, problem: str | None) -> Footer:
    """Return the footer of a group, whose columns Spark reads as `struct`."""
    codecs: Counter[str] = Counter()
    for column in group.columns:
        codecs[column.codec] += column.size
    return Footer(
        name=group.names[0],
        others=group.names[1:],
        rows=group.rows,
        codecs=codecs,
        leaves=parse_message(group.schema),
        writer=group.writer,
        schema=group.schema,
        struct=struct,
        problem=problem,
        created_by=group.created_by,
        row_group=group.row_group,
        blooms=group.blooms,
        statistics=_statistics(group),
    )


def _statistics(group: FooterGroup) -> dict[str, LeafStatistics]:
    leaves, reliability = parse_message(group.schema), reliability_of(group.created_by)
    nested = nested_leaves(tuple(leaves.items()))
    columns: defaultdict[str, list[ColumnFigures]] = defaultdict(list)
    for column in group.columns:
        columns[path_of(column.path)].append(column)
    return {
        path: _over_codecs(columns[path], group.blocks, leaves[path], reliability, nested[path])
        for path in nested
    }


def _over_codecs(
    columns: Sequence[ColumnFigures], blocks: int, kind: str, reliability: Reliability, nested: bool
) -> LeafStatistics:
    """Combine the chunks of a leaf. Two names can have one text, and then there are more chunks than row groups."""
    if not blocks:
        return EMPTY
    if sum(column.chunks for column in columns) != blocks:
        return UNKNOWN
    return combined([_of_column(column, kind, reliability, nested) for column in columns])


def _of_column(column: ColumnFigures, kind: str, reliability: Reliability, nested: bool) -> LeafStatistics:
    if column.non_null is None or not reliability.of_nulls(nested):
        return LeafStatistics(column.entries)
    bounds = _bounds(column, kind) if reliability.bounds and column.non_null else None
    return LeafStatistics(column.entries, column.non_null, bounds, None if column.non_null else 0)


def _bounds(column: ColumnFigures, kind: str) -> Bounds | None:
    parser = bounds_parser(kind)
    extremes = column.extremes.get(parser.order) if parser else None
    return parser.bounds(*extremes) if parser and extremes else None
