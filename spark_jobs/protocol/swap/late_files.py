"""Functions that empty directories which may have been live.

Files of other writers are moved into the table, never deleted.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping

from spark_jobs.core.messages.errors import Unsafe
from spark_jobs.core.messages.remedies.writers import changed_file
from spark_jobs.core.values import layout
from spark_jobs.core.values.model import FileEntry, FileListing, ListingDiff
from spark_jobs.core.values.other_writers import SUCCESS, SUMMARIES, has_offsets
from spark_jobs.protocol.file_system import DataDirectories


def differences(before: FileListing, now: FileListing) -> ListingDiff:
    """Return what changed in a directory.

    Flags are ignored while they have no content: they hold no rows, and writers create and delete them at any time. A
    missing hidden file is ignored as well: its writer may have renamed it, or it was moved to the live directory.
    """
    changes, here = before.diff(now), {file.name: file for file in now.files}
    return ListingDiff(
        added=tuple(file for file in changes.added if not file.is_flag),
        lost=tuple(
            file for file in changes.lost if not file.belongs_to_writer and not _still_flag(file, here)
        ),
    )


def _still_flag(file: FileEntry, here: Mapping[str, FileEntry]) -> bool:
    """Return whether a flag is still a flag, or is gone. With content, it is data or a hidden file."""
    return file.is_flag and here.get(file.name, file).is_flag


def move_late_files(
    fs: DataDirectories, ours: FileListing, directory: str, live: str, here: FileListing | None = None
) -> int:
    """Move every file that `ours` does not list into the live directory. Return the number of data files among them.

    Data files get an unused name. Flags, hidden files and files with offsets in their names keep their own names,
    because their writers look for them by name.

    Args:
        here: the files of the directory, if they were listed just now.

    Raises:
        Unsafe: a file of `ours` was changed, so that nothing tells which writer its rows are from.
    """
    try:
        here = here or fs.list_files(directory)
    except FileNotFoundError:
        return 0
    changes = differences(ours, here)
    names = {file.name for file in here.files}
    changed = [file.name for file in changes.lost if file.is_data and file.name in names]
    if changed:
        raise Unsafe(changed_file(directory, changed[0], live))
    known = {file.name: file for file in ours.files}
    added = [file for file in here.files if _is_new(file, known)]
    for file in added:
        _move_file(fs, file, directory, live)
    return sum(file.is_data for file in added)


def _is_new(file: FileEntry, known: Mapping[str, FileEntry]) -> bool:
    """Return whether a file is not ours. A flag of ours that has content now is its writer's, and counts too."""
    ours = known.get(file.name)
    return ours is None or (ours.is_flag and not file.is_flag)


def _move_file(fs: DataDirectories, file: FileEntry, directory: str, live: str) -> None:
    if file.name in SUMMARIES:  # guard: summaries_left_behind
        return
    source, target = f"{directory}/{file.name}", f"{live}/{file.name}"
    if not file.is_data or has_offsets(file.name):  # guard: offsets_carried
        try:
            fs.rename(source, target)  # guard: own_name_kept
            return
        except FileExistsError:
            if file.is_flag:
                return  # the live directory has this flag already
            if _is_empty_copy(fs, live, file.name):
                fs.delete_file(target)
                fs.rename(source, target)
                return
    fs.rename(source, f"{live}/{layout.fresh_name(file.name, uuid.uuid4().hex[:8])}")


def _is_empty_copy(fs: DataDirectories, live: str, name: str) -> bool:
    """Return whether the file of this name in the live directory is the empty copy of a file that has content now."""
    there = fs.status(f"{live}/{name}")
    return (
        there is not None and there.entry().is_flag and not there.length and not fs.open_files(live, [name])
    )


def move_hidden_files(fs: DataDirectories, directory: str, live: str) -> None:
    """Move hidden files with content, which no journal lists, back into the live directory: a writer looks for them."""
    if fs.status(live) is None:
        return
    for file in fs.list_files(directory).files:
        if file.belongs_to_writer:
            _move_file(fs, file, directory, live)


def move_conflicting_files(fs: DataDirectories, directory: str, live: str) -> int:
    """Move files from all directories that writers created at the live path into the live directory.

    Return the number of data files among them.
    """
    try:
        directories = [entry.path for entry in fs.list(directory) if entry.is_dir]
    except FileNotFoundError:
        return 0
    if not directories or fs.identity(live) is None:
        return 0
    moved_files = 0
    for path in directories:
        moved_files += move_late_files(fs, FileListing(()), path, live)
        delete_own_files(fs, FileListing(()), path)
    return moved_files


def delete_own_files(fs: DataDirectories, ours: FileListing, directory: str) -> bool:
    """Delete the files in `ours`, and then the directory if it is empty.

    Each file is deleted by its journaled name, and only if it is unchanged. Anything else is kept, and then the
    directory is kept too.

    Returns:
        Whether the directory is gone.
    """
    try:
        here = {file.name: file for file in fs.list_files(directory).files}
    except FileNotFoundError:
        return True
    known = {file.name: file for file in ours.files}
    for name, file in here.items():
        twin = name in known or name == SUCCESS
        if known.get(name) == file or (
            twin and file.is_flag and not file.length
        ):  # guard: delete_own_files_only
            fs.delete_file(f"{directory}/{name}")
    return fs.delete_empty(directory)
