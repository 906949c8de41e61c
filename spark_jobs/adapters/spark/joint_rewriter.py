"""Rewrites the files of several directories with one DataFrame, each directory into files of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from spark_jobs.adapters.hadoop.java_answers import java_json, json_reader
from spark_jobs.adapters.spark.file_index import LISTED_BY_DRIVER
from spark_jobs.adapters.spark.formats.spark_format import SparkFormat
from spark_jobs.adapters.spark.requests import schema_of, set_options, sort_columns, write_options
from spark_jobs.adapters.spark.sessions import Sessions
from spark_jobs.core.messages.errors import LakekeeperError
from spark_jobs.core.planning.shuffle_keys import partition_keys
from spark_jobs.core.values.model import parent
from spark_jobs.protocol.ports import RewriteRequest

#: A damaged file, or one that was removed meanwhile, must not fail the job, because then the units of all other files
#: would have to be written again. Everywhere else Spark must fail (`sessions.PINNED`). Here no row can be lost by it:
#: the caller compares what was written for each unit with the footers of its originals. A unit that lacks rows is not
#: swapped, but written by itself in a session with the fixed settings, which reports the error.
_SKIPPING = {"spark.sql.files.ignoreCorruptFiles": "true", "spark.sql.files.ignoreMissingFiles": "true"}
#: The read tasks of each core, for the balance: the files of a task have different sizes.
_TASKS_PER_CORE = 4
#: The bytes of a read task. Spark counts 4 MB for opening a file.
_READ_BYTES = 1 << 30
#: A task writes one unit, and so opens one file. A few more are only needed if keys share a partition.
_OPEN_FILES = 8
#: The column in which Spark has what it knows of the file of a row.
_METADATA = "_metadata"


class JointRewriter:
    """Rewrites many directories in one job.

    The rows of each input file get the number of their directory. A shuffle by this number brings the rows of a
    directory into one task, and Spark's `partitionBy` writes them into a directory with the number as its name. So rows
    are separated by a value of their own, whatever tasks they are in. The rows of an input file stay together, and in
    their order: a shuffle appends whole blocks.
    """

    def __init__(self, spark: SparkSession, sessions: Sessions, formats: Mapping[str, SparkFormat]) -> None:
        self._jvm: Any = spark._jvm
        self._sessions = sessions
        self._formats = formats
        self._cores = spark.sparkContext.defaultParallelism

    def write(self, requests: Sequence[RewriteRequest], staging: str) -> list[str]:
        """Write the files of each request, and return the directory of each one.

        All requests have the same format, schema, encoding, options and sort columns.
        """
        first, keys = requests[0], partition_keys(len(requests))
        schema = schema_of(first)
        if _METADATA in (column.lower() for column in schema.names):
            raise LakekeeperError(f"the files have a column {_METADATA}, which hides the paths of files")
        number = _fresh_name("lakekeeper_unit", schema.names)
        frame = self._read(requests)
        routed = self._with_key(frame, _key_by_file(requests, keys), number)
        spread = routed.repartition(len(keys), number)
        if first.sort_columns:
            spread = spread.sortWithinPartitions(number, *sort_columns(first, schema))
        options = write_options(first, self._formats[first.file_format])
        writer = set_options(spread.write.format(first.file_format), options).mode("append")
        writer.partitionBy(number).save(staging)
        return [f"{staging}/{number}={key}" for key in keys]

    def _read(self, requests: Sequence[RewriteRequest]) -> DataFrame:
        """Return the rows of the directories of the input files, also those of files that were added since."""
        first = requests[0]
        session = self._sessions.get(
            {
                **first.encoding.settings,
                **_SKIPPING,
                "spark.sql.files.minPartitionNum": str(self._cores * _TASKS_PER_CORE),
                "spark.sql.files.maxPartitionBytes": str(_READ_BYTES),
                **LISTED_BY_DRIVER,
                # A sorted partition is written as it is. Otherwise Spark would sort each task by the number.
                "spark.sql.maxConcurrentOutputFileWriters": "0" if first.sort_columns else str(_OPEN_FILES),
            }
        )
        reader = session.read.format(first.file_format).schema(schema_of(first))
        reader = reader.options(**self._formats[first.file_format].options)
        exact = reader.option("recursiveFileLookup", "true").option("__globPaths__", "false")
        return exact.load(list(dict.fromkeys(parent(request.files[0]) for request in requests)))

    def _with_key(self, frame: DataFrame, keys: Mapping[str, int], name: str) -> DataFrame:
        """Return the rows of the files that have a key, with the key in the column `name`.

        The rows of all other files are left out. A look-up by hash costs little, as the table of files is small.
        """
        read = ((file, keys.get(_decoded(file))) for file in self._files_of(frame))
        lines = [f"{key} {_plain(file)}" for file, key in read if key is not None]
        table = self._rows(frame.sparkSession, lines).select(
            F.substring_index("value", " ", 1).cast("int").alias(name),
            F.expr("substring(value, locate(' ', value) + 1)").alias(f"{name}_file"),
        )
        routed = frame.withColumn(f"{name}_file", F.col(f"{_METADATA}.file_path"))
        return routed.join(F.broadcast(table), f"{name}_file").drop(f"{name}_file")

    def _files_of(self, frame: DataFrame) -> list[str]:
        """Return the files of a DataFrame, in one answer of the JVM."""
        mapper = self._jvm.com.fasterxml.jackson.databind.ObjectMapper()
        files: list[str] = java_json(mapper, frame._jdf.inputFiles())
        return files

    def _rows(self, session: SparkSession, lines: list[str]) -> DataFrame:
        """Return a row for each line, from the driver's memory: no job, and no Python, is needed to read it."""
        values = json_reader(self._jvm, "java.util.ArrayList").readValue(json.dumps(lines))
        encoder = self._jvm.org.apache.spark.sql.Encoders.STRING()
        return DataFrame(session._jsparkSession.createDataset(values, encoder).toDF(), session)


def _key_by_file(requests: Sequence[RewriteRequest], keys: Sequence[int]) -> dict[str, int]:
    return {_plain(file): key for request, key in zip(requests, keys) for file in request.files}


def _decoded(file: str) -> str:
    """Return the path of a file of a DataFrame, which is encoded like a URI."""
    return _plain(unquote(file))


def _plain(uri: str) -> str:
    """Return a URI as Hadoop's paths have it: an empty authority is left out."""
    scheme, colon, path = uri.partition(":")
    return f"{scheme}{colon}/{path.lstrip('/')}" if path.startswith("///") else uri


def _fresh_name(name: str, taken: Sequence[str]) -> str:
    """Return a column name that no column of the files has, whatever its case."""
    columns = [column.lower() for column in taken]
    while any(column.startswith(name) for column in columns):
        name += "_"
    return name
