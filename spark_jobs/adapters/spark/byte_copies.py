"""Copies files byte by byte, and compares them, in the JVMs of the executors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

from spark_jobs.adapters.spark.catalyst import RowCalls
from spark_jobs.core.model import FileListing
from spark_jobs.core.namenode_calls import NameNodeCalls

_BUFFER = 1024 * 1024


class ByteCopies:
    """The copies of one driver."""

    def __init__(self, spark: SparkSession, calls: NameNodeCalls) -> None:
        self._spark = spark
        self._calls = calls
        self._jvm = spark._jvm

    def copy(self, directory: str, files: FileListing, target: str) -> dict[str, str]:
        """Copy files into another directory, with the block size and replication of the originals.

        Each attempt of a task writes a file of its own, so that a second one, by speculation or after a failure,
        neither fails nor changes what the first one has written. Which attempt counts is decided by Spark, which takes
        the answer of one. An attempt does not create the directory: one that comes late fails when it was deleted.

        Returns:
            The URI of the copy of each file, by the name of the file.
        """
        rows = [
            (f"{directory}/{file.name}", target, *self._layout(directory, file.name)) for file in files.data
        ]
        # Spark's own `uuid()` is the same for all attempts of a task.
        name = F.expr("concat(target, '/', reflect('java.util.UUID', 'randomUUID'))")
        calls = _Calls(self._spark, rows, name)
        written = calls.invoke(
            calls.file_system("target"),
            "createNonRecursive",
            "java.io.OutputStream",
            calls.path("target"),
            *(calls.column(name) for name in ("no", "buffer", "replication", "block")),
            calls.nothing("org.apache.hadoop.util.Progressable"),
        )
        copied = calls.static(
            "org.apache.spark.util.Utils",
            "copyStream",
            "long",
            calls.opened("source"),
            written,
            calls.column("yes"),
            calls.column("no"),
        )
        answers = calls.answers(copied)
        return {source.rpartition("/")[2]: copy for source, copy, _ in answers}

    def differing(self, directory: str, copies: Mapping[str, str]) -> list[str]:
        """Return the names of the files whose copies have other bytes; equal checksums spare the reading."""
        left = [name for name, copy in copies.items() if not self._same_checksum(f"{directory}/{name}", copy)]
        if not left:
            return []
        calls = _Calls(self._spark, [(f"{directory}/{name}", copies[name], 1, 1) for name in left])
        streams = [calls.opened(side) for side in ("source", "target")]
        answers = calls.answers(
            calls.static("org.apache.commons.io.IOUtils", "contentEquals", "boolean", *streams)
        )
        same = {source for source, _, equal in answers if equal is True}
        return [name for name in left if f"{directory}/{name}" not in same]

    def _layout(self, directory: str, name: str) -> tuple[int, int]:
        """Return the replication and the block size of a file."""
        self._calls.take(directory)
        path = self._jvm.org.apache.hadoop.fs.Path(f"{directory}/{name}")
        status = path.getFileSystem(self._spark._jsc.hadoopConfiguration()).getFileStatus(path)
        return int(status.getReplication()), int(status.getBlockSize())

    def _same_checksum(self, original: str, copy: str) -> bool:
        """Tell whether the file system has equal checksums of both; a local disk has none, nor other block sizes."""
        found = []
        for path in (original, copy):
            self._calls.take(path)  # for the blocks; their checksums are asked of the DataNodes
            of = self._jvm.org.apache.hadoop.fs.Path(path)
            found.append(of.getFileSystem(self._spark._jsc.hadoopConfiguration()).getFileChecksum(of))
        return found[0] is not None and found[1] is not None and bool(found[0].equals(found[1]))


class _Calls(RowCalls):
    """Calls of Java methods for each row of a table, with (source, target, replication, block size) in a row.

    Args:
        target: makes another target of that of a row, in each attempt of the task that evaluates the calls; None for
            the targets of the rows.
    """

    def __init__(
        self,
        spark: SparkSession,
        rows: Sequence[tuple[str, str, int, int]],
        target: Column | None = None,
    ) -> None:
        typed = {
            "source": F.col("v0"),
            "target": F.col("v1"),
            "replication": F.col("v2").cast("smallint"),
            "block": F.col("v3").cast("long"),
            "yes": F.lit(True),
            "no": F.lit(False),
            "buffer": F.lit(_BUFFER),
        }
        super().__init__(spark, rows, typed, by_attempt={} if target is None else {"target": target})

    def answers(self, expression: Any) -> list[tuple[Any, ...]]:
        """Evaluate an expression for each row. Return the source, the target and the value of each."""
        return self.evaluate(self.column("source"), self.column("target"), expression)
