"""The interface of a file format, as the readers and writers of data files use it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, ClassVar

from pyspark.sql import SparkSession

from spark_jobs.core.formats.encoding import Encoding
from spark_jobs.core.formats.footers import Footer, Profile
from spark_jobs.protocol.ports import RewriteRequest

_THREADS = 8


@dataclass(frozen=True)
class RecordClasses:
    """The Java classes by which Hadoop copies a format record by record.

    Attributes:
        old_output: the output format is of `org.apache.hadoop.mapred`, not of `org.apache.hadoop.mapreduce`.
    """

    input_format: str
    output_format: str
    key: str
    value: str
    old_output: bool = False


class SparkFormat(ABC):
    """One file format, on the Spark of one driver.

    Attributes:
        options: options of Spark's reader and writer for all units of this format.
    """

    options: ClassVar[Mapping[str, str]] = {}

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._jvm = spark._jvm
        self._conf = spark._jsc.hadoopConfiguration()

    def read(self, files: Sequence[str]) -> list[Footer]:
        """Return one Footer for each file URI, in this order.

        Raises:
            OSError: a file is not of this format.
            Refusal: a file holds what a rewrite would lose.
        """
        with ThreadPoolExecutor(_THREADS) as pool:
            return list(pool.map(self._read_one, files))

    @abstractmethod
    def _read_one(self, file: str) -> Footer:
        """Return the Footer of one file. It raises the same errors as `read`."""

    @abstractmethod
    def encoding(self, profile: Profile) -> Encoding:
        """Return how files of this profile are written without a change of physical types. Raise Refusal if none is."""

    def record_classes(self, request: RewriteRequest) -> RecordClasses:
        """Return the classes for a copy record by record. Only formats with Engine.COPY implement this."""
        raise NotImplementedError

    def record_settings(self, request: RewriteRequest) -> Mapping[str, str]:
        """Return the Hadoop configuration of a copy record by record."""
        raise NotImplementedError

    def _path(self, file: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(file)
