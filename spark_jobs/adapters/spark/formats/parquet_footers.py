"""The footers of Parquet files: read by the driver, or by the executors of a cluster where there are many."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from pyspark.sql import SparkSession

from spark_jobs.adapters.spark.bounded_jobs import can_be_cancelled
from spark_jobs.adapters.spark.data_configuration import data_configuration
from spark_jobs.adapters.spark.formats.driver_footers import DriverFooters, FooterFile
from spark_jobs.adapters.spark.formats.executor_footers import ExecutorFooters
from spark_jobs.adapters.spark.spark_types import SparkTypes
from spark_jobs.core.formats.footers import Footer
from spark_jobs.core.formats.merged_footers import merged
from spark_jobs.core.values.garbage import rarely_collected
from spark_jobs.core.values.model import FileListing
from spark_jobs.protocol.measuring.namenode_calls import NameNodeCalls

#: A first job takes as much of the driver's processor time as reading about so many footers, however few files it has.
_WORTH_A_JOB = 20_000


class ParquetFooters:
    """Reads footers with parquet-java."""

    def __init__(self, spark: SparkSession, types: SparkTypes, calls: NameNodeCalls) -> None:
        conf = data_configuration(spark)
        self._calls = calls
        self._driver = DriverFooters(spark, conf, types, calls)
        self._executors = ExecutorFooters(spark, conf, self._driver, calls) if has_executors(spark) else None

    def read(self, directories: Sequence[tuple[str, FileListing]]) -> list[list[Footer]]:
        """Return the footers of the data files of each directory, in the order of the directories."""
        files = [
            FooterFile(place, file, number)
            for number, (place, listing) in enumerate(directories)
            for file in listing.data
        ]
        by_part: list[list[Footer]] = [[] for _ in directories]
        with rarely_collected():
            for number, footers in self._read_all(files):
                by_part[number] += footers
        return [merged(footers) for footers in by_part]

    def _read_all(self, files: Sequence[FooterFile]) -> Iterator[tuple[int, list[Footer]]]:
        """Yield the footers of files by directory. A limit of calls to the NameNode is kept by the driver."""
        if self._executors is None or len(files) < _WORTH_A_JOB or self._calls.together < len(files):
            yield from self._driver.read(files)
            return
        for unread, answers in groupby(self._executors.read(files), lambda answer: answer[1] is None):
            if unread:
                yield from self._driver.read([file for batch, _ in answers for file in batch])
            else:
                yield from (each for _, footers in answers for each in footers or ())


def has_executors(spark: SparkSession) -> bool:
    """Tell whether tasks run elsewhere than in the driver, and a job that waits for them can be cancelled."""
    return not spark.sparkContext._jsc.sc().isLocal() and can_be_cancelled(spark)
