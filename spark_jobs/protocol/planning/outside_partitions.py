"""Checks partitions outside their table's root.

Each account that may alter a table can set the location of a partition to a directory of another account.
"""

from __future__ import annotations

from collections.abc import Collection

from spark_jobs.core.messages.errors import Refusal
from spark_jobs.core.messages.refusals import RefusalCode
from spark_jobs.core.records.journal import INTENTS
from spark_jobs.core.rules.eligibility import check_marks
from spark_jobs.core.values.layout import is_below
from spark_jobs.core.values.model import name_of, parent
from spark_jobs.protocol.file_system import FileSystem
from spark_jobs.protocol.listed_directories import Directories
from spark_jobs.protocol.runs.journal_store import Run
from spark_jobs.protocol.runs.trust import Trust


def check_outside(fs: FileSystem, directories: Directories, trust: Trust, location: str, root: str) -> None:
    """Raise Refusal if a partition outside the root may belong to an account that is not trusted.

    The owner of the directory decides. Its permissions prove nothing, because the account of the jobs may be allowed to
    write everywhere.
    """
    if location == root or is_below(location, root):
        return
    check_server(fs, location)
    status = fs.status(location)
    if status is not None:
        trust.check_partition(status)  # guard: owner_of_partition_outside
    for directory in _table_roots(location):
        check_marks(directories(directory).names, directory)  # guard: table_format_marks_outside


def check_units_outside(fs: FileSystem, run: Run, root: str, places: Collection[str], trust: Trust) -> None:
    """Raise Refusal if a run would rename or change a directory outside the root that belongs to another account.

    The home of one directory serves the directory that is beside it now. An account may have moved the home there.

    Args:
        places: the locations of the partitions in the metastore.
    """
    for unit in run.state.units.values():
        live = unit.swap.live
        may_change = unit.kind in INTENTS or (live in places and not unit.final)
        status = fs.status(live) if may_change and not is_below(live, root) else None
        if status is not None:
            trust.check_partition(status)


def check_server(fs: FileSystem, location: str) -> None:
    """Raise Refusal for a local path if the default file system is another one.

    Such a path is on the local disk of each machine that reads it. On the driver's machine it may be any directory.
    """
    if location.startswith("file:") and not fs.qualify("/").startswith(
        "file:"
    ):  # guard: local_disk_of_the_driver
        raise Refusal(
            RefusalCode.OBJECT_STORE, f"{location} is on the local disk of each machine that reads it"
        )


def _table_roots(location: str) -> list[str]:
    """Return the paths where a table has its root if this directory is a partition of it.

    They are above the directories of partition values, and above `data`, a directory that Iceberg has in its root.
    """
    directory = parent(location)
    while "=" in name_of(directory):
        directory = parent(directory)
    return [directory, parent(directory)] if name_of(directory) == "data" else [directory]
