"""Units with a file that cannot be read: whether a writer may still be at work on it, and for how long this counts."""

from __future__ import annotations

from spark_jobs.core.messages.errors import Refusal, Unreadable
from spark_jobs.core.planning.plan import TablePlan
from spark_jobs.core.planning.unit_plan import UnitPlan
from spark_jobs.core.values.model import FileEntry, name_of
from spark_jobs.protocol.file_system import DataDirectories


def in_use(fs: DataDirectories, unit: UnitPlan, error: Unreadable) -> bool:
    """Tell whether the file was changed since it was listed, or is being written: then nothing is wrong with it."""
    name, listed = name_of(error.path), _listed(unit, error)
    status = fs.status(f"{unit.unit.location}/{name}")
    if status is None or listed is None or (status.length, status.mtime) != (listed.length, listed.mtime):
        return True
    return bool(fs.open_files(unit.unit.location, [name]))  # guard: unreadable_because_open


def lasts(table: TablePlan, unit: UnitPlan, refusal: Refusal) -> bool:
    """Tell whether a refusal holds until the files of the unit change.

    A file that is still young may not be complete, and no file system but HDFS tells which files are being written.
    """
    if not isinstance(refusal, Unreadable):
        return True
    listed = _listed(unit, refusal)
    return listed is not None and not table.rules.is_young(
        refusal.path, listed.mtime
    )  # guard: young_files_forgotten


def _listed(unit: UnitPlan, error: Unreadable) -> FileEntry | None:
    files = unit.inputs.files.files if unit.inputs else ()
    return next((file for file in files if file.name == name_of(error.path)), None)
