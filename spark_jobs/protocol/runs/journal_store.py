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
from spark_jobs.core.errors import OutOfPlace, Unsafe
from spark_jobs.core.journal import Record, RunState
from spark_jobs.core.journal_bounds import uri_path, within
from spark_jobs.core.layout import RECORDS, generation, generation_number
from spark_jobs.core.model import parent
from spark_jobs.core.settled_runs import SettledRun
from spark_jobs.protocol.clock import utc_now
from spark_jobs.protocol.file_system import RecordFiles, Status
from spark_jobs.protocol.runs.rights import writing_in
from spark_jobs.protocol.runs.trust import RunFolderTrust

#: The file name of a published record.
_NUMBERED = re.compile(r"(\d+)\.json\Z")


class Journal:
    """The journal in the directory of one run. It can be used by several threads of one process.

    Args:
        trust: checks the owners of the records; None for a journal that this process has created.
    """

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
        """Return the same journal under the new name of its directory."""
        return Journal(self._fs, folder, self._trust, self._now)

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
            FileExistsError: another attempt has published a record under this number.
            FileNotFoundError: a fence has renamed the run's directory.
            PermissionError: the directory belongs to another account.
        """
        record = Record(kind, self._now(), body)
        with self._lock:
            number = (self._last if self._last is not None else self._count()) + 1
            staged = f"{self.path}/.{number:06d}-{uuid.uuid4().hex}"
            with writing_in(self._fs, self.folder, with_content=True):
                self._fs.create(staged, record.encode())
            self._publish(staged, self._numbered(number))
            self._last = number

    def _publish(self, staged: str, path: str) -> None:
        """Rename the record to its number. After an error, its location tells whether the rename was executed."""
        try:
            self._fs.rename(staged, path)
        except OSError:
            if self._fs.status(staged) is not None or self._fs.status(path) is None:
                raise

    def records(self) -> list[Record]:
        """Return all published records in order. The time of a record is not earlier than that of its file."""
        published = self._published()
        if list(published) != list(range(1, len(published) + 1)):
            raise Unsafe(
                f"{self.path} has {len(published)} records, and the last one has the number {max(published)}: records"
                " are missing; nothing is changed. Restore their files from the trash or a snapshot, or follow"
                " docs/manual-restore.md"
            )
        return [_dated(self._record(number), file.mtime) for number, file in published.items()]

    def last(self) -> Record | None:
        """Return the newest record; None without records. It tells whether the run is finished."""
        number = self._count()
        return self._record(number) if number else None

    def _record(self, number: int) -> Record:
        path = self._numbered(number)
        return Record.decode(self._fs.read_once(path), path)

    def _numbered(self, number: int) -> str:
        return f"{self.path}/{number:06d}.json"

    def state(self) -> RunState | None:
        """Return the state after all records. Raise Unsafe for records that this journal must not contain."""
        state = journal.fold(self.records())
        return within(state, parent(self.folder)) if state else None  # guard: journal_in_bounds

    def _count(self) -> int:
        return max(self._published(), default=0)

    def _published(self) -> dict[int, Status]:
        """Return the record files by number, in order.

        Raises:
            Refusal: the owner of a file is not trusted.
            OutOfPlace: a directory has the name of a record. No record can be published or read in its place.
        """
        found = ((_NUMBERED.match(status.name), status) for status in self._fs.list(self.path))
        files = {int(match[1]): status for match, status in found if match}
        for status in files.values():
            if status.is_dir:  # guard: records_are_files
                raise OutOfPlace(status.path, "a directory with the name of a journal record")
        if self._trust is not None:
            self._trust.check({file.owner for file in files.values()})
        return dict(sorted(files.items(), key=lambda item: item[0]))


def _dated(record: Record, millis: int) -> Record:
    written = datetime.fromtimestamp(millis / 1000, timezone.utc)
    return replace(
        record, at=max(record.at, written), said=record.at, filed=written
    )  # guard: dated_by_file_system


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
        """Return the state of the journal now; `state` is that of the time when the run was found."""
        return self.journal.state() or self.state

    def is_of(self, table: str, location: str) -> bool:
        """Tell whether the run belongs to this table, by its name or, after a renaming, by its location."""
        # guard: run_of_this_table
        return self.state.table == table or uri_path(self.state.location) == uri_path(location)


def leave(runs: Iterable[Run], kind: str = journal.LEFT, **body: Any) -> None:
    """Publish the record that closes the directories of a run.

    It says whether an intent is open, and names all homes of the run. So another job need not read all records to find
    them: nothing else leads to a home whose partition was dropped. The directory in the table's own home comes last,
    and its record counts for the others too.
    """
    unsettled = False
    for run in sorted(runs, key=lambda run: parent(run.folder) in run.state.homes[:1]):
        state = run.current()
        unsettled = unsettled or state.unsettled
        if state.entered:
            run.journal.append(
                kind, unsettled=unsettled, homes=list(state.homes), home_id=state.home_id, **body
            )


def next_run_id(run_id: str, existing: Iterable[Run | SettledRun]) -> str:
    """Return the run id; if runs of this id exist, the generation after the newest."""
    newest = max((generation_number(run_id, run.run_id) for run in existing), default=0)
    return generation(run_id, newest + 1)
