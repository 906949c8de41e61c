"""Before and after: the table for the reader, and what must hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from demo.measure import Measured
from demo.tables import TABLES, DemoTable

Tables = Mapping[str, Measured]
HEAD = ("table", "files", "bytes", "rows", "same query")


def render(before: Tables, after: Tables) -> str:
    rows = [HEAD, *(_row(table, before[table.name], after[table.name]) for table in TABLES)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(HEAD))]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    lines = [row[0].ljust(widths[0]) + line[widths[0] :] for row, line in zip(rows, lines, strict=True)]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])


def _row(table: DemoTable, old: Measured, new: Measured) -> tuple[str, ...]:
    return (
        table.full_name,
        f"{old.files} -> {new.files}",
        f"{_size(old.bytes)} -> {_size(new.bytes)}",
        f"{old.asked.rows:,} -> {new.asked.rows:,}",
        f"{old.asked.seconds:.2f} s -> {new.asked.seconds:.2f} s",
    )


def _size(size: int) -> str:
    return f"{size / 1e6:.1f} MB"


def start_problems(before: Tables) -> list[str]:
    """The tables as they were made: otherwise the comparison says nothing."""
    return [
        f"{table.full_name}: made {found.files} files and {found.asked.rows} rows"
        for table in TABLES
        for found in [before[table.name]]
        if (found.files, found.asked.rows) != (table.files, table.rows)
    ]


def problems(before: Tables, after: Tables) -> list[str]:
    """Every promise that was not kept."""
    return [
        f"{table.full_name}: {problem}"
        for table in TABLES
        for problem in _problems(table, before[table.name], after[table.name])
    ]


def _problems(table: DemoTable, old: Measured, new: Measured) -> Iterator[str]:
    if new.files != table.files_after:
        yield f"{new.files} files, expected {table.files_after}"
    if new.asked.rows != old.asked.rows:
        yield f"{old.asked.rows} rows before, {new.asked.rows} after"
    if new.asked.checksum != old.asked.checksum:
        yield f"the contents differ: checksum {old.asked.checksum}, now {new.asked.checksum}"
    if new.asked.backups != [old.asked.checksum]:
        yield f"the backups hold {new.asked.backups or 'nothing'}, not the originals ({old.asked.checksum})"
    for key, value in old.asked.catalog.items():
        if new.asked.catalog[key] != value:
            yield f"the metastore's {key} changed from {value} to {new.asked.catalog[key]}"
