"""The directories of one unit's swap: their current locations and their content."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spark_jobs.core.messages.errors import DamagedOriginals, NoRule, Refusal
from spark_jobs.core.messages.refusals import RefusalCode
from spark_jobs.core.messages.remedies import hdfs, originals, writers
from spark_jobs.core.records.swap import Swap
from spark_jobs.core.records.swap_state import SwapState, locate
from spark_jobs.core.values.garbage import rarely_collected
from spark_jobs.core.values.layout import ancestors, is_home
from spark_jobs.core.values.legacy_leftovers import described, is_leftover
from spark_jobs.core.values.model import FileEntry, FileListing, parent
from spark_jobs.core.values.other_writers import SUCCESS, WriterRules, is_hidden, is_staging, moment
from spark_jobs.protocol.file_system import DataDirectories, Status


@dataclass(frozen=True)
class Blocker:
    """An entry of a directory whose files cannot be moved because of it: an active writer, or a directory."""

    directory: str
    entry: Status | str

    @property
    def name(self) -> str:
        return self.entry if isinstance(self.entry, str) else self.entry.name

    def __str__(self) -> str:
        path = f"{self.directory}/{self.name}"
        if is_staging(self.name):
            return f"{path} belongs to a writer that has not finished. {writers.dead_writer(path)}"
        if isinstance(self.entry, str):
            return f"a writer is active in {self.directory} ({self.name}); the next run resolves it"
        if is_hidden(self.name):
            return f"{self.directory} holds the directory {self.name}; {_why(self.entry)}; then run the job again"
        return writers.directory_with_rows(self.directory, self.name)


#: This many directories in a staging directory are listed, to find out when it changed last.
_MOST_LISTED = 20
#: This many files are looked at one by one; there may be 65,000 others beside them.
_FEW = 3


class SwapPaths:
    """The URIs of a swap, below the run's directory under its current name."""

    def __init__(self, fs: DataDirectories, directory: str, swap: Swap) -> None:
        self._fs = fs
        self.swap = swap
        self.live = swap.live
        self.old = f"{directory}/{swap.old}"
        self.new = f"{directory}/{swap.new}"
        self.aside = f"{directory}/{swap.aside}"
        self.conflict = f"{directory}/{swap.conflict}"
        #: What the last look has found, by path. An action follows its look at once, so that it need not ask again.
        self._seen: dict[str, str | None] = {}

    def look(self) -> SwapState:
        """Return the state of the swap.

        The rewritten directory may be at `new` or at `aside`. Any other directory at `new` was written by late tasks of
        this run, and never was live.
        """
        swap, paths = self.swap, (self.live, self.old, self.new, self.aside)
        live, old, new, aside = self._fs.identities(paths)
        self._seen = dict(zip(paths, (live, old, new, aside)))
        third = swap.new_id if swap.new_id in (new, aside) else aside
        return locate(live, old, third, swap.live_id, swap.new_id)

    def seen(self, path: str) -> str | None:
        """Return the identity of the directory that the last look has found at a path; None if there was none."""
        return self._seen[path] if self._seen else self._fs.identity(path)

    def rewritten(self) -> str:
        """Return the path of the rewritten directory while it is not live."""
        return self.aside if self.seen(self.aside) == self.swap.new_id else self.new

    def find_blocker(self, directory: str, known: FileListing) -> Blocker | FileListing:
        """Return a file or staging directory of an active writer, or any other directory; else the files.

        Files that `known` lists with content count as closed. HDFS is asked about each other file: that is one call for
        each of them, and there may be 65,000. Then these files are looked at again, because one that was open before
        may have been closed since, with other content.
        """
        entries = self._fs.list(directory)
        for entry in entries:
            if entry.is_dir or is_staging(entry.name):  # guard: staging_in_sweep
                return Blocker(directory, entry)
        files = FileListing.of(entry.entry() for entry in entries)
        closed = {file for file in known.files if file.length}
        asked = [file.name for file in files.files if file not in closed]
        opened = _opened(self._fs, directory, asked)
        if opened:  # guard: open_files_in_sweep
            return Blocker(directory, opened[0])
        return self._again(directory, files, asked) if asked else files  # guard: listed_after_close

    def _again(self, directory: str, files: FileListing, asked: Sequence[str]) -> FileListing:
        """Return the files of a directory after a question about some of them. The others were closed before it."""
        if len(asked) > _FEW:
            return self._fs.list_files(directory)
        statuses = [self._fs.status(f"{directory}/{name}") for name in asked]
        others = [file for file in files.files if file.name not in asked]
        return FileListing.of([*others, *(status.entry() for status in statuses if status)])

    def explain(self, where: SwapState) -> NoRule:
        """Return the error for a state that a person must resolve."""
        return NoRule(
            f"{self.live} is {where.value}; nothing was changed. Check it, {self.old}, {self.new} and {self.aside}"
        )


def staging_above(fs: DataDirectories, live: str, base: str) -> Status | None:
    """Return a writer's staging directory in a directory above a live one, up to `base`; or None."""
    for directory in {parent(live), *ancestors(live, base)}:
        for entry in fs.list(directory) if fs.status(directory) is not None else ():
            if is_staging(entry.name):
                return entry
    return None


@dataclass(frozen=True)
class UnitListing:
    """One listing of a unit, for all checks of the same moment.

    Attributes:
        entries: all that the directory holds.
        files: the files of the unit.
    """

    entries: Sequence[Status]
    files: FileListing


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
    return files_of_unit(fs, location, fs.list(location), rules)


def listed_unit(fs: DataDirectories, location: str, rules: WriterRules) -> UnitListing:
    """Return the listing of a unit. Raise Refusal like `list_unit`."""
    entries = fs.list(location)
    return UnitListing(entries, files_of_unit(fs, location, entries, rules))


@rarely_collected()
def files_of_unit(
    fs: DataDirectories, location: str, entries: Sequence[Status], rules: WriterRules = NO_WRITERS
) -> FileListing:
    """Return the files of a unit that was listed just now. Raise Refusal like `list_unit`."""
    files = [entry.entry() for entry in entries]
    for entry, file in zip(entries, files):
        _check_entry(fs, entry, file, location, rules)
    # A file with a footer was closed. A file that is empty may still be open.
    _refuse_open(fs, location, [file.name for file in files if _possibly_open(file)])
    return FileListing.of(file for file in files if not file.belongs_to_writer)  # guard: hidden_files_kept


def list_originals(fs: DataDirectories, directory: str) -> FileListing:
    """Return the files of a directory of originals.

    Raises:
        DamagedOriginals: somebody has created a directory in it. Or a writer has left its staging directory there.
        Refusal: a writer still writes a file in it.
    """
    return files_of_originals(fs, directory, fs.list(directory))


def files_of_originals(fs: DataDirectories, directory: str, entries: Sequence[Status]) -> FileListing:
    """Return the files of originals that were listed just now. Raise the errors of `list_originals`."""
    for entry in entries:
        if entry.is_dir:
            raise DamagedOriginals(f"{_foreign(entry)}; nothing was changed")
    return files_of_unit(fs, directory, entries)


def _foreign(entry: Status) -> str:
    """Return what a directory in originals is, and what a person may do about it."""
    if is_staging(entry.name):
        wait = writers.dead_writer(entry.path)
        return f"{entry.path} is in originals, and belongs to a writer that has not finished. {wait}"
    return originals.foreign_directory(parent(entry.path), entry.name)


def check_closed(fs: DataDirectories, location: str, files: FileListing) -> None:
    """Raise Refusal if one of the files is open for writing. Needed for formats whose files have no footer.

    A file that was flushed has a length and reads like a complete file, so only HDFS can tell that it is open.
    """
    _refuse_open(fs, location, [file.name for file in files.data])


def _refuse_open(fs: DataDirectories, location: str, names: Sequence[str]) -> None:
    opened = _opened(fs, location, names)
    if opened:  # guard: files_being_written
        raise Refusal(RefusalCode.ACTIVE_WRITER, f"{location}/{opened[0]} is being written right now")


def _opened(fs: DataDirectories, location: str, names: Sequence[str]) -> Sequence[str]:
    return fs.open_files(location, names) if names else ()


def _check_entry(
    fs: DataDirectories, entry: Status, file: FileEntry, location: str, rules: WriterRules
) -> None:
    """Raise Refusal for an entry of a unit, whose name and sizes are those of `file`, that is in the way."""
    left = rules.staged and not entry.is_dir  # a cleanup moves hidden files back to the live directory
    if rules.is_staging(file.name, entry.is_dir) and not left:  # guard: staging_in_unit
        raise _staged(fs, entry, rules)
    if entry.is_dir and is_home(file.name):
        raise Refusal(RefusalCode.SUBDIRECTORIES, writers.runs_of_dropped_table(location, entry.path))
    if entry.is_dir:  # guard: folders_in_unit
        code = RefusalCode.LEGACY_LEFTOVER if is_leftover(file.name) else RefusalCode.SUBDIRECTORIES
        raise Refusal(code, f"{location} holds the directory {file.name}; {_why(entry)}")
    rules.check_file(entry.path, file.name, file.length, file.mtime)


def _why(entry: Status) -> str:
    """Return why a directory in a unit is in the way. What is in a hidden one, no reader reads, and a writer may."""
    # The second rename of Lakekeeper 0.0.6 has found a live directory, and moved into it.
    if is_leftover(entry.name):
        return described([entry.path])
    if not is_hidden(entry.name):
        return "its rows would be lost or misread"
    return writers.hidden_directory(entry.path)


def _staged(fs: DataDirectories, entry: Status, rules: WriterRules) -> Refusal:
    """Return the refusal for staging in a unit.

    It is refused at any age: it would move away with the originals, and a query that is only slow would lose its rows.
    """
    looks_dead = entry.is_dir and not rules.may_be_active(entry.path, entry.mtime)
    newest = _last_change(fs, entry) if looks_dead else entry.mtime
    if rules.may_be_active(entry.path, newest):
        return Refusal(
            RefusalCode.ACTIVE_WRITER,
            f"{entry.path} belongs to a writer that has not finished: it was changed {moment(newest)}."
            f" {writers.dead_writer(entry.path)}",
        )
    command = hdfs.delete(entry.path)
    return Refusal(
        RefusalCode.ACTIVE_WRITER,
        f"{entry.path} was left by a writer: it was changed {moment(newest)} for the last time, longer ago than"
        f" 'staging_ttl'. If no query writes to the table any more, delete it: {command}",
        command,
    )


def _last_change(fs: DataDirectories, entry: Status) -> int:
    """Return when a directory, or what is in it, changed last; only this many directories are listed."""
    newest, left, listed = entry.mtime, [entry.path], 0
    while left and listed < _MOST_LISTED:
        listed += 1
        try:
            entries = fs.list(left.pop())
        except OSError:
            continue  # it is gone, or may not be read: what is known counts
        newest = max([newest, *(each.mtime for each in entries)])
        left += [each.path for each in entries if each.is_dir]
    return newest


def _possibly_open(file: FileEntry) -> bool:
    """Tell whether a file may still be open: it is empty, or hidden, so that its footer is not read."""
    return file.name != SUCCESS and (not file.length or file.belongs_to_writer)
