"""The record of settled runs on the file system: `<home>/settled/<number>.json.gz`. The highest number counts."""

from __future__ import annotations

import logging
import re
import uuid

from spark_jobs.core.messages.errors import Unsafe
from spark_jobs.core.messages.remedies import hdfs
from spark_jobs.core.messages.warning_codes import WarningCode
from spark_jobs.core.records.record_files import check_length
from spark_jobs.core.records.settled_runs import SettledRecord
from spark_jobs.core.values.layout import SETTLED
from spark_jobs.core.values.numbered_names import PADDED, following
from spark_jobs.protocol.file_system import DataDirectories, Status
from spark_jobs.protocol.runs.trust import RunDirectoryTrust, Trust

log = logging.getLogger("lakekeeper")

_NUMBERED = re.compile(rf"({PADDED})\.json\.gz\Z")
_STAGED = re.compile(rf"\.({PADDED})-[0-9a-f]{{32}}\Z")
#: A record is deleted only after the next one is published. A reader that misses it lists the directory again.
_READS = 5


class SettledStore:
    """The record of settled runs in one home.

    A record is never changed: it is written under a hidden name and renamed to the next number, which fails where the
    number is taken. It is trusted by the rules for journals.
    """

    def __init__(self, fs: DataDirectories, home: str, trust: Trust) -> None:
        self._fs = fs
        self._home = home
        self._trust = trust
        self._records: dict[str, SettledRecord] = {}
        #: A warning for the report if the record came with a copy of another home.
        self.notes: list[str] = []

    @property
    def directory(self) -> str:
        return f"{self._home}/{SETTLED}"

    def read(self) -> SettledRecord:
        """Return the latest record; an empty one if there is none, or if it came with a copy of another home.

        Raises:
            Unsafe: it cannot be read.
            Refusal: it belongs to an account that is not trusted.
        """
        for _ in range(_READS - 1):
            try:
                return self._latest()
            except FileNotFoundError:
                continue
        return self._latest()

    def publish(self, record: SettledRecord, after: int) -> None:
        """Publish a record under the number that follows `after`. The directory must exist.

        Raises:
            FileExistsError: another job has published a record meanwhile.
            OSError: it is not known whether the record is published.
            Refusal: NUMBER_TOO_HIGH, no number is left.
        """
        number = following(after, self.directory)
        staged = f"{self.directory}/.{number:06d}-{uuid.uuid4().hex}"
        self._fs.create(staged, record.encode())
        self._fs.rename(staged, self._path(number))
        self._records[self._path(number)] = record
        self._delete_older(number)

    def check_directory(self, directory: Status) -> None:
        """Raise Refusal for a directory in which an account that is not trusted can create a record."""
        self._trust.check_directory(directory)

    def number(self) -> int:
        """Return the number of the latest record; 0 if there is none."""
        return max(self._published(), default=0)

    def _latest(self) -> SettledRecord:
        number = self.number()
        if not number:
            return SettledRecord()
        record = self._decoded(self._path(number))
        if record.home_id == self._fs.identity(self._home):  # guard: copied_settled_record
            return record
        note = WarningCode.RECORD_OF_COPY.text(
            f"{self.directory} came here with a copy of another directory: its record of settled runs is ignored."
            f" Remove it: {hdfs.delete(self.directory)}"
        )
        self.notes = [note]
        return SettledRecord()

    def _decoded(self, path: str) -> SettledRecord:
        """Return the decoded record. Each one is decoded once, because a record never changes."""
        if path not in self._records:
            self._records[path] = SettledRecord.decode(self._fs.read(path), path)
        return self._records[path]

    def _path(self, number: int) -> str:
        return f"{self.directory}/{number:06d}.json.gz"

    def _published(self) -> dict[int, Status]:
        """Return the records by number. Raise Refusal if one is of an account that is not trusted."""
        try:
            matches = [(_NUMBERED.match(status.name), status) for status in self._fs.list(self.directory)]
        except FileNotFoundError:
            return {}
        files = {int(match[1]): status for match, status in matches if match and not status.is_dir}
        directory = self._fs.status(self.directory) if files else None
        if directory is not None:
            owners = {file.owner for file in files.values()}
            RunDirectoryTrust(self._trust, directory).check(owners)  # guard: settled_record_owner
        for file in files.values():
            _check_length(file)
        return files

    def _delete_older(self, number: int) -> None:
        """Delete the records before this one, and the hidden files that attempts to publish them have left."""
        for entry in self._fs.list(self.directory):
            match = _NUMBERED.match(entry.name) or _STAGED.match(entry.name)
            if match is None or int(match[1]) > number or entry.path == self._path(number):
                continue
            try:
                self._fs.delete_file(entry.path)
            except OSError as error:
                log.warning(
                    "an old record of settled runs is not deleted: %s; the next publication tries again",
                    error,
                )


def _check_length(file: Status) -> None:
    """Raise Unsafe for a record that is too large to be one of the jobs. It is not read."""
    try:
        check_length(file.length)
    except ValueError as error:
        raise Unsafe(
            f"the record of settled runs {file.path} cannot be read ({error}); nothing is changed. Move it away: the"
            " history of the runs in it is lost then"
        ) from None
