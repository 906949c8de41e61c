"""Journals on the file system: publishing records, and reading them."""

from __future__ import annotations

import re
import threading
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from spark_jobs.core.messages.errors import LakekeeperError, OutOfPlace, Unsafe
from spark_jobs.core.records import journal
from spark_jobs.core.records.held import closing_fields
from spark_jobs.core.records.journal import Record, RunState
from spark_jobs.core.records.journal_bounds import is_same_table, within
from spark_jobs.core.records.record_files import check_length, check_readable
from spark_jobs.core.records.settled_runs import SettledRun
from spark_jobs.core.values.file_times import time_of
from spark_jobs.core.values.layout import RECORDS, generation, generation_number
from spark_jobs.core.values.model import FileEntry, parent
from spark_jobs.core.values.numbered_names import PADDED, following
from spark_jobs.protocol.file_system import RecordFiles, Status
from spark_jobs.protocol.measuring.clock import utc_now
from spark_jobs.protocol.runs.rights import writing_in
from spark_jobs.protocol.runs.trust import RunDirectoryTrust

#: The file name of a published record.
_NUMBERED = re.compile(rf"({PADDED})\.json\Z")


@dataclass(frozen=True)
class _Folded:
    """The state after the first records of a journal.

    Attributes:
        files: those records, as they were listed.
        state: what follows from them.
        bounded: the same with paths below the home, which are checked; None if there is no record.
    """

    files: tuple[FileEntry, ...] = ()
    state: RunState | None = None
    bounded: RunState | None = None


class JournalCache:
    """What one process has read of a journal: records never change, so that each one is read and decoded once.

    The directory is listed each time, and all records are read again where the listing shows other files than before.
    """

    def __init__(self) -> None:
        self.folded = _Folded()
        #: Records that this process has written and not read yet, by number.
        self.written: dict[int, bytes] = {}


class JournalCaches(defaultdict[str, JournalCache]):
    """The caches of the journals of one table, by the paths of the runs' directories."""

    def __init__(self) -> None:
        super().__init__(JournalCache)


class Journal:
    """The journal in the directory of one run. It can be used by several threads of one process.

    Args:
        trust: checks the owners of the records; None for a journal that this process has created.
        cache: what was read of this journal before, also under another name of its directory.
    """

    def __init__(
        self,
        fs: RecordFiles,
        directory: str,
        trust: RunDirectoryTrust | None = None,
        now: Callable[[], datetime] = utc_now,
        cache: JournalCache | None = None,
    ) -> None:
        self._fs = fs
        self.directory = directory
        self._trust = trust
        self._now = now
        self._cache = cache or JournalCache()
        self._lock = threading.Lock()
        self._last: int | None = None

    @property
    def path(self) -> str:
        return f"{self.directory}/{RECORDS}"

    def moved(self, directory: str) -> Journal:
        """Return the same journal under the new name of its directory."""
        return Journal(self._fs, directory, self._trust, self._now, self._cache)

    def open(self) -> None:
        """Create the directory for records.

        No other method creates it: a directory that a fence has renamed must not exist again under its old name.
        """
        self._fs.mkdirs(self.path)

    def append(self, kind: str, **body: Any) -> None:
        """Publish a record under the next number.

        It is written and flushed under a hidden name, then renamed. So no reader sees a part of it, and no number is
        used twice.

        Raises:
            LakekeeperError: it is too large. Nothing is published: what nobody could read, nobody could undo.
            FileExistsError: another attempt has published a record under this number.
            FileNotFoundError: a fence has renamed the run's directory.
            PermissionError: the directory belongs to another account.
        """
        data = self._encoded(kind, body)
        with self._lock:
            number = following(self._last if self._last is not None else self._count(), self.path)
            staged = f"{self.path}/.{number:06d}-{uuid.uuid4().hex}"
            with writing_in(self._fs, self.directory, with_content=True):
                self._fs.create(staged, data)
            self._publish(staged, self._numbered(number))
            self._last = number
            self._cache.written[number] = data

    def _encoded(self, kind: str, body: Mapping[str, Any]) -> bytes:
        data = Record(kind, self._now(), body).encode()
        try:
            check_readable(data)  # guard: records_that_can_be_read
        except ValueError as error:
            what = f"a record of {kind} in {self.path} is not written, because {error}"
            raise LakekeeperError(f"{what}. A directory has too many files for one job") from None
        return data

    def _publish(self, staged: str, path: str) -> None:
        """Rename the record to its number. After an error, its location tells whether the rename was executed."""
        try:
            self._fs.rename(staged, path)
        except OSError:
            if self._fs.status(staged) is not None or self._fs.status(path) is None:
                raise

    def newest(self) -> Record:
        """Return the newest record, with a time that is not earlier than its file's. There must be one."""
        number, file = max(self._published().items())
        return _dated(self._record(number), file.mtime)

    def _complete(self) -> dict[int, Status]:
        """Return the record files by number, in order. Raise Unsafe if one is missing."""
        published = self._published()
        if list(published) != list(range(1, len(published) + 1)):
            raise Unsafe(
                f"{self.path} has {len(published)} records, and the last one has the number {max(published)}: records"
                " are missing; nothing is changed. Restore their files from the trash or a snapshot, or follow"
                " docs/safety/manual-restore.md"
            )
        return published

    def last(self) -> Record | None:
        """Return the newest record; None without records. It tells whether the run is finished."""
        number = self._count()
        return self._record(number) if number else None

    def _record(self, number: int) -> Record:
        path = self._numbered(number)
        data = self._cache.written.get(number)
        return Record.decode(self._fs.read_once(path) if data is None else data, path)

    def _numbered(self, number: int) -> str:
        return f"{self.path}/{number:06d}.json"

    def state(self) -> RunState | None:
        """Return the state after all records. Raise Unsafe for records that this journal must not contain.

        The time of a record is not earlier than its file's.
        """
        published = self._complete()
        files = tuple(file.entry() for file in published.values())
        known = self._cache.folded
        if files != known.files:
            known = self._fold(known, published, files)
            self._cache.folded = known
        return known.bounded

    def _fold(self, known: _Folded, published: Mapping[int, Status], files: tuple[FileEntry, ...]) -> _Folded:
        if files[: len(known.files)] != known.files:
            known = _Folded()
            self._cache.written.clear()
        new = list(published.items())[len(known.files) :]
        records = (_dated(self._record(number), file.mtime) for number, file in new)
        state = journal.state_after(records, known.state)
        bounded = within(state, parent(self.directory)) if state else None  # guard: journal_in_bounds
        for number, _ in new:
            self._cache.written.pop(number, None)
        return _Folded(files, state, bounded)

    def _count(self) -> int:
        return max(self._published(), default=0)

    def _published(self) -> dict[int, Status]:
        """Return the record files by number, in order.

        Raises:
            Refusal: the owner of a file is not trusted.
            OutOfPlace: a directory has the name of a record. No record can be published or read in its place.
        """
        matches = ((_NUMBERED.match(status.name), status) for status in self._fs.list(self.path))
        files = {int(match[1]): status for match, status in matches if match}
        for status in files.values():
            if status.is_dir:  # guard: records_are_files
                raise OutOfPlace(status.path, "a directory with the name of a journal record")
        if self._trust is not None:
            self._trust.check({file.owner for file in files.values()})
        for status in files.values():
            _check_length(status)
        return dict(sorted(files.items(), key=lambda item: item[0]))


def _check_length(status: Status) -> None:
    """Raise Unsafe for a record that is too large to be one of the jobs. It is not read."""
    try:
        check_length(status.length)
    except ValueError as error:
        raise Unsafe(f"journal record {status.path} cannot be read ({error}); nothing is changed") from None


def _dated(record: Record, millis: int) -> Record:
    written = time_of(millis)
    return replace(
        record, at=max(record.at, written), said=record.at, filed=written
    )  # guard: dated_by_file_system


@dataclass(frozen=True)
class Run:
    """A run found on the file system."""

    run_id: str
    directory: str
    journal: Journal
    state: RunState

    def path(self, relative: str) -> str:
        return f"{self.directory}/{relative}"

    def current(self) -> RunState:
        """Return the state of the journal now; `state` is older: of the time when the run was found."""
        return self.journal.state() or self.state

    def is_of(self, table: str, location: str) -> bool:
        """Tell whether the run belongs to this table."""
        return is_same_table(self.state.table, self.state.location, table, location)


def leave(runs: Iterable[Run], kind: str = journal.LEFT, **body: Any) -> None:
    """Publish the record that closes the directories of a run.

    It says whether an intent is open and what the directory holds, and names all homes of the run. So another job need
    not read all records to find them: nothing else leads to a home whose partition was dropped. The directory in the
    table's own home comes last, and its record counts for the others too.
    """
    has_open_intent = False
    for run in sorted(runs, key=lambda run: parent(run.directory) in run.state.homes[:1]):
        state = run.current()
        has_open_intent = has_open_intent or state.has_open_intent
        if state.entered:
            fields = {
                "has_open_intent": has_open_intent,
                "homes": list(state.homes),
                "home_id": state.home_id,
            }
            run.journal.append(kind, **fields, **closing_fields(state), **body)


def next_run_id(run_id: str, existing: Iterable[Run | SettledRun]) -> str:
    """Return the run id; if runs of this id exist, the generation after the newest."""
    newest = max((generation_number(run_id, run.run_id) for run in existing), default=0)
    return generation(run_id, following(newest, run_id))
