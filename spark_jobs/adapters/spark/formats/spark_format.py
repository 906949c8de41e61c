"""The interface of a file format, as the readers and writers of data files use it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

from pyspark.sql import SparkSession

from spark_jobs.adapters.spark.data_configuration import data_configuration
from spark_jobs.core.formats.encoding import Encoding
from spark_jobs.core.formats.footers import Footer, Leaves, Profile
from spark_jobs.core.formats.merged_footers import merged
from spark_jobs.core.formats.parquet_json import Reading
from spark_jobs.core.values.model import FileListing
from spark_jobs.protocol.measuring.namenode_calls import NameNodeCalls
from spark_jobs.protocol.ports import RewriteRequest

_THREADS = 8


@dataclass(frozen=True)
class RecordClasses:
    """The Java classes, of `org.apache.hadoop.mapreduce`, by which Hadoop copies a format record by record."""

    input_format: str
    output_format: str
    key: str
    value: str


class SparkFormat(ABC):
    """One file format, on the Spark of one driver.

    Attributes:
        options: options of Spark's reader and writer for all units of this format.
        calls_of_a_file: the calls to the NameNode to read the footer of one file: its status, and an open.
    """

    options: Mapping[str, str] = {}
    calls_of_a_file: ClassVar[int] = 2

    def __init__(self, spark: SparkSession, calls: NameNodeCalls) -> None:
        self._spark = spark
        self._calls = calls
        self._jvm: Any = spark._jvm

    @cached_property
    def _conf(self) -> Any:
        """Return Hadoop's configuration. Most jobs need one format of all."""
        return data_configuration(self._spark)

    def read(self, directories: Sequence[tuple[str, FileListing]]) -> list[list[Footer]]:
        """Return the footers of the data files of each directory; one describes all files that have much in common.

        Raises:
            OSError: a file is missing, or the cluster failed.
            Refusal: a file holds what a rewrite would lose; Unreadable, its content is not of this format.
        """
        with ThreadPoolExecutor(_THREADS) as pool:
            started = [
                pool.map(self._read_counted, [f"{directory}/{file.name}" for file in files.data])
                for directory, files in directories
            ]
            return [merged(footers) for footers in started]

    def _read_counted(self, file: str) -> Footer:
        self._calls.take(file, self.calls_of_a_file)
        return self._read_one(file)

    def _read_one(self, file: str) -> Footer:
        """Return the footer of the file with this URI. Only formats that use this class's `read` implement it."""
        raise NotImplementedError

    @abstractmethod
    def encoding(self, profile: Profile) -> Encoding:
        """Return how files of this profile are written without a change of physical types. Raise Refusal if none is."""

    def record_classes(self, request: RewriteRequest) -> RecordClasses:
        """Return the classes for a copy record by record. Only what `Copier` writes has them."""
        raise NotImplementedError

    def record_settings(self, request: RewriteRequest) -> Mapping[str, str]:
        """Return the Hadoop configuration of a copy record by record."""
        raise NotImplementedError

    def _path(self, file: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(file)


def changed_type(wanted: Leaves, leaves: Leaves) -> str | None:
    """Return the first column whose type would change, as a sentence."""
    for path in sorted(wanted.keys() | leaves.keys()):
        was, now = wanted.get(path, "absent"), leaves.get(path, "absent")
        if was != now:
            return f"column '{path}' is {was}, and Spark would write it as {now}"
    return None


def with_reading(footer: Footer, reading: Reading) -> Footer:
    """Return the footer with the columns as Spark reads them, or with the reason why it cannot."""
    return replace(footer, struct=reading.struct, problem=reading.problem)
