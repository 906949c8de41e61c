"""Clearing a directory that we wrote, and that may have been live: what others put there is never deleted."""

from __future__ import annotations

import uuid

from spark_jobs.core import layout
from spark_jobs.core.errors import Unsafe
from spark_jobs.core.model import Manifest
from spark_jobs.shell.cluster import Cluster
from spark_jobs.shell.journal_store import Run
from spark_jobs.shell.ports import FileSystem

#: Markers without content; the ones beside the originals hold for the directory.
MARKERS = ("_SUCCESS",)


def carry(fs: FileSystem, ours: Manifest, folder: str, live: str) -> int:
    """Moves every file that `ours` does not list into the live directory, under a name that is free there.

    Returns how many of them are data. Raises Unsafe where one of ours was changed: whose rows it holds nobody can tell.
    """
    try:
        changes = ours.diff(fs.manifest(folder))
    except FileNotFoundError:
        return 0
    here = {file.name for file in fs.manifest(folder).files}
    changed = [file.name for file in changes.lost if file.is_data and file.name in here]
    if changed:
        raise Unsafe(f"{folder}/{changed[0]} was changed by somebody and is kept; {live} has the originals")
    added = [file for file in changes.added if file.name not in MARKERS]
    for file in added:
        fs.rename(f"{folder}/{file.name}", f"{live}/{layout.fresh_name(file.name, uuid.uuid4().hex[:8])}")
    return sum(file.is_data for file in added)


def forget(fs: FileSystem, ours: Manifest, folder: str) -> bool:
    """Deletes our files, each by its journaled name and only if it is unchanged, then the empty folder.

    Returns False where something else is left, which then stays.
    """
    try:
        here = {file.name: file for file in fs.manifest(folder).files}
    except FileNotFoundError:
        return True
    known = {file.name: file for file in ours.files}
    for name, file in here.items():
        if known.get(name) == file or (name in MARKERS and file.length == 0):
            fs.delete_file(f"{folder}/{name}")
    return fs.delete_empty(folder)


def remove_empty_folders(cluster: Cluster, run: Run) -> None:
    """Removes a run's working folders as far as they are empty; never a file, and never its journal."""
    for entry in cluster.fs.list(run.folder):
        if entry.is_dir and entry.name.startswith("__"):
            _remove_empty(cluster.fs, entry.path)


def _remove_empty(fs: FileSystem, folder: str) -> None:
    for entry in fs.list(folder):
        if entry.is_dir:
            _remove_empty(fs, entry.path)
    if not fs.list(folder):
        fs.delete_empty(folder)
