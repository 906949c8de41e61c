"""Journals on the file system: publishing records, and reading them."""

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
from spark_jobs.core.journal_bounds import uri_path, within
from spark_jobs.core.layout import RECORDS, generation
from spark_jobs.core.model import parent
from spark_jobs.core.settled_runs import SettledRun
from spark_jobs.protocol.clock import utc_now
from spark_jobs.protocol.file_system import RecordFiles, Status
from spark_jobs.protocol.runs.trust import RunFolderTrust

#: The folder for records in a run's folder.
_NUMBERED = re.compile(r"(\d+)\.json\Z")


class Journal:
    """The journal in one run folder. Safe to use from several threads of one process. One that was found, and not
    made by this process, is read with `trust` alone."""

    def __init__(
        self,
        fs: RecordFiles,
        folder: str,
        trust: RunFolderTrust | None = None,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self._fs = fs
        self.folder = folder
        self._trust = trust
        self._now = now
        self._lock = threading.Lock()
        self._last: int | None = None

    @property
    def path(self) -> str:
        return f"{self.folder}/{RECORDS}"

    def moved(self, folder: str) -> Journal:
        """The same journal, whose folder has another name now."""
        return Journal(self._fs, folder, self._trust, self._now)

    def open(self) -> None:
        """Makes the run's folder; the only place that does, so that a folder renamed away stays away."""
        self._fs.mkdirs(self.path)

    def append(self, kind: str, **body: Any) -> None:
        """Publishes a record: written and flushed under a hidden name, then renamed; an existing number is
        never overwritten."""
        record = Record(kind, self._now(), body)
        with self._lock:
            number = (self._last if self._last is not None else self._count()) + 1
            staged = f"{self.path}/.{number:06d}-{uuid.uuid4().hex}"
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
            raise Unsafe(f"{self.path} has a gap in its numbers; nothing is changed")
        return [_dated(self._record(number), file.mtime) for number, file in published.items()]

    def last(self) -> Record | None:
        """The newest record alone: it tells whether somebody is at work, or stopped half-way."""
        number = self._count()
        return self._record(number) if number else None

    def _record(self, number: int) -> Record:
        path = self._numbered(number)
        return Record.decode(self._fs.read_once(path), path)

    def _numbered(self, number: int) -> str:
        return f"{self.path}/{number:06d}.json"

    def state(self) -> RunState | None:
        """What the records add up to; raises Unsafe for what this journal has no business with."""
        state = journal.fold(self.records())
        return within(state, parent(self.folder)) if state else None  # guard: journal_in_bounds

    def _count(self) -> int:
        return max(self._published(), default=0)

    def _published(self) -> dict[int, Status]:
        """The records' files by number, in order; raises Refusal where one is of an account that is not trusted."""
        found = ((_NUMBERED.match(status.name), status) for status in self._fs.list(self.path))
        files = {int(match[1]): status for match, status in found if match}
        if self._trust is not None:
            self._trust.check({file.owner for file in files.values()})
        return dict(sorted(files.items(), key=lambda item: item[0]))


def _dated(record: Record, millis: int) -> Record:
    written = datetime.fromtimestamp(millis / 1000, timezone.utc)
    return replace(record, at=max(record.at, written), said=record.at)  # guard: dated_by_file_system


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
        # guard: run_of_this_table
        return self.state.table == table or uri_path(self.state.location) == uri_path(location)


def leave(runs: Iterable[Run], kind: str = journal.LEFT, **body: Any) -> None:
    """Publish the record that closes all folders of a run; it says whether an intent stays open, and where the run's
    other parts lie, so that nobody need read them all: only this leads to a home whose partition the metastore has
    forgotten. The folder in the table's own home comes last and answers for the others too."""
    unsettled = False
    for run in sorted(runs, key=lambda run: parent(run.folder) in run.state.homes[:1]):
        state = run.current()
        unsettled = unsettled or state.unsettled
        if state.entered:
            run.journal.append(
                kind, unsettled=unsettled, homes=list(state.homes), home_id=state.home_id, **body
            )


def next_run_id(run_id: str, existing: Iterable[Run | SettledRun]) -> str:
    """`run_id` itself, or its next generation where runs of that id stand already."""
    taken = {run.run_id for run in existing}
    number = 1
    while generation(run_id, number) in taken:
        number += 1
    return generation(run_id, number)
