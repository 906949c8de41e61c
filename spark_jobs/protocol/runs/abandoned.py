"""Deletes run directories without records.

A task of a driver that has died may create the directory of its run again, after a fence has renamed it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator

from spark_jobs.core.messages.warning_codes import WarningCode
from spark_jobs.core.values.layout import RECORDS, is_tmp_directory
from spark_jobs.protocol.file_system import FileSystem, Status

log = logging.getLogger("lakekeeper")


def delete_abandoned(fs: FileSystem, directories: Iterable[Status], before: int) -> list[str]:
    """Delete run directories without records, if nothing in them has changed since `before`.

    Only rewritten files that no journal names are deleted: they have never been live. A directory with any other file
    may be a run whose journal was deleted, and may hold its originals. The lease of the home must be held: then no
    other job is about to publish the first record.

    Args:
        before: in ms since the epoch, by the clock of the file system.

    Returns:
        What was deleted, and what was kept and why, for the report.
    """
    texts = (_delete(fs, directory, before) for directory in directories)
    return [text for text in texts if text]


def _delete(fs: FileSystem, directory: Status, before: int) -> str | None:
    try:
        if max(entry.mtime for entry in _walk(fs, directory)) >= before:  # guard: abandoned_is_old
            return None
        other = other_content(fs, directory.path)
        if other:  # guard: abandoned_holds_nothing_else
            return WarningCode.JOURNAL_MISSING.text(
                f"{directory.path} has no journal, but holds {other}: if its journal was deleted, it may hold"
                " originals. Nothing in it is deleted; docs/safety/manual-restore.md says how to restore originals"
            )
        fs.delete_tree(directory.path)
    except OSError as error:
        return WarningCode.FOLDER_NOT_DELETED.text(
            f"{directory.path} has no journal, and could not be deleted: {error}"
        )
    return WarningCode.FOLDER_ABANDONED.text(
        f"deleted {directory.path}, which tasks of a driver that has died had created again: it had no journal"
    )


def _walk(fs: FileSystem, directory: Status) -> Iterator[Status]:
    yield directory
    for entry in fs.list(directory.path):
        if entry.is_dir:
            yield from _walk(fs, entry)
        else:
            yield entry


def other_content(fs: FileSystem, directory: str) -> str | None:
    """Return the name of an entry that is neither a directory for rewritten files nor an empty journal; or None."""
    for entry in fs.list(directory):
        if entry.is_dir and is_tmp_directory(entry.name):
            continue
        if entry.is_dir and entry.name == RECORDS:
            kept = [record.name for record in fs.list(entry.path) if not record.name.startswith(".")]
            if not kept:
                continue
        return entry.name
    return None
