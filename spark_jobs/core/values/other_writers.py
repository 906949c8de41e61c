"""The files and directories of other writers in a table, identified by name, length and age.

Sources: the documentation of Flink's file sink, NiFi's PutHDFS, Flume's HDFS sink, Kafka Connect's HDFS sink, Hive,
Spark and Impala; docs/design/planning.md has the table.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timezone

from spark_jobs.core.messages.errors import Refusal
from spark_jobs.core.messages.refusals import RefusalCode

SUCCESS = "_SUCCESS"
#: Names of directories and files that exist while a writer is active.
_STAGING_PREFIXES = (
    "_temporary",
    ".hive-staging",
    ".spark-staging",
    ".staging",
    "_impala_insert_staging",
    "_tmp.",
    "-tmp.",
)
_STAGING_NAMES = ("+tmp",)
#: The setting by which Hive and Spark name their staging directories; a number follows the name.
STAGING_SETTING = "hive.exec.stagingdir"
_STAGING_SUFFIX = "._COPYING_"
#: A file that its writer will rename later. It may be closed already.
_PENDING = re.compile(r".*\.(tmp|temp|inprogress|filepart|partial|writing)(\..*)?\Z", re.IGNORECASE)
#: Empty files with these names are empty outputs of tasks. Any other empty file is a flag for some reader.
_EMPTY_OUTPUT = re.compile(
    r"(part[-_]|attempt_|\d{6}_\d|FlumeData).*"
    r"|.*\.(parquet|parq|orc|avro|csv|tsv|txt|json|seq|gz|snappy|lz4|lzo|bz2|deflate|zst)\Z",
    re.IGNORECASE,
)
#: Summary files of Parquet, which list the files of a directory and those below it.
SUMMARIES = ("_metadata", "_common_metadata")
#: topic+partition+first offset+last offset. Kafka Connect continues after the highest offset that it finds.
_OFFSETS = re.compile(r"\.?[^+]+\+\d+\+\d+\+\d+(\..*)?\Z")


def is_hidden(name: str) -> bool:
    """Tell whether Hive, Spark and Impala ignore this name, because it starts with `_` or `.`."""
    return name.startswith(("_", "."))


def is_staging(name: str) -> bool:
    """Tell whether a file or directory of this name belongs to a writer that is still active."""
    return name.startswith(_STAGING_PREFIXES) or name.endswith(_STAGING_SUFFIX) or name in _STAGING_NAMES


def staging_names(settings: Iterable[str | None]) -> tuple[str, ...]:
    """Return the beginnings of the names of staging directories, by values of STAGING_SETTING: names or paths."""
    names = ((value or "").strip().rstrip("/").rpartition("/")[2] for value in settings)
    return tuple(dict.fromkeys(name for name in names if name.strip(".")))


def is_flag(name: str, length: int) -> bool:
    """Tell whether a file is a flag: a file without content whose name is a signal (`_SUCCESS`, `_READY`, `DONE`)."""
    return not length and not _PENDING.match(name) and (is_hidden(name) or not _EMPTY_OUTPUT.match(name))


def has_offsets(name: str) -> bool:
    """Tell whether Kafka Connect would read from this name, after a restart, at which offset to continue."""
    return bool(_OFFSETS.match(name))


def belongs_to_writer(name: str, length: int) -> bool:
    """Tell whether a file stays with the live directory: it is hidden, and not a flag.

    It has content, or its writer will still write some. No reader reads it as data, and it belongs to its writer.
    """
    return is_hidden(name) and not is_flag(name, length)


def _is_unfinished(name: str, length: int) -> bool:
    """Tell whether a writer may still rename this file, or write into it, if it is young."""
    return bool(_PENDING.match(name)) or (belongs_to_writer(name, length) and name != SUCCESS)


def moment(mtime: int) -> str:
    """Return a time of a file system, in ms since the epoch, for a message."""
    try:
        return f"at {datetime.fromtimestamp(mtime / 1000, timezone.utc):%Y-%m-%d %H:%M} UTC"
    except (OverflowError, OSError, ValueError):
        return f"{mtime} ms after 1970"


@dataclass(frozen=True)
class WriterRules:
    """The rules for files of other writers.

    Attributes:
        dead_before: a pending file that is older than this time (ms since the epoch) counts as abandoned. None: no file
            counts as pending.
        future_from: a time from this one on (ms since the epoch) does not tell that a writer is active. None: each time
            counts.
        note: takes the path and the time of each file whose time is such a one.
        offsets: files with offsets in their names are allowed.
        described: summary files are allowed.
        staged: staging files of writers are allowed.
        staging: the beginnings of the names of staging directories that a setting names.
    """

    dead_before: int | None = None
    future_from: int | None = None
    note: Callable[[str, int], object] | None = field(default=None, compare=False)
    offsets: bool = False
    described: bool = False
    staged: bool = False
    staging: tuple[str, ...] = ()

    def is_staging(self, name: str, is_dir: bool) -> bool:
        """Tell whether a file or directory of this name belongs to a writer that may be active."""
        return is_staging(name) or (is_dir and name.startswith(self.staging))

    def may_be_active(self, path: str, mtime: int) -> bool:
        """Tell whether the writer of a staging directory that was changed at this time may still be active."""
        return self.dead_before is None or self.is_young(path, mtime)

    def is_young(self, path: str, mtime: int) -> bool:
        """Tell whether a file or directory was changed so lately that its writer may still be active."""
        if self.dead_before is None:
            return False
        if self.future_from is not None and mtime >= self.future_from:  # guard: future_is_no_evidence
            if self.note:
                self.note(path, mtime)
            return False
        return mtime >= self.dead_before

    def check_summary(self, path: str, name: str) -> None:
        """Raise Refusal for a summary file, which would not match the rewritten files."""
        if name in SUMMARIES and not self.described:  # guard: summary_files
            raise Refusal(
                RefusalCode.PARQUET_SUMMARY,
                f"{path} lists files by name, and its readers would look for files that do not exist any more; delete"
                " it: without it, readers read the footers of the files",
            )

    def check_file(self, path: str, name: str, length: int, mtime: int) -> None:
        """Raise Refusal for a file that its writer still needs under this name.

        Args:
            path: the URI of the file.
            length: in bytes.
            mtime: in ms since the epoch.
        """
        if self.is_young(path, mtime) and _is_unfinished(name, length):  # guard: pending_files
            raise Refusal(
                RefusalCode.ACTIVE_WRITER,
                f"{path} may be pending: its writer could still rename it (after 'staging_ttl' it counts as abandoned,"
                " and is kept)",
            )
        self.check_summary(path, name)
        if not self.offsets and has_offsets(name):  # guard: offsets_in_names
            raise Refusal(
                RefusalCode.OFFSETS_IN_NAMES,
                f"{path} is named by Kafka Connect, which reads from the names where to continue, and would write"
                " rows twice; if the connector is retired, set lakekeeper.kafka_connect=retired",
            )
