"""What other writers keep in a table's directories, told by name, length and age.

Sources: the documentation of Flink's file sink, NiFi's PutHDFS, Flume's HDFS sink, Kafka Connect's HDFS sink, Hive,
Spark and Impala; docs/design.md has the table.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from spark_jobs.core.errors import Refusal
from spark_jobs.core.refusals import RefusalCode

SUCCESS = "_SUCCESS"
#: Folders and files by which a running writer gives itself away.
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
_STAGING_SUFFIX = "._COPYING_"
#: A file that its writer has still to rename, also where it is closed.
_PENDING = re.compile(r".*\.(tmp|temp|inprogress|filepart|partial|writing)(\..*)?\Z", re.IGNORECASE)
#: Files without content by these names are empty outputs of tasks; any other one is a flag that somebody looks for.
_EMPTY_OUTPUT = re.compile(
    r"(part[-_]|attempt_|\d{6}_\d|FlumeData).*"
    r"|.*\.(parquet|parq|orc|avro|csv|tsv|txt|json|seq|gz|snappy|lz4|lzo|bz2|deflate|zst)\Z",
    re.IGNORECASE,
)
#: Parquet's summary files list the files of a directory, and those below it.
SUMMARIES = ("_metadata", "_common_metadata")
#: topic+partition+first offset+last offset: Kafka Connect goes on after the highest one that it finds.
_OFFSETS = re.compile(r"\.?[^+]+\+\d+\+\d+\+\d+(\..*)?\Z")


def is_hidden(name: str) -> bool:
    """Hive, Spark and Impala do not read names that start with `_` or `.`."""
    return name.startswith(("_", "."))


def is_staging(name: str) -> bool:
    """Does this name belong to a writer that has not finished?"""
    return name.startswith(_STAGING_PREFIXES) or name.endswith(_STAGING_SUFFIX) or name in _STAGING_NAMES


def is_flag(name: str, length: int) -> bool:
    """A file without content that says something by being there: `_SUCCESS`, `_READY`, `DONE`."""
    return not length and not _PENDING.match(name) and (is_hidden(name) or not _EMPTY_OUTPUT.match(name))


def has_offsets(name: str) -> bool:
    """Would Kafka Connect, after a restart, look for this name to know where to go on?"""
    return bool(_OFFSETS.match(name))


def is_kept(name: str, length: int) -> bool:
    """A hidden file with content, or one that waits for it: nobody reads it as data, and it is not ours to judge."""
    return is_hidden(name) and not is_flag(name, length)


@dataclass(frozen=True)
class WriterRules:
    """How files of other writers are judged. A pending file that is older than `dead_before` (ms since the epoch) has
    been given up; None: nothing is taken for pending. `offsets`: names that hold offsets are names like any other;
    `described`: and so are those of summary files; `staged`: and so are those of files that a writer stages."""

    dead_before: int | None = None
    offsets: bool = False
    described: bool = False
    staged: bool = False

    def check_summary(self, path: str, name: str) -> None:
        """Raises Refusal for a file that describes others, and would be wrong of the new ones."""
        if name in SUMMARIES and not self.described:  # guard: summary_files
            raise Refusal(
                RefusalCode.PARQUET_SUMMARY,
                f"{path} lists files by name, and readers that use it would look for those that are gone; delete it,"
                " for without it readers ask the files themselves",
            )

    def check_file(self, path: str, name: str, length: int, mtime: int) -> None:
        """Raises Refusal for a file that a writer still counts on, where and as it is."""
        young = self.dead_before is not None and mtime >= self.dead_before
        unfinished = _PENDING.match(name) or (is_kept(name, length) and name != SUCCESS)
        if young and unfinished:  # guard: pending_files
            raise Refusal(
                RefusalCode.ACTIVE_WRITER,
                f"{path} may be pending: its writer could still rename it (after the time of 'staging_ttl' it is taken"
                " for given up, and stays where it is)",
            )
        self.check_summary(path, name)
        if not self.offsets and has_offsets(name):  # guard: offsets_in_names
            raise Refusal(
                RefusalCode.OFFSETS_IN_NAMES,
                f"{path} is named by Kafka Connect, which finds out from the names where to go on, and would write"
                " rows twice; if the connector is retired, say so: lakekeeper.kafka_connect=retired",
            )
