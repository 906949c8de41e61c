"""The survey that analyses keep: `<home>/log/survey/analysis-<number>`. The highest number counts.

It is no part of a snapshot of the commit log, because a snapshot is a change of the table, and an analysis makes none.
"""

from __future__ import annotations

import re
import uuid
from datetime import timedelta

from spark_jobs.core.commit_log import cache
from spark_jobs.core.commit_log.cache import Cache
from spark_jobs.core.commit_log.snapshots import BrokenLog
from spark_jobs.core.layout import LOG
from spark_jobs.protocol.commit_log.hint_folders import write_hint
from spark_jobs.protocol.file_system import RecordFiles, Status
from spark_jobs.protocol.runs.trust import Trust

_NUMBERED = re.compile(r"analysis-(\d{1,18})\Z")
_STAGED = re.compile(r"\.analysis-[0-9a-f]{32}\Z")
#: A hidden file that is older than the survey that was just written, by so much, was left by a job that died.
_DEAD_AFTER = timedelta(hours=1)


class AnalysisStore:
    """The survey of analyses in one home.

    A file is never changed: it is written under a hidden name, and renamed to the next number, which fails where
    another analysis was faster. So no lease is needed, and no reader sees a part of a file.
    """

    def __init__(self, fs: RecordFiles, home: str, trust: Trust) -> None:
        self.folder = f"{home}/{LOG}/survey"
        self._fs = fs
        self._trust = trust
        self._read: Cache | None = None

    def read(self) -> Cache:
        """Return the survey; empty if there is none that can be read, or if another account wrote it."""
        if self._read is None:
            try:
                self._read = self._newest()
            except (BrokenLog, OSError):
                self._read = {}
        return self._read

    def publish(self, survey: Cache) -> None:
        """Write a survey into the folder, which exists. Then delete earlier ones. Raise OSError."""
        number = max(self._numbered(), default=0) + 1
        staged = f"{self.folder}/.analysis-{uuid.uuid4().hex}"
        write_hint(self._fs, staged, f"{self.folder}/analysis-{number:06d}", cache.encode(survey))
        self._delete_older(number)

    def _newest(self) -> Cache:
        found = self._numbered()
        newest = found[max(found)] if found else None
        if newest is None or not self._trust.counts(newest.owner):
            return {}
        return cache.decode(self._fs.read(newest.path), newest.path)

    def _numbered(self) -> dict[int, Status]:
        try:
            found = [(_NUMBERED.match(status.name), status) for status in self._fs.list(self.folder)]
        except FileNotFoundError:
            return {}
        return {int(match[1]): status for match, status in found if match and not status.is_dir}

    def _delete_older(self, number: int) -> None:
        entries = self._fs.list(self.folder)
        written = max((entry.mtime for entry in entries if _NUMBERED.match(entry.name)), default=0)
        dead = written - int(_DEAD_AFTER.total_seconds() * 1000)
        for entry in entries:
            match = _NUMBERED.match(entry.name)
            if (match and int(match[1]) < number) or (_STAGED.match(entry.name) and entry.mtime < dead):
                self._fs.delete_file(entry.path)
