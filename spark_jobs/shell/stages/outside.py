"""Partitions that lie outside their table's root: whoever may alter a table can point one at a directory of others."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from spark_jobs.core.eligibility import check_marks
from spark_jobs.core.layout import is_below
from spark_jobs.core.model import name_of, parent
from spark_jobs.shell.ports import FileSystem, Status
from spark_jobs.shell.state.trust import Trust


def check_outside(
    fs: FileSystem, listing: Callable[[str], Sequence[Status]], trust: Trust, location: str, root: str
) -> None:
    """Raises Refusal where a partition outside the root is not the table's to have rewritten.

    The account that maintains all tables may write there; whether the table's owner may, tells the directory's owner.
    """
    if location == root or is_below(location, root):
        return
    found = fs.status(location)
    if found is not None:
        trust.check_partition(found)  # guard: owner_of_partition_outside
    for folder in _table_roots(location):
        check_marks([entry.name for entry in listing(folder)], folder)  # guard: table_format_marks_outside


def _table_roots(location: str) -> list[str]:
    """Where the root of a table would be that has this directory as its own: above its partitions' folders, and, as
    Iceberg has it, above `data`."""
    folder = parent(location)
    while "=" in name_of(folder):
        folder = parent(folder)
    return [folder, parent(folder)] if name_of(folder) == "data" else [folder]
