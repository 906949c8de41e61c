"""Units that the job may not or cannot read, and symbolic links: for how long a refusal of them counts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from spark_jobs.core.messages.errors import Refusal, Unreadable
from spark_jobs.core.messages.refusals import RefusalCode
from spark_jobs.core.planning.plan import TablePlan
from spark_jobs.core.planning.unit_plan import UnitPlan
from spark_jobs.core.values.model import FileEntry, name_of, parent
from spark_jobs.protocol.file_system import DataDirectories
from spark_jobs.protocol.listed_directories import Directories


def not_readable(error: PermissionError) -> Refusal:
    """Return the refusal of what may not be read. It is never remembered: it may be granted at any time."""
    return Refusal(
        RefusalCode.NOT_READABLE, f"{error}. Grant the account of the job the permission to list and read it"
    )


@contextmanager
def reading() -> Iterator[None]:
    """Translate the error of a path that may not be read into a refusal."""
    try:
        yield
    except PermissionError as error:
        raise not_readable(error) from None


def check_no_link(directories: Directories, location: str) -> None:
    """Raise Refusal for a unit that is a symbolic link.

    A swap would rename the link. A relative one leads nowhere then, and what others write where it has led would be in
    no table any more.
    """
    entry = directories(parent(location)).by_path.get(location)
    if entry is not None and entry.link:  # guard: units_are_no_links
        raise Refusal(
            RefusalCode.SYMLINK,
            f"{location} is a symbolic link, which a swap would rename instead of the files. Set the location to the"
            " directory itself",
        )


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
