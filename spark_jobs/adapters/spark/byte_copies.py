"""Copies files byte by byte, and compares them, in the JVMs of the executors."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

from spark_jobs.adapters.spark.catalyst import RowCalls, text
from spark_jobs.core.values.model import FileListing
from spark_jobs.protocol.measuring.namenode_calls import NameNodeCalls

_BUFFER = 1024 * 1024


class ByteCopies:
    """The copies of one driver."""

    def __init__(self, spark: SparkSession, calls: NameNodeCalls) -> None:
        self._spark = spark
        self._calls = calls
        self._jvm: Any = spark._jvm

    @cached_property
    def _copies(self) -> _Calls:
        # Spark's own `uuid()` is the same for all attempts of a task.
        name = F.expr("concat(target, '/', reflect('java.util.UUID', 'randomUUID'))")
        return _Calls(self._spark, name)

    @cached_property
    def _comparisons(self) -> _Calls:
        return _Calls(self._spark)

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
        answers = self._copies.evaluate(rows, self._copies.copied)
        return {source.rpartition("/")[2]: copy for source, copy, _ in answers}

    def differing(self, directory: str, copies: Mapping[str, str]) -> list[str]:
        """Return the names of the files whose copies have other bytes; equal checksums spare the reading."""
        left = [name for name, copy in copies.items() if not self._same_checksum(f"{directory}/{name}", copy)]
        if not left:
            return []
        rows = [(f"{directory}/{name}", copies[name], 1, 1) for name in left]
        answers = self._comparisons.evaluate(rows, self._comparisons.equal)
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
        copies = []
        for path in (original, copy):
            self._calls.take(path)  # for the blocks; their checksums are asked of the DataNodes
            of = self._jvm.org.apache.hadoop.fs.Path(path)
            copies.append(of.getFileSystem(self._spark._jsc.hadoopConfiguration()).getFileChecksum(of))
        return copies[0] is not None and copies[1] is not None and bool(copies[0].equals(copies[1]))


class _Calls(RowCalls):
    """Calls of Java methods for each row of a table, with (source, target, replication, block size) in a row.

    Args:
        target: makes another target of a row's target, in each attempt of the task that evaluates the calls; None for
            the targets of the rows.
    """

    def __init__(self, spark: SparkSession, target: Column | None = None) -> None:
        typed = {
            "source": text(0),
            "target": text(1),
            "replication": text(2).cast("smallint"),
            "block": text(3).cast("long"),
            "yes": F.lit(True),
            "no": F.lit(False),
            "buffer": F.lit(_BUFFER),
        }
        super().__init__(spark, typed, by_attempt={} if target is None else {"target": target})

    @cached_property
    def copied(self) -> Any:
        """The source, the target and the number of bytes that were copied from one to the other."""
        written = self.invoke(
            self.file_system("target"),
            "createNonRecursive",
            "java.io.OutputStream",
            self.path("target"),
            *(self.column(name) for name in ("no", "buffer", "replication", "block")),
            self.nothing("org.apache.hadoop.util.Progressable"),
        )
        return self._with_paths(
            self.static(
                "org.apache.spark.util.Utils",
                "copyStream",
                "long",
                self.opened("source"),
                written,
                self.column("yes"),
                self.column("no"),
            )
        )

    @cached_property
    def equal(self) -> Any:
        """The source, the target, and whether they have the same bytes."""
        streams = [self.opened(side) for side in ("source", "target")]
        return self._with_paths(
            self.static("org.apache.commons.io.IOUtils", "contentEquals", "boolean", *streams)
        )

    def _with_paths(self, expression: Any) -> Any:
        return self.answers(self.column("source"), self.column("target"), expression)
