"""The snapshots of a commit log as rows: what each one records, and the manifests of its base and its delta."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Optional

from spark_jobs.core.messages.printable import printable_lines
from spark_jobs.core.messages.readable import grid
from spark_jobs.core.records.snapshots import ManifestList, Snapshot
from spark_jobs.core.wire.report import utc

Row = dict[str, Any]
#: Returns base list and delta list of a snapshot; None if they are not kept any more, or cannot be read.
ListsOf = Callable[[Snapshot], Optional[tuple[ManifestList, ManifestList]]]


def rows(snapshots: Iterable[Snapshot], lists_of: ListsOf, limit: int | None = None) -> list[Row]:
    """Return one row for each snapshot, newest first.

    Args:
        limit: the number of rows; None for all. The lists of other snapshots are not read.
    """
    ordered = sorted(snapshots, key=lambda snapshot: snapshot.id)
    if limit is not None:  # One more tells whether the oldest row has merged what was before it.
        ordered = ordered[max(0, len(ordered) - limit - 1) :]
    before: dict[int, set[str]] = {0: set()}
    listed = []
    for snapshot in ordered:
        lists = lists_of(snapshot)
        listed.append(_row(snapshot, lists, before.get(snapshot.id - 1)))
        if lists:
            before[snapshot.id] = _names(lists[0]) | _names(lists[1])
    return listed[::-1][:limit]


def _row(snapshot: Snapshot, lists: tuple[ManifestList, ManifestList] | None, before: set[str] | None) -> Row:
    """Return the row of a snapshot.

    Args:
        before: the names of the manifests of the snapshot before it; None if they are not known.
    """
    base, delta = lists or (None, None)
    return {
        "id": snapshot.id,
        "kind": snapshot.kind,
        "run_id": snapshot.run_id,
        "at": utc(snapshot.committed_at),
        "schema": snapshot.schema_hash,
        "total_rows": snapshot.total_rows,
        "total_row_units": snapshot.total_row_units,
        "base": base and _figures(base, snapshot.base_rows),
        "delta": delta and _figures(delta, snapshot.rows),
        "merged": None if base is None or before is None else _names(base) != before,
    }


def _figures(listed: ManifestList, count: int | None) -> Row:
    return {
        "manifests": len(listed.manifests),
        "files_added": sum(meta.added for meta in listed.manifests),
        "files_deleted": sum(meta.deleted for meta in listed.manifests),
        "rows": count,
    }


def _names(listed: ManifestList) -> set[str]:
    return {meta.name for meta in listed.manifests}


_COLUMNS = (
    *("snapshot", "at (UTC)", "kind", "run", "schema", "rows (partitions)"),
    *("base: manifests", "files", "rows", "delta: manifests", "files", "rows", "merged"),
)
_NO_FIGURES = ("-", "-", "-")


def render(table: str, rows: Sequence[Row]) -> str:
    """Return the rows as a table of text."""
    if not rows:
        return f"{table}: the commit log has no snapshot"
    return printable_lines([f"{table}: snapshots", *grid([_COLUMNS, *map(_cells, rows)])])


def _cells(row: Row) -> tuple[str, ...]:
    total = "-" if row["total_rows"] is None else f"{row['total_rows']:,} ({row['total_row_units']})"
    merged = {None: "-", True: "yes", False: "no"}[row["merged"]]
    return (
        str(row["id"]),
        row["at"].replace("T", " ").rstrip("Z"),
        row["kind"],
        row["run_id"],
        (row["schema"] or "-").removeprefix("sha256:")[:8],
        total,
        *_shown(row["base"]),
        *_shown(row["delta"]),
        merged,
    )


def _shown(figures: Row | None) -> tuple[str, ...]:
    if figures is None:
        return _NO_FIGURES
    files = f"+{figures['files_added']} -{figures['files_deleted']}"
    count = "-" if figures["rows"] is None else f"{figures['rows']:,}"
    return str(figures["manifests"]), files, count
