"""A file of which the highest number counts: `<home>/log/survey/<name>-<number>`. Nothing depends on it."""

from __future__ import annotations

import re
import uuid
from datetime import timedelta

from spark_jobs.core.records.record_files import MOST_BYTES
from spark_jobs.core.values.layout import LOG
from spark_jobs.core.values.numbered_names import PADDED, following
from spark_jobs.protocol.commit_log.hint_directories import write_hint
from spark_jobs.protocol.file_system import RecordFiles, Status
from spark_jobs.protocol.runs.trust import Trust

#: A hidden file that is older than the file that was just written, by so much, was left by a job that died.
_DEAD_AFTER = timedelta(hours=1)


class NumberedHint:
    """The files of one name in one home.

    A file is never changed: it is written under a hidden name, and renamed to the next number, which fails where
    another job was faster. So no lease is needed, and no reader sees a part of a file.
    """

    def __init__(self, fs: RecordFiles, home: str, trust: Trust, name: str) -> None:
        self.directory = f"{home}/{LOG}/survey"
        self._fs = fs
        self._trust = trust
        self._name = name
        self._numbers = re.compile(rf"{name}-({PADDED})\Z")
        self._staged = re.compile(rf"\.{name}-[0-9a-f]{{32}}\Z")

    def read(self) -> tuple[str, bytes] | None:
        """Return the path and the content of the newest file; None if there is none that counts.

        It does not count if another account wrote it, or if it is too large to be one of the jobs.

        Raises:
            OSError: it cannot be read.
        """
        hints = self._numbered()
        newest = hints[max(hints)] if hints else None
        if newest is None or newest.length > MOST_BYTES or not self._trust.counts(newest.owner):
            return None
        return newest.path, self._fs.read(newest.path)

    def publish(self, data: bytes) -> None:
        """Write the next file into the directory, which exists. Then delete earlier ones.

        Raises:
            OSError: it is not known whether the file is there.
            Refusal: NUMBER_TOO_HIGH, no number is left.
        """
        number = following(max(self._numbered(), default=0), self.directory)
        staged = f"{self.directory}/.{self._name}-{uuid.uuid4().hex}"
        write_hint(self._fs, staged, f"{self.directory}/{self._name}-{number:06d}", data)
        self._delete_older(number)

    def _numbered(self) -> dict[int, Status]:
        try:
            matches = [(self._numbers.match(status.name), status) for status in self._fs.list(self.directory)]
        except FileNotFoundError:
            return {}
        return {int(match[1]): status for match, status in matches if match and not status.is_dir}

    def _delete_older(self, number: int) -> None:
        entries = self._fs.list(self.directory)
        written = max((entry.mtime for entry in entries if self._numbers.match(entry.name)), default=0)
        dead = written - int(_DEAD_AFTER.total_seconds() * 1000)
        for entry in entries:
            match = self._numbers.match(entry.name)
            if (match and int(match[1]) < number) or (self._staged.match(entry.name) and entry.mtime < dead):
                self._fs.delete_file(entry.path)
