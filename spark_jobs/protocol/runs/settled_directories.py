"""Deletes the directory of a settled run: it is moved into the directory `settled` of its home, and deleted there.

The run is removed by one rename, so no job of any version finds a journal of which some records are missing. The rename
fails for an attempt that was fenced off, because the run's directory has another name then.
"""

from __future__ import annotations

import re

from spark_jobs.core.messages.warning_codes import WarningCode
from spark_jobs.core.values.layout import RECORDS, SETTLED, RunDirectory, working_directory
from spark_jobs.core.values.model import name_of, parent
from spark_jobs.core.values.numbered_names import PADDED
from spark_jobs.protocol.file_system import DataDirectories, Status
from spark_jobs.protocol.runs.journal_store import Run

#: A record of a journal, or a hidden file that an attempt to publish one has left.
_RECORD = re.compile(rf"({PADDED}\.json|\.{PADDED}-[0-9a-f]{{32}})\Z")


def holds_only_records(fs: DataDirectories, directory: str) -> bool:
    """Tell whether the only files in a run's directory are the records of its journal.

    Any other file may hold the only copy of rows, whatever the journal says.
    """
    return all(_is_record_directory(fs, entry) or _has_no_files(fs, entry) for entry in fs.list(directory))


def _is_record_directory(fs: DataDirectories, entry: Status) -> bool:
    if not entry.is_dir or entry.name != RECORDS:
        return False
    return all(not each.is_dir and _RECORD.match(each.name) for each in fs.list(entry.path))


def _has_no_files(fs: DataDirectories, entry: Status, working: bool = False) -> bool:
    if not entry.is_dir or not (working or working_directory(entry.name)):
        return False
    return all(_has_no_files(fs, each, working=True) for each in fs.list(entry.path))


def move_away(fs: DataDirectories, run: Run) -> None:
    """Move the directory of a run that this job has entered into `settled` of its home, which exists already."""
    fs.rename(run.directory, f"{parent(run.directory)}/{SETTLED}/{name_of(run.directory)}")


def delete_moved(fs: DataDirectories, home: str) -> list[str]:
    """Delete the run directories that were moved into `settled` of a home, also by jobs that died. Return warnings.

    Files are deleted by the names that records have. A directory with any other file is kept.
    """
    try:
        entries = fs.list(f"{home}/{SETTLED}")
    except FileNotFoundError:
        return []
    moved = [entry for entry in entries if entry.is_dir and RunDirectory.parse(entry.name)]
    return [warning for entry in moved for warning in _try_to_delete(fs, entry.path)]


def _try_to_delete(fs: DataDirectories, directory: str) -> list[str]:
    try:
        return _delete(fs, directory)
    except OSError as error:
        text = f"{directory} could not be deleted ({error}); the next job tries again"
        return [WarningCode.FOLDER_NOT_DELETED.text(text)]


def _delete(fs: DataDirectories, directory: str) -> list[str]:
    if not holds_only_records(fs, directory):  # guard: moved_folder_with_files
        return [
            WarningCode.FOLDER_NOT_DELETED.text(
                f"{directory} is not deleted: it holds files that are no records, and these may hold rows. Check"
                " them, and copy the rows that are needed, before you remove the directory"
            )
        ]
    for entry in fs.list(directory):
        if entry.name == RECORDS:
            _delete_records(fs, entry.path)
        else:
            _delete_empty(fs, entry)
    fs.delete_empty(directory)
    return []


def _delete_records(fs: DataDirectories, directory: str) -> None:
    for entry in fs.list(directory):
        if _RECORD.match(entry.name):
            fs.delete_file(entry.path)
    fs.delete_empty(directory)


def _delete_empty(fs: DataDirectories, entry: Status) -> None:
    for each in fs.list(entry.path) if entry.is_dir else ():
        _delete_empty(fs, each)
    fs.delete_empty(entry.path)
