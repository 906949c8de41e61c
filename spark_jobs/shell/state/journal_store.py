"""Journals on the file system: publishing records, finding runs."""

from __future__ import annotations

import re
import threading
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from typing import Any

from spark_jobs.core import journal
from spark_jobs.core.errors import Unsafe
from spark_jobs.core.journal import Record, RunState
from spark_jobs.core.journal_bounds import check_bounds
from spark_jobs.core.layout import RunFolder, generation
from spark_jobs.core.model import name_of, parent
from spark_jobs.shell.clock import utc_now
from spark_jobs.shell.ports import FileSystem

_JOURNAL = "journal"
_NUMBERED = re.compile(r"(\d+)\.json\Z")


class Journal:
    """The journal in one run folder. Safe to use from several threads of one process."""

    def __init__(self, fs: FileSystem, folder: str, now: Callable[[], datetime] = utc_now) -> None:
        self._fs = fs
        self.folder = folder
        self._now = now
        self._lock = threading.Lock()
        self._last: int | None = None

    @property
    def _path(self) -> str:
        return f"{self.folder}/{_JOURNAL}"

    def open(self) -> None:
        """Makes the run's folder; the only place that does, so that a folder renamed away stays away."""
        self._fs.mkdirs(self._path)

    def append(self, kind: str, **body: Any) -> None:
        """Publishes a record: written and flushed under a hidden name, then renamed; an existing number is
        never overwritten."""
        record = Record(kind, self._now(), body)
        with self._lock:
            number = (self._last if self._last is not None else self._count()) + 1
            staged = f"{self._path}/.{number:06d}-{uuid.uuid4().hex}"
            self._fs.create(staged, record.encode())
            self._publish(staged, self._numbered(number))
            self._last = number

    def _publish(self, staged: str, path: str) -> None:
        """An error after success is told by where the record is: only this attempt knows its hidden name."""
        try:
            self._fs.rename(staged, path)
        except OSError:
            if self._fs.status(staged) is not None or self._fs.status(path) is None:
                raise

    def records(self) -> list[Record]:
        """All published records, in order; none is older than the file that holds it, whatever the clock of the driver
        said that wrote it."""
        published = self._published()
        if list(published) != list(range(1, len(published) + 1)):
            raise Unsafe(f"{self._path} has a gap in its numbers; nothing is changed")
        return [_dated(self._record(number), millis) for number, millis in published.items()]

    def last(self) -> Record | None:
        """The newest record alone: it tells whether somebody is at work, or stopped half-way."""
        number = self._count()
        return self._record(number) if number else None

    def _record(self, number: int) -> Record:
        path = self._numbered(number)
        return Record.decode(self._fs.read_once(path), path)

    def _numbered(self, number: int) -> str:
        return f"{self._path}/{number:06d}.json"

    def state(self) -> RunState | None:
        """What the records add up to; raises Unsafe for what this journal has no business with."""
        state = journal.fold(self.records())
        if state is not None:
            check_bounds(state, parent(self.folder))  # guard: journal_in_bounds
        return state

    def _count(self) -> int:
        return max(self._published(), default=0)

    def _published(self) -> dict[int, int]:
        """Number -> modification time in ms, in order."""
        found = ((_NUMBERED.match(status.name), status.mtime) for status in self._fs.list(self._path))
        return dict(sorted((int(match[1]), mtime) for match, mtime in found if match))


def _dated(record: Record, millis: int) -> Record:
    written = datetime.fromtimestamp(millis / 1000, timezone.utc)
    return replace(record, at=max(record.at, written))  # guard: dated_by_file_system


@dataclass(frozen=True)
class Run:
    """A run found on the file system."""

    run_id: str
    folder: str
    journal: Journal
    state: RunState

    def path(self, relative: str) -> str:
        return f"{self.folder}/{relative}"

    def current(self) -> RunState:
        """The state that the journal adds up to now; `state` is as it was when the run was found."""
        return self.journal.state() or self.state

    def is_of(self, table: str, location: str) -> bool:
        """By the table's name, or by its location if it was renamed since."""
        return self.state.table == table or self.state.location == location  # guard: run_of_this_table


@dataclass(frozen=True)
class Unfinished:
    """What a look at a home finds: the runs that somebody is at work in or has left half-way, and the homes that any of
    its journals names."""

    runs: list[Run]
    homes: set[str]


def unfinished_in(fs: FileSystem, home: str, table: str, location: str) -> Unfinished:
    """Reads one record of each run that has ended, and all of the others."""
    found = Unfinished([], set())
    try:
        folders = [entry.path for entry in fs.list(home) if entry.is_dir and RunFolder.parse(entry.name)]
    except FileNotFoundError:
        return found
    for folder in folders:
        _look_into(fs, folder, found)
    return Unfinished([run for run in found.runs if run.is_of(table, location)], found.homes)


def _look_into(fs: FileSystem, folder: str, found: Unfinished) -> None:
    try:
        last = Journal(fs, folder).last()
    except FileNotFoundError:
        return
    if last is None:
        return
    if last.kind in (journal.FINISHED, journal.LEFT):
        found.homes.update(last.body["homes"])  # guard: homes_by_journal
        if not last.body["unsettled"]:
            return
    run = _run(fs, folder)
    if run is not None:
        found.homes.update(run.state.homes)
        found.runs.append(run)


def leave(runs: Iterable[Run], kind: str = journal.LEFT, **body: Any) -> None:
    """The last record of a visit to all folders of a run; it says whether an intent stays open, and where the run's
    other parts lie, so that nobody need read them all: only this leads to a home whose partition the metastore has
    forgotten. The folder in the table's own home comes last and answers for the others too."""
    unsettled = False
    for run in sorted(runs, key=lambda run: parent(run.folder) in run.state.homes[:1]):
        state = run.current()
        unsettled = unsettled or state.unsettled
        if state.entered:
            run.journal.append(kind, unsettled=unsettled, homes=list(state.homes), **body)


def runs_in(fs: FileSystem, home: str, table: str, location: str) -> list[Run]:
    """The runs of this table under a home, oldest first: by its name, or by its location if it was renamed since."""
    try:
        entries = fs.list(home)
    except FileNotFoundError:
        return []
    found = [run for entry in entries if entry.is_dir for run in [_run(fs, entry.path)] if run is not None]
    return sorted((run for run in found if run.is_of(table, location)), key=lambda run: run.state.started)


def _run(fs: FileSystem, folder: str) -> Run | None:
    parsed = RunFolder.parse(name_of(folder))
    if parsed is None:
        return None
    journal_ = Journal(fs, folder)
    try:
        state = journal_.state()
    except FileNotFoundError:
        return None
    return Run(parsed.run_id, folder, journal_, state) if state is not None else None


def next_run_id(run_id: str, existing: Iterable[Run]) -> str:
    """`run_id` itself, or its next generation where runs of that id stand already."""
    taken = {run.run_id for run in existing}
    number = 1
    while generation(run_id, number) in taken:
        number += 1
    return generation(run_id, number)
