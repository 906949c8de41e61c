"""Who makes the small files of the tables of an analysis, as a text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lakekeeper_provider.report.units import TABLES_SHOWN, grid, human

_HEADER = ("owner", "file names", "files", "bytes", "newest")


def lines(tables: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return, for each table that has small files, how fast it grows and who has written the newest of them."""
    listed = [table for table in tables if table.get("small_file_writers")]
    shown = [line for table in listed[:TABLES_SHOWN] for line in _of_table(table)]
    more = len(listed) - TABLES_SHOWN
    return [*shown, f"... the writers of {more} more tables are in the report"] if more > 0 else shown


def _of_table(table: Mapping[str, Any]) -> list[str]:
    rows = [_HEADER, *map(_row, table["small_file_writers"])]
    listed, units = table.get("listed_units") or 0, len(table.get("units") or ())
    return [
        f"{table['table']}: {table.get('files_per_day') or 0:.1f} new files per day in the last 7 days"
        f" ({listed} of {units} units were listed); the newest small files:",
        *grid(rows, indent="  "),
    ]


def _row(writer: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        writer["owner"] or "-",
        writer["pattern"],
        str(writer["files"]),
        human(writer["bytes"]),
        writer["newest"],
    )
