"""The footers of Parquet files, which parquet-java has read, and Jackson has written as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple

from spark_jobs.core.formats.footers import Footer
from spark_jobs.core.formats.parquet_statistics import contradiction, file_statistics
from spark_jobs.core.formats.parquet_types import parse_message
from spark_jobs.core.messages.errors import Refusal, Unreadable
from spark_jobs.core.messages.refusals import RefusalCode

#: The footer of one file: its path as `file`, and parquet-java's `ParquetMetadata`.
Row = dict[str, Any]


class Reading(NamedTuple):
    """The columns of a file as Spark reads them (`struct` is a StructType's JSON), or the reason why it cannot."""

    struct: str | None
    problem: str | None = None


def parquet_footers(rows: Iterable[tuple[Row, Reading]]) -> list[Footer]:
    """Return one footer for all files that differ only in rows, sizes and figures, as `merged` does.

    Their figures are added up at once, so that thousands of files do not become objects of their own first.

    Args:
        rows: the footers of files as JSON, each with its columns as Spark reads them.

    Raises:
        Unreadable: a file contradicts itself.
        Refusal: a file is encrypted.
    """
    kinds: dict[Hashable, list[Row]] = {}
    readings: dict[Hashable, Reading] = {}
    for row, reading in rows:
        kind = _kind(row)
        kinds.setdefault(kind, []).append(row)
        readings[kind] = reading
    return [_footer_of(group, readings[kind]) for kind, group in kinds.items()]


def _kind(row: Row) -> Hashable:
    """Return what files must have in common to be described by one footer. Spark reads one schema in one way."""
    common = about(row)
    return (
        common["schema"],
        common.get("createdBy"),
        _blooms(_chunks(row)),
        tuple(common["keyValueMetaData"].items()),
    )


def _footer_of(rows: Sequence[Row], reading: Reading) -> Footer:
    """Return the footer of files of one kind."""
    common = about(rows[0])
    leaves, created_by = parse_message(common["schema"]), common.get("createdBy") or ""
    blocks = [block for row in rows for block in _blocks(row)]
    chunks = [chunk for block in blocks for chunk in block["columns"]]
    if contradiction(leaves, blocks) or any(chunk.get("encrypted") for chunk in chunks):
        _refuse(rows)
    codecs: Counter[str] = Counter()
    for chunk in chunks:
        codecs[chunk["codec"]] += chunk["totalSize"]
    names = [_name(row) for row in rows]
    return Footer(
        name=names[0],
        rows=sum(block["rowCount"] for block in blocks),
        codecs=codecs,
        leaves=leaves,
        writer=common["keyValueMetaData"],
        schema=common["schema"],
        struct=reading.struct,
        problem=reading.problem,
        created_by=created_by,
        row_group=max(_largest_of_several(_blocks(row)) for row in rows),
        blooms=_blooms(_chunks(rows[0])),
        statistics=file_statistics(leaves, blocks, created_by),
        others=tuple(names[1:]),
    )


def _refuse(rows: Sequence[Row]) -> None:
    """Raise Unreadable or Refusal for the first of these files that must not be rewritten."""
    for row in rows:
        wrong = contradiction(parse_message(about(row)["schema"]), _blocks(row))
        if wrong:  # guard: values_of_rows
            raise Unreadable(row["file"], wrong)
        if any(chunk.get("encrypted") for chunk in _chunks(row)):
            raise Refusal(
                RefusalCode.ENCRYPTED,
                f"{_name(row)} holds encrypted columns; a rewrite would store them without encryption",
            )


def about(row: Row) -> dict[str, Any]:
    """Return what a footer says of the file as a whole."""
    metadata: dict[str, Any] = row["parquetMetadata"]["fileMetaData"]
    return metadata


def _name(row: Row) -> str:
    return str(row["file"]).rpartition("/")[2]


def _blocks(row: Row) -> list[dict[str, Any]]:
    """Return the row groups of a file."""
    blocks: list[dict[str, Any]] = row["parquetMetadata"]["blocks"]
    return blocks


def _chunks(row: Row) -> list[dict[str, Any]]:
    """Return the chunks of all columns of a file."""
    return [chunk for block in _blocks(row) for chunk in block["columns"]]


def _largest_of_several(blocks: Sequence[dict[str, Any]]) -> int:
    return max(block["totalByteSize"] for block in blocks) if len(blocks) > 1 else 0


def _blooms(chunks: Sequence[dict[str, Any]]) -> frozenset[str]:
    """Return the columns that have a Bloom filter in all row groups."""
    without = {chunk["path"] for chunk in chunks if chunk.get("bloomFilterOffset", -1) < 0}
    return columns_of({chunk["path"] for chunk in chunks} - without)


def columns_of(paths: Iterable[str]) -> frozenset[str]:
    """Return dotted paths of paths of chunks, which are texts of Java lists: `[a, list, element]`."""
    return frozenset(path[1:-1].replace(", ", ".") for path in paths)
