"""Compare the measurements from before and after: a table for the user, and a list of problems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from demo.measure import Measurement
from demo.tables import TABLES, DemoTable

Tables = Mapping[str, Measurement]
HEADER = ("table", "files", "bytes", "rows", "planning of a query", "scan")


def render(before: Tables, after: Tables) -> str:
    """Return the table with one line for each of the demo's tables."""
    rows = [HEADER, *(_row(table, before[table.name], after[table.name]) for table in TABLES)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADER))]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    lines = [row[0].ljust(widths[0]) + line[widths[0] :] for row, line in zip(rows, lines, strict=True)]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])


def _row(table: DemoTable, old: Measurement, new: Measurement) -> tuple[str, ...]:
    return (
        table.full_name,
        f"{old.files} -> {new.files}",
        f"{_size(old.bytes)} -> {_size(new.bytes)}",
        f"{old.queries.rows:,} -> {new.queries.rows:,}",
        f"{old.queries.planning:.2f} s -> {new.queries.planning:.2f} s",
        f"{old.queries.scan:.2f} s -> {new.queries.scan:.2f} s",
    )


def _size(size: int) -> str:
    """Return a size as the jobs' reports have it, whose MB are 1,024 KB."""
    return f"{size / 1024**2:.1f} MB"


def objects_line(before: Tables, after: Tables) -> str:
    """Estimate what the same tables would spare a NameNode, which has an object for each file and for each block."""
    old, new = (2 * sum(found.files for found in each.values()) for each in (before, after))
    return (
        f"Estimate for HDFS, with one block for each file: {new:,} objects of the NameNode instead of {old:,}, once a"
        " cleanup has\ndeleted the originals."
    )


def start_problems(before: Tables) -> list[str]:
    """Return the tables that were not created as specified. Then no comparison is possible."""
    return [
        f"{table.full_name}: made {found.files} files and {found.queries.rows} rows"
        for table in TABLES
        for found in [before[table.name]]
        if (found.files, found.queries.rows) != (table.files, table.rows)
    ]


def problems(before: Tables, after: Tables) -> list[str]:
    """Return the differences between what was expected and what was measured."""
    return [
        f"{table.full_name}: {problem}"
        for table in TABLES
        for problem in _problems(table, before[table.name], after[table.name])
    ]


def _problems(table: DemoTable, old: Measurement, new: Measurement) -> Iterator[str]:
    if new.files != table.files_after:
        yield f"{new.files} files, expected {table.files_after}"
    if new.queries.rows != old.queries.rows:
        yield f"{old.queries.rows} rows before, {new.queries.rows} after"
    if new.queries.checksum != old.queries.checksum:
        yield f"the contents differ: checksum {old.queries.checksum}, now {new.queries.checksum}"
    if new.queries.backups != [old.queries.checksum]:
        yield f"the backups hold {new.queries.backups or 'nothing'}, not the originals ({old.queries.checksum})"
    for key, value in old.queries.catalog.items():
        if new.queries.catalog[key] != value:
            yield f"the metastore's {key} changed from {value} to {new.queries.catalog[key]}"
