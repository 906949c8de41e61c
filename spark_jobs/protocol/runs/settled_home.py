"""Deletes the home of a dropped table whose runs hold no originals any more."""

from __future__ import annotations

from collections.abc import Collection

from spark_jobs.core.messages.warning_codes import WarningCode
from spark_jobs.core.values.layout import LOG, RECORDS, SETTLED, LeaseFile, RunDirectory
from spark_jobs.protocol.file_system import FileSystem, Status
from spark_jobs.protocol.runs.home_format import MARKER, first_file


def delete_settled_home(fs: FileSystem, home: str, run_directories: Collection[str]) -> str | None:
    """Delete a home that holds records only. Its lease must be held.

    Args:
        run_directories: the directories of runs that hold no originals.

    Returns:
        Why the home is kept, or None.
    """
    try:
        for entry in fs.list(home):
            other = _other_content(fs, entry, run_directories)
            if other:  # guard: home_of_records_only
                return WarningCode.FOLDER_NOT_DELETED.text(
                    f"{home} is kept, because it holds {other}, which is not a record, a lease or a part of the commit"
                    " log, and may hold rows. Check it, and copy the rows that are needed, before you remove the home"
                )
        fs.delete_tree(home)
    except FileNotFoundError:
        return None
    except OSError as error:
        return WarningCode.FOLDER_NOT_DELETED.text(f"{home} could not be deleted: {error}")
    return None


def _other_content(fs: FileSystem, entry: Status, run_directories: Collection[str]) -> str | None:
    """Return the path of something that is not a record, a lease or a file of the commit log; or None."""
    ours = entry.name == LOG if entry.is_dir else entry.name == MARKER or LeaseFile.parse(entry.name)
    if ours:
        return None
    if entry.is_dir and entry.name == SETTLED:
        return next((inner.path for inner in fs.list(entry.path) if inner.is_dir), None)
    if not entry.is_dir or RunDirectory.parse(entry.name) is None or entry.path not in run_directories:
        return entry.path
    kept = (first_file(fs, inner) for inner in fs.list(entry.path) if inner.name != RECORDS)
    return next((path for path in kept if path), None)
