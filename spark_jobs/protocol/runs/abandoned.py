"""Run directories without a journal: tasks of a driver that has died create one again after its run was renamed."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator

from spark_jobs.core.layout import RECORDS, is_tmp_folder
from spark_jobs.protocol.file_system import FileSystem, Status

log = logging.getLogger("lakekeeper")


def delete_abandoned(fs: FileSystem, folders: Iterable[Status], before: int) -> list[str]:
    """Delete folders without a record in which nothing has changed since `before`, and return what was done.

    Only files that a compaction has written and not journaled are deleted: they never were live. A folder that holds
    anything else may be a run whose journal somebody has deleted, and its originals may be in it. The lease of the home
    must be held: then no live job is about to write the first record.

    Args:
        before: in ms since the epoch, by the clock of the file system.
    """
    texts = (_delete(fs, folder, before) for folder in folders)
    return [text for text in texts if text]


def _delete(fs: FileSystem, folder: Status, before: int) -> str | None:
    try:
        if max(entry.mtime for entry in _walk(fs, folder)) >= before:  # guard: abandoned_is_old
            return None
        other = other_content(fs, folder.path)
        if other:  # guard: abandoned_holds_nothing_else
            return (
                f"{folder.path} has no journal, but holds {other}: if somebody has deleted the journal, originals may"
                " be in it; it is left as it is (docs/manual-restore.md)"
            )
        fs.delete_tree(folder.path)
    except OSError as error:
        return f"{folder.path} has no journal, and could not be deleted: {error}"
    return f"deleted {folder.path}, which tasks of a driver that has died had created again"


def _walk(fs: FileSystem, folder: Status) -> Iterator[Status]:
    yield folder
    for entry in fs.list(folder.path):
        if entry.is_dir:
            yield from _walk(fs, entry)
        else:
            yield entry


def other_content(fs: FileSystem, folder: str) -> str | None:
    """Return the name of something that is neither a directory for rewritten files nor an empty one for records."""
    for entry in fs.list(folder):
        if entry.is_dir and is_tmp_folder(entry.name):
            continue
        if entry.is_dir and entry.name == RECORDS:
            kept = [record.name for record in fs.list(entry.path) if not record.name.startswith(".")]
            if not kept:
                continue
        return entry.name
    return None
