"""The directories of one unit's swap: their current locations and their content."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spark_jobs.core.errors import DamagedOriginals, NoRule, Refusal
from spark_jobs.core.layout import ancestors, is_home
from spark_jobs.core.model import FileListing, parent
from spark_jobs.core.other_writers import SUCCESS, WriterRules, is_staging
from spark_jobs.core.refusals import RefusalCode
from spark_jobs.core.swap import Swap
from spark_jobs.core.swap_state import SwapState, locate
from spark_jobs.protocol.file_system import DataDirectories, Status
from spark_jobs.protocol.swap.late_files import differences


@dataclass(frozen=True)
class Blocker:
    """An entry of a directory whose files cannot be moved because of it: an active writer, or a directory."""

    folder: str
    entry: Status | str

    @property
    def name(self) -> str:
        return self.entry if isinstance(self.entry, str) else self.entry.name

    def __str__(self) -> str:
        path = f"{self.folder}/{self.name}"
        if is_staging(self.name):
            return f"{path} belongs to a writer that has not finished. {dead_writer(path)}"
        if isinstance(self.entry, str):
            return f"a writer is active in {self.folder} ({self.name}); the next run resolves it"
        return (
            f"{self.folder} holds the directory {self.name}, whose rows would be lost. Move its files up to"
            f" {self.folder}, or move it away (hdfs dfs -mv '{path}' <a directory outside the table>); then run the job"
            " again"
        )


def dead_writer(path: str) -> str:
    """Return what a person may do about a staging directory or file that nobody removes."""
    return f"Wait until it is gone; if its writer has died, delete it: hdfs dfs -rm -r '{path}'"


class SwapPaths:
    """The URIs of a swap, below the run's directory under its current name."""

    def __init__(self, fs: DataDirectories, folder: str, swap: Swap) -> None:
        self._fs = fs
        self.swap = swap
        self.live = swap.live
        self.old = f"{folder}/{swap.old}"
        self.new = f"{folder}/{swap.new}"
        self.aside = f"{folder}/{swap.aside}"
        self.conflict = f"{folder}/{swap.conflict}"

    def look(self) -> SwapState:
        """Return the state of the swap.

        The rewritten directory may be at `new` or at `aside`. Any other directory at `new` was written by late tasks of
        this run, and never was live.
        """
        swap, identity = self.swap, self._fs.identity
        live, old, new, aside = (identity(path) for path in (self.live, self.old, self.new, self.aside))
        third = swap.new_id if swap.new_id in (new, aside) else aside
        return locate(live, old, third, swap.live_id, swap.new_id)

    def rewritten(self) -> str:
        """Return the path of the rewritten directory while it is not live."""
        return self.aside if self._fs.identity(self.aside) == self.swap.new_id else self.new

    def complete(self, folder: str, expected: FileListing) -> bool:
        """Return whether a directory holds all expected files unchanged. Added files are allowed."""
        return not differences(expected, self._fs.list_files(folder)).lost

    def at_work(self, folder: str, known: FileListing) -> Blocker | None:
        """Return a file or staging directory of an active writer, or any other directory; or None.

        Files that `known` lists with content count as closed. HDFS is asked about each other file: that is one call for
        each of them, and there may be 65,000.
        """
        entries = self._fs.list(folder)
        for entry in entries:
            if entry.is_dir or is_staging(entry.name):  # guard: staging_in_sweep
                return Blocker(folder, entry)
        closed = {file for file in known.files if file.length}
        opened = self._fs.open_files(folder, [e.name for e in entries if e.entry() not in closed])
        return Blocker(folder, opened[0]) if opened else None  # guard: open_files_in_sweep

    def explain(self, where: SwapState) -> NoRule:
        """Return the error for a state that a person must resolve."""
        return NoRule(
            f"{self.live} is {where.value}; nothing was changed. Check it, {self.old}, {self.new} and {self.aside}"
        )


def staging_above(fs: DataDirectories, live: str, base: str) -> Status | None:
    """Return a writer's staging directory in a directory above a live one, up to `base`; or None."""
    for folder in {parent(live), *ancestors(live, base)}:
        for entry in fs.list(folder) if fs.status(folder) is not None else ():
            if is_staging(entry.name):
                return entry
    return None


#: Rules for directories in which no writer is active, such as those of a run: no file in them is pending.
NO_WRITERS = WriterRules(offsets=True, described=True, staged=True)
#: Rules for a directory that this run has just written: a pending file in it is from a late task of this run.
OURS = WriterRules(dead_before=0, offsets=True, described=True)


def list_unit(fs: DataDirectories, location: str, rules: WriterRules = NO_WRITERS) -> FileListing:
    """Return the files of a unit.

    Hidden files with content are left out: they belong to writers, and stay with the live directory.

    Raises:
        Refusal: the location is not a flat directory of closed files.
    """
    return listed(fs, location, fs.list(location), rules)


def listed(fs: DataDirectories, location: str, entries: Sequence[Status], rules: WriterRules) -> FileListing:
    """Return the files of a unit whose directory was listed. It raises the same errors as `list_unit`."""
    for entry in entries:
        _check_entry(entry, location, rules)
    # A file with a footer was closed. A file that is empty may still be open.
    _refuse_open(fs, location, _possibly_open(entries))
    files = (entry.entry() for entry in entries)
    return FileListing.of(file for file in files if not file.is_kept)  # guard: hidden_files_kept


def list_originals(fs: DataDirectories, folder: str) -> FileListing:
    """Return the files of a directory of originals.

    Raises:
        DamagedOriginals: somebody has created a directory in it. Or a writer has left its staging directory there.
        Refusal: a writer still writes a file in it.
    """
    entries = fs.list(folder)
    for entry in entries:
        if entry.is_dir:
            raise DamagedOriginals(f"{_foreign(entry)}; nothing was changed")
    return listed(fs, folder, entries, NO_WRITERS)


def _foreign(entry: Status) -> str:
    """Return what a directory in originals is, and what a person may do about it."""
    if is_staging(entry.name):
        return f"{entry.path} is in originals, and belongs to a writer that has not finished. {dead_writer(entry.path)}"
    return (
        f"{parent(entry.path)} holds the folder {entry.name}, which is not of the originals. Move it away: hdfs dfs -mv"
        f" '{entry.path}' <a directory outside the table>"
    )


def check_closed(fs: DataDirectories, location: str, files: FileListing) -> None:
    """Raise Refusal if one of the files is open for writing. Needed for formats whose files have no footer.

    A file that was flushed has a length and reads like a complete file, so only HDFS can tell that it is open.
    """
    _refuse_open(fs, location, [file.name for file in files.data])


def _refuse_open(fs: DataDirectories, location: str, names: Sequence[str]) -> None:
    opened = fs.open_files(location, names) if names else []
    if opened:  # guard: files_being_written
        raise Refusal(RefusalCode.ACTIVE_WRITER, f"{location}/{opened[0]} is being written right now")


def _check_entry(entry: Status, location: str, rules: WriterRules) -> None:
    left = rules.staged and not entry.is_dir  # 0.1.0 moved hidden files with the originals
    if is_staging(entry.name) and not left:  # guard: staging_in_unit
        raise Refusal(RefusalCode.ACTIVE_WRITER, f"{entry.path} belongs to a writer that has not finished")
    if entry.is_dir and is_home(entry.name):
        raise Refusal(
            RefusalCode.SUBDIRECTORIES,
            f"{location} holds {entry.path}, with the runs of a table that had partitions here. If that table was"
            f" dropped, `lakekeeper cleanup --location '{location}'` deletes its originals when they are past the"
            " retention, and then this directory",
        )
    if entry.is_dir:  # guard: folders_in_unit
        raise Refusal(
            RefusalCode.SUBDIRECTORIES,
            f"{location} holds the folder {entry.name}; its rows would be lost or misread",
        )
    rules.check_file(entry.path, entry.name, entry.length, entry.mtime)


def _possibly_open(entries: Sequence[Status]) -> list[str]:
    """Return the files that may still be open: empty files, and hidden files, whose footers are not read."""
    return [
        entry.name
        for entry in entries
        if entry.name != SUCCESS and (not entry.length or entry.entry().is_kept)
    ]
