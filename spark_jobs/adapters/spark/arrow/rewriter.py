"""Rewrites the files of several directories by pyarrow, each directory into files of its own.

The JVM of an executor reads each file whole, and writes the bytes of the finished one: tokens, encryption zones and the
commit protocol stay Spark's and Hadoop's. A Python worker gets the bytes, and rewrites them in memory.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pyspark import cloudpickle
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from spark_jobs.adapters.spark.arrow import figures, floats, versions, worker
from spark_jobs.adapters.spark.arrow.mapping import mapped_in_arrow
from spark_jobs.adapters.spark.arrow.outputs import MOST_OUTPUTS, Output, tasks_of
from spark_jobs.adapters.spark.arrow.worker import Reasons, Writing, rewriting
from spark_jobs.adapters.spark.catalyst import RowCalls, text
from spark_jobs.adapters.spark.requests import set_options
from spark_jobs.adapters.spark.sessions import COMMITTER, Sessions
from spark_jobs.adapters.spark.wide_reading import slots
from spark_jobs.core.formats.arrow import CODECS, OWN_KEY
from spark_jobs.core.messages.errors import LakekeeperError
from spark_jobs.core.planning.shuffle_keys import partition_keys
from spark_jobs.protocol.ports import Arrow, JointFiles, RewriteRequest

_OUTPUTS = "array<struct<unit:int,directory:string,files:array<struct<name:string,length:bigint>>>>"
#: The bytes of files that travel to a worker in one batch, and the most files of a batch.
_BATCH_BYTES, _BATCH_FILES = 32 << 20, 1024
_SETTINGS = {
    # The function is asked for these types, and gives them back.
    "spark.sql.execution.arrow.useLargeVarTypes": "false",
    # A worker that compresses a large file says nothing meanwhile (Spark 4).
    "spark.sql.execution.pyspark.udf.killOnIdleTimeout": "false",
}
UNIT = "unit"

log = logging.getLogger("lakekeeper")

# The executors may not have the jobs' modules.
for module in (worker, figures, floats, versions):
    cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]


class ArrowRewriter(RowCalls):
    """Rewrites Parquet files in Python workers, which all have the same version of pyarrow."""

    def __init__(self, spark: SparkSession, sessions: Sessions) -> None:
        typed = {"task": text(0).cast("int"), "outputs": F.from_json(text(1), _OUTPUTS)}
        super().__init__(spark, typed)
        self._sessions = sessions
        self._found: Arrow | None = None
        self._lock = threading.Lock()

    def found(self) -> Arrow:
        """Return the version of pyarrow that all executors have, and why it is not used. They are asked once."""
        with self._lock:
            if self._found is None:
                self._found = versions.ask(self._spark)
            return self._found

    def write(self, requests: Sequence[RewriteRequest], staging: str) -> JointFiles:
        """Write the files of each request into a directory of its own below `staging`.

        All requests have the same codec and replication. After a job that failed Arrow is not used any more. Each
        attempt of its tasks may have cost an executor, and YARN ends an application that has lost some.

        Raises:
            LakekeeperError: Spark, Hadoop or pyarrow failed; or Arrow is not used any more.
        """
        found = self.found()
        if found.lack:
            raise LakekeeperError(found.lack)
        try:
            return self._write(requests, staging, found.version or "")
        except Exception as error:
            text = f"a job of Arrow has failed: {versions.reason(error)}"
            log.warning("%s; Spark writes what it was to write", text)
            with self._lock:
                self._found = replace(found, lack=f"Arrow is not used any more: {text}")
            raise LakekeeperError(text) from error

    def _write(self, requests: Sequence[RewriteRequest], staging: str, version: str) -> JointFiles:
        first = requests[0]
        reasons = self._spark.sparkContext.accumulator({}, Reasons())
        codec = CODECS[first.profile.codec]
        writing = Writing(version, codec.name, codec.level, OWN_KEY.encode())
        contents = self._contents(tasks_of(requests, slots(self._spark)))
        written = mapped_in_arrow(contents, rewriting(writing, reasons), f"{UNIT} int, value string")
        options = {
            # The cluster may compress what is written, which would be no Parquet file any more.
            "compression": "none",
            "lineSep": "1",
            **COMMITTER,
            **({"dfs.replication": str(first.replication)} if first.replication else {}),
        }
        writer = set_options(written.write.format("text"), options).mode("append")
        writer.partitionBy(UNIT).save(staging)
        directories = [f"{staging}/{UNIT}={number}" for number in range(len(requests))]
        return JointFiles(directories, dict(reasons.value))

    def _contents(self, tasks: Sequence[Sequence[Output]]) -> DataFrame:
        """Return the files (unit, number of its files, name, length, content) of each task, in their order."""
        keys = partition_keys(len(tasks))
        rows = [(key, json.dumps([output.to_json() for output in task])) for key, task in zip(keys, tasks)]
        session = self._session(tasks)
        table = DataFrame(self._rows(session, rows), session).repartition(len(rows), "task")
        outputs = table.select(F.explode("outputs").alias("output"))
        files = outputs.select("output.*").select(
            UNIT, F.size("files").alias("count"), "directory", F.explode("files").alias("file")
        )
        name, path = F.col("file.name"), F.concat_ws("/", "directory", "file.name")
        listed = files.select(UNIT, "count", name, F.col("file.length"), path.alias("path"))
        content = Column(self.as_column(self._content())).alias("content")
        return listed.select(UNIT, "count", "name", "length", content)

    def _session(self, tasks: Sequence[Sequence[Output]]) -> SparkSession:
        return self._sessions.get(
            {
                **_SETTINGS,
                "spark.sql.execution.arrow.maxRecordsPerBatch": str(_batch(tasks)),
                # As long as not more files than this are open, Spark does not sort the rows, which are the parts of
                # files in their order.
                "spark.sql.maxConcurrentOutputFileWriters": str(MOST_OUTPUTS + 1),
            }
        )

    def _content(self) -> Any:
        """Return the bytes of a file; null if it cannot be read. The stream closes itself at its end."""
        closing = self.new("org.apache.commons.io.input.AutoCloseInputStream", self.opened("path"))
        return self.tried(self.static("org.apache.commons.io.IOUtils", "toByteArray", "binary", closing))


def _batch(tasks: Sequence[Sequence[Output]]) -> int:
    """Return how many files travel to a worker at once: a power of two, because each number has a session."""
    longest = max(file.length for task in tasks for output in task for file in output.files)
    most = max(1, min(_BATCH_FILES, _BATCH_BYTES // max(1, longest)))
    return 1 << (most.bit_length() - 1)
