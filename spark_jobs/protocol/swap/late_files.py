"""Clearing a directory that we wrote, and that may have been live: what others put there is never deleted."""

from __future__ import annotations

import uuid
from collections.abc import Mapping

from spark_jobs.core import layout
from spark_jobs.core.errors import Unsafe
from spark_jobs.core.model import FileEntry, FileListing, ListingDiff
from spark_jobs.core.other_writers import SUCCESS, SUMMARIES, has_offsets
from spark_jobs.protocol.ports import FileSystem
from spark_jobs.protocol.runs.journal_store import Run


def differences(before: FileListing, now: FileListing) -> ListingDiff:
    """What changed in a directory, flags aside: they carry no rows, and writers leave them as they please. Nor is a
    hidden file missed that was there: its writer may have renamed it, or it went where the live directory is."""
    changes, here = before.diff(now), {file.name: file for file in now.files}
    return ListingDiff(
        added=tuple(file for file in changes.added if not file.is_flag),
        lost=tuple(file for file in changes.lost if not file.is_kept and not _still_flag(file, here)),
    )


def _still_flag(file: FileEntry, here: Mapping[str, FileEntry]) -> bool:
    """A flag that is one still, or is not there any more; with content in it, it is something else."""
    return file.is_flag and here.get(file.name, file).is_flag


def move_late_files(fs: FileSystem, ours: FileListing, folder: str, live: str) -> int:
    """Moves every file that `ours` does not list into the live directory: data under a name that is free there; a flag,
    a hidden file or one that holds offsets under its own, by which somebody looks for it.

    Returns how many of them are data. Raises Unsafe where one of ours was changed: whose rows it holds nobody can tell.
    """
    try:
        here = fs.list_files(folder)
    except FileNotFoundError:
        return 0
    changes = differences(ours, here)
    names = {file.name for file in here.files}
    changed = [file.name for file in changes.lost if file.is_data and file.name in names]
    if changed:
        raise Unsafe(f"{folder}/{changed[0]} was changed by somebody and is kept; {live} has the originals")
    known = {file.name: file for file in ours.files}
    # 0.1.0 has journaled hidden files too: they go where the live directory is all the same.
    # guard: kept_carried
    added = [file for file in here.files if file.is_kept or _is_new(file, known)]
    for file in added:
        _move_file(fs, file, folder, live)
    return sum(file.is_data for file in added)


def _is_new(file: FileEntry, known: Mapping[str, FileEntry]) -> bool:
    """One of ours that was empty is somebody else's, once it has content."""
    ours = known.get(file.name)
    return ours is None or (ours.is_flag and not file.is_flag)


def _move_file(fs: FileSystem, file: FileEntry, folder: str, live: str) -> None:
    if file.name in SUMMARIES:  # guard: summaries_left_behind
        return
    source, target = f"{folder}/{file.name}", f"{live}/{file.name}"
    if not file.is_data or has_offsets(file.name):  # guard: offsets_carried
        try:
            fs.rename(source, target)  # guard: own_name_kept
            return
        except FileExistsError:
            if file.is_flag:
                return  # there is one already
            if _gives_way(fs, live, file.name):
                fs.delete_file(target)
                fs.rename(source, target)
                return
    fs.rename(source, f"{live}/{layout.fresh_name(file.name, uuid.uuid4().hex[:8])}")


def _gives_way(fs: FileSystem, live: str, name: str) -> bool:
    """Is the file that is there the empty one that this was, before its writer filled it?"""
    there = fs.status(f"{live}/{name}")
    return (
        there is not None and there.entry().is_flag and not there.length and not fs.open_files(live, [name])
    )


def move_hidden_files(fs: FileSystem, folder: str, live: str) -> None:
    """Moves the hidden files with content that 0.1.0 took along with the originals back into the live directory."""
    if fs.status(live) is None:
        return
    for file in fs.list_files(folder).files:
        if file.is_kept:
            _move_file(fs, file, folder, live)


def move_conflicting_files(fs: FileSystem, folder: str, live: str) -> int:
    """Moves the files of every directory that was found in the live one's place into the live one."""
    try:
        found = [entry.path for entry in fs.list(folder) if entry.is_dir]
    except FileNotFoundError:
        return 0
    moved_files = 0
    for path in found:
        moved_files += move_late_files(fs, FileListing(()), path, live)
        delete_own_files(fs, FileListing(()), path)
    return moved_files


def delete_own_files(fs: FileSystem, ours: FileListing, folder: str) -> bool:
    """Deletes our files, each by its journaled name and only if it is unchanged, then the empty folder.

    Returns False where something else is left, which then stays.
    """
    try:
        here = {file.name: file for file in fs.list_files(folder).files}
    except FileNotFoundError:
        return True
    known = {file.name: file for file in ours.files}
    for name, file in here.items():
        twin = name in known or name == SUCCESS
        if known.get(name) == file or (
            twin and file.is_flag and not file.length
        ):  # guard: delete_own_files_only
            fs.delete_file(f"{folder}/{name}")
    return fs.delete_empty(folder)


def remove_empty_folders(fs: FileSystem, run: Run) -> None:
    """Removes a run's working folders as far as they are empty; never a file, and never its journal."""
    for entry in fs.list(run.folder):
        if entry.is_dir and entry.name.startswith("__"):
            _remove_empty(fs, entry.path)


def _remove_empty(fs: FileSystem, folder: str) -> None:
    for entry in fs.list(folder):
        if entry.is_dir:
            _remove_empty(fs, entry.path)
    if not fs.list(folder):
        fs.delete_empty(folder)
