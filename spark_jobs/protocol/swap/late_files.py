"""Emptying directories that may have been live: files of other writers are moved into the table, never deleted."""

from __future__ import annotations

import uuid
from collections.abc import Mapping

from spark_jobs.core import layout
from spark_jobs.core.errors import Unsafe
from spark_jobs.core.model import FileEntry, FileListing, ListingDiff
from spark_jobs.core.other_writers import SUCCESS, SUMMARIES, has_offsets
from spark_jobs.protocol.file_system import DataDirectories
from spark_jobs.protocol.runs.journal_store import Run


def differences(before: FileListing, now: FileListing) -> ListingDiff:
    """Return what changed in a directory, except for flags, which hold no rows and come and go as writers please. A
    hidden file that is gone does not count: its writer may have renamed it, or it was moved to the live directory."""
    changes, here = before.diff(now), {file.name: file for file in now.files}
    return ListingDiff(
        added=tuple(file for file in changes.added if not file.is_flag),
        lost=tuple(file for file in changes.lost if not file.is_kept and not _still_flag(file, here)),
    )


def _still_flag(file: FileEntry, here: Mapping[str, FileEntry]) -> bool:
    """Return whether a flag still is one, or is gone; with content, it is data or a hidden file."""
    return file.is_flag and here.get(file.name, file).is_flag


def move_late_files(fs: DataDirectories, ours: FileListing, folder: str, live: str) -> int:
    """Move every file that `ours` does not list into the live directory: data under an unused name; flags, hidden files
    and files with offsets in their names under their own, by which their writers look for them.

    Returns how many of them are data. Raises Unsafe where a file of ours was changed: its rows may be anybody's.
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
    # 0.1.0 journaled hidden files too: they are moved to the live directory all the same.
    # guard: kept_carried
    added = [file for file in here.files if file.is_kept or _is_new(file, known)]
    for file in added:
        _move_file(fs, file, folder, live)
    return sum(file.is_data for file in added)


def _is_new(file: FileEntry, known: Mapping[str, FileEntry]) -> bool:
    """Return whether a file is not ours; one of ours that was empty, and has content now, is its writer's."""
    ours = known.get(file.name)
    return ours is None or (ours.is_flag and not file.is_flag)


def _move_file(fs: DataDirectories, file: FileEntry, folder: str, live: str) -> None:
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


def _gives_way(fs: DataDirectories, live: str, name: str) -> bool:
    """Return whether the file of this name in the live directory is the empty copy of one that now has content."""
    there = fs.status(f"{live}/{name}")
    return (
        there is not None and there.entry().is_flag and not there.length and not fs.open_files(live, [name])
    )


def move_hidden_files(fs: DataDirectories, folder: str, live: str) -> None:
    """Move hidden files with content, which 0.1.0 kept with the originals, back into the live directory."""
    if fs.status(live) is None:
        return
    for file in fs.list_files(folder).files:
        if file.is_kept:
            _move_file(fs, file, folder, live)


def move_conflicting_files(fs: DataDirectories, folder: str, live: str) -> int:
    """Move the files of every directory that a writer had created in place of the live one into the live one."""
    try:
        found = [entry.path for entry in fs.list(folder) if entry.is_dir]
    except FileNotFoundError:
        return 0
    moved_files = 0
    for path in found:
        moved_files += move_late_files(fs, FileListing(()), path, live)
        delete_own_files(fs, FileListing(()), path)
    return moved_files


def delete_own_files(fs: DataDirectories, ours: FileListing, folder: str) -> bool:
    """Delete our files, each by its journaled name and only if it is unchanged, then the empty directory.

    Returns False where anything else is in it, which then stays.
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


def remove_empty_folders(fs: DataDirectories, run: Run) -> None:
    """Remove the empty working directories of a run; never a file, and never its journal."""
    for entry in fs.list(run.folder):
        if entry.is_dir and layout.working_folder(entry.name):
            _remove_empty(fs, entry.path)


def _remove_empty(fs: DataDirectories, folder: str) -> None:
    for entry in fs.list(folder):
        if entry.is_dir:
            _remove_empty(fs, entry.path)
    if not fs.list(folder):
        fs.delete_empty(folder)
