"""The files of the commit log: their names, and which of them count.

Each account with write permission on the log's directories can put a file there. As with journals, a file counts only
if it belongs to an account that is trusted, and nothing of another one is decompressed or parsed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from spark_jobs.core.records import row_counts
from spark_jobs.core.records.record_files import MOST_BYTES
from spark_jobs.core.records.row_counts import Rows
from spark_jobs.core.records.snapshots import BrokenLog, Snapshot
from spark_jobs.core.values.layout import LOG
from spark_jobs.core.values.numbered_names import PLAIN
from spark_jobs.protocol.file_system import RecordFiles, Status
from spark_jobs.protocol.runs.trust import Trust

_NUMBERED = re.compile(rf"snapshot-({PLAIN})\Z")
#: The names of files that an attempt to publish may leave, by directory. Files with other names are never deleted.
OURS = {
    "snapshot": re.compile(r"\.snapshot-[0-9a-f]{32}\Z"),
    "manifest": re.compile(r"(manifest-(list-)?|rows-)[0-9a-f]{32}\Z"),
    "survey": re.compile(r"survey-[0-9a-f]{32}\Z"),
}


class LogFiles:
    """The directories of the commit log in one home.

    Args:
        trust: tells whose files count; None if all do.
    """

    def __init__(self, fs: RecordFiles, home: str, trust: Trust | None) -> None:
        self._fs = fs
        self._home = home
        self._trust = trust
        self._statuses: dict[str, dict[str, Status]] = {}

    def directory(self, name: str) -> str:
        """Return a directory of the log."""
        return f"{self._home}/{LOG}/{name}"

    def path(self, directory: str, name: str) -> str:
        """Return the path of a file that a snapshot names. Raise BrokenLog if it is not a file name of the log."""
        if not _NUMBERED.match(name) and not OURS[directory].match(name):  # guard: names_in_the_log
            raise BrokenLog(
                f"{self.directory(directory)}: a snapshot names {name!r}, which is no file of the log"
            )
        return f"{self.directory(directory)}/{name}"

    def listing(self, directory: str) -> Sequence[Status]:
        """List a directory of the log; nothing if it does not exist."""
        try:
            statuses = self._fs.list(self.directory(directory))
        except FileNotFoundError:
            statuses = []
        self._statuses[directory] = {status.name: status for status in statuses}
        return statuses

    def read(self, directory: str, name: str) -> tuple[bytes, str]:
        """Return the content and the path of a file of the log.

        Its owner and its size are known from the listing of its directory, which is read once for all its files.

        Raises:
            BrokenLog: it does not count.
            FileNotFoundError: it does not exist.
        """
        path = self.path(directory, name)
        if name not in self._statuses.get(directory, {}):
            self.listing(directory)
        status = self._statuses[directory].get(name)
        if status is None:
            raise FileNotFoundError(path)
        self.check(status)
        return self._fs.read(path), path

    def check(self, file: Status) -> None:
        """Raise BrokenLog for a file that does not count. It is not read."""
        if self._trust is not None and not self._trust.counts(file.owner):  # guard: commit_log_owner
            raise BrokenLog(
                f"{file.path} was written by {file.owner}, whose records do not count. If that account may work on"
                " this table, name it: trusted_owners in the configuration, or --trusted-owners; else remove the file"
            )
        if file.length > MOST_BYTES:  # guard: commit_log_length
            raise BrokenLog(
                f"{file.path} of the commit log cannot be read: it has more than {MOST_BYTES} bytes"
            )

    def numbers(self) -> list[int]:
        """List the numbers of the snapshots."""
        matches = (_NUMBERED.match(status.name) for status in self.listing("snapshot"))
        return [int(match[1]) for match in matches if match]

    def snapshot(self, number: int) -> str:
        """Return the path of a snapshot."""
        return f"{self.directory('snapshot')}/snapshot-{number}"

    def rows(self, snapshot: Snapshot | None) -> Rows:
        """Return the rows of each unit that are known at a snapshot. Where they are not, they are counted anew."""
        try:
            return self.read_rows(snapshot)
        except (BrokenLog, FileNotFoundError):
            return {}

    def read_rows(self, snapshot: Snapshot | None) -> Rows:
        """Return the rows of each unit that a snapshot knows. Raise BrokenLog or OSError if they cannot be read."""
        if snapshot is None or snapshot.row_counts is None:
            return {}
        return row_counts.decode(*self.read("manifest", snapshot.row_counts))
