"""Copies sequence files record by record on the executors, and compares the raw bytes of the records.

Keys and values are copied as bytes, without an instance of their classes. Only files whose values are compressed one by
one need these classes: Hadoop has no output format that writes such values as bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import BinaryType, StructType

from spark_jobs.adapters.hadoop.content_errors import is_of_content, unreadable_by
from spark_jobs.adapters.hadoop.file_bytes import file_bytes, file_sizes
from spark_jobs.adapters.hadoop.java_errors import root_cause
from spark_jobs.adapters.spark.copying import Copier
from spark_jobs.adapters.spark.hashing import Fingerprint, Hashing
from spark_jobs.adapters.spark.unreadable_files import unreadable
from spark_jobs.core.formats import sequence_records
from spark_jobs.core.formats.verification import written_files
from spark_jobs.core.messages.errors import LakekeeperError, VerificationFailed
from spark_jobs.protocol.ports import RewriteRequest

_RAW = "org.apache.hadoop.mapreduce.lib.input.SequenceFileAsBinaryInputFormat"
_BYTES = "org.apache.hadoop.io.BytesWritable"
_RECORD = StructType().add("_1", BinaryType()).add("_2", BinaryType())


class SequenceCopier:
    """Copies and compares sequence files."""

    def __init__(self, spark: SparkSession, copier: Copier) -> None:
        self._spark = spark
        self._jvm: Any = spark._jvm
        self._copier = copier
        self._hashing = Hashing(spark)

    def write(self, request: RewriteRequest) -> int:
        """Write the copies into the target directory. Return the number of records.

        Raises:
            VerificationFailed: other records were written than read, or others were read than the files have.
            Unreadable: a file is damaged.
            LakekeeperError: Spark or Hadoop failed.
        """
        # Before Hadoop's reader: it takes a damaged length for one, and ends the JVM for lack of memory.
        read = self._counted(
            {f"{request.directory}/{file.name}": file.length for file in request.inputs.data}
        )
        try:
            self._copier.write(request)
            seen = self._compare(request)
        except LakekeeperError:
            raise
        except Exception as error:
            file = unreadable(error, request.files, partial(self._read_through, request))
            if file and is_of_content(error):
                raise unreadable_by(error, file) from None
            raise LakekeeperError(
                f"{file or request.directory} cannot be copied: {root_cause(error)[1]}"
            ) from None
        with written_files():
            written = self._counted(
                file_sizes(self._jvm, self._spark._jsc.hadoopConfiguration(), request.target)
            )
        for what, counted in (("read", read), ("written", written)):
            if counted != seen.rows:  # guard: records_counted
                raise VerificationFailed(
                    f"the files that were {what} hold {counted} records, but {seen.rows} were read: some were left out"
                )
        return seen.rows

    def _compare(self, request: RewriteRequest) -> Fingerprint:
        """Return the fingerprint of the records that were read. Raise VerificationFailed if others were written."""
        seen, written = (
            self._fingerprint(request, request.files),
            self._fingerprint(request, [request.target]),
        )
        if seen != written:  # guard: records_compared
            raise VerificationFailed(f"what was written is not what was read: {written} instead of {seen}")
        return seen

    def _read_through(self, request: RewriteRequest, files: Sequence[str]) -> None:
        self._fingerprint(request, files)

    def _fingerprint(self, request: RewriteRequest, paths: Sequence[str]) -> Fingerprint:
        return self._hashing.fingerprint(self._records(request, paths), _RECORD)

    def _records(self, request: RewriteRequest, paths: Sequence[str]) -> DataFrame:
        """Return the keys and values as bytes. Spark's own converter of `BytesWritable` runs on the executors."""
        pairs, conf = self._copier.pairs(request, paths, _RAW, _BYTES, _BYTES)
        spark, sql = self._jvm.org.apache.spark, self._jvm.org.apache.spark.sql
        carried = self._spark._jsc.broadcast(spark.util.SerializableConfiguration(conf))
        convert = spark.api.python.WritableToJavaConverter(carried)
        raw = spark.api.python.PythonHadoopUtil.convertRDD(pairs.rdd(), convert, convert)
        binary = sql.Encoders.BINARY()
        records = self._spark._jsparkSession.createDataset(raw, sql.Encoders.tuple(binary, binary))
        return DataFrame(records.toDF(), self._spark)

    def _counted(self, sizes: Mapping[str, int]) -> int:
        """Return the number of records of files, without Hadoop's reader, which reads them for the copy."""
        return sum(self._count(uri, size) for uri, size in sizes.items())

    def _count(self, uri: str, size: int) -> int:
        with file_bytes(self._jvm, self._spark._jsc.hadoopConfiguration(), uri, size) as file:
            return sequence_records.count(file)
