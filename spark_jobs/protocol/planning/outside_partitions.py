"""Partitions that lie outside their table's root: whoever may alter a table can point one at a directory of others."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from spark_jobs.core.eligibility import check_marks
from spark_jobs.core.errors import Refusal
from spark_jobs.core.journal import INTENTS
from spark_jobs.core.layout import is_below
from spark_jobs.core.model import name_of, parent
from spark_jobs.core.refusals import RefusalCode
from spark_jobs.protocol.file_system import FileSystem, Status
from spark_jobs.protocol.runs.journal_store import Run
from spark_jobs.protocol.runs.trust import Trust


def check_outside(
    fs: FileSystem, listing: Callable[[str], Sequence[Status]], trust: Trust, location: str, root: str
) -> None:
    """Raises Refusal where a partition outside the root is not the table's to have rewritten.

    The account that maintains all tables may write there; whether the table's owner may, tells the directory's owner.
    """
    if location == root or is_below(location, root):
        return
    check_server(fs, location)
    found = fs.status(location)
    if found is not None:
        trust.check_partition(found)  # guard: owner_of_partition_outside
    for folder in _table_roots(location):
        check_marks([entry.name for entry in listing(folder)], folder)  # guard: table_format_marks_outside


def check_units_outside(fs: FileSystem, run: Run, root: str, places: Collection[str], trust: Trust) -> None:
    """Raises Refusal where a run would move, or change, a directory outside the root that is somebody else's: a home
    beside one directory serves the one that it lies beside now, and may have been moved there. `places` are the
    metastore's."""
    for unit in run.state.units.values():
        live = unit.swap.live
        at_stake = unit.kind in INTENTS or (live in places and not unit.final)
        found = fs.status(live) if at_stake and not is_below(live, root) else None
        if found is not None:
            trust.check_partition(found)


def check_server(fs: FileSystem, location: str) -> None:
    """Raises Refusal for a local path where the default file system is another: it is that of whichever machine looks,
    such as the driver's own programs."""
    if location.startswith("file:") and not fs.qualify("/").startswith(
        "file:"
    ):  # guard: local_disk_of_the_driver
        raise Refusal(
            RefusalCode.OBJECT_STORE, f"{location} is on the local disk of whichever machine looks for it"
        )


def _table_roots(location: str) -> list[str]:
    """Where the root of a table would be that has this directory as its own: above its partitions' folders, and, as
    Iceberg has it, above `data`."""
    folder = parent(location)
    while "=" in name_of(folder):
        folder = parent(folder)
    return [folder, parent(folder)] if name_of(folder) == "data" else [folder]
