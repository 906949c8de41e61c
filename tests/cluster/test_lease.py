"""Two jobs that create the same lease at the same time, on a file system that reports files that are still open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spark_jobs.adapters.hadoop.file_system import HadoopFileSystem
from spark_jobs.core.values.model import name_of
from tests.crash.replay import Recording
from tests.crash.replay_calls import RealHost, new_folder
from tests.crash.replay_verbs import TABLE, Real

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.harness.fixtures import Database


class Raced(HadoopFileSystem):
    """Another job makes the first lease right before this one does, and has not closed it yet."""

    def __init__(self, spark: SparkSession) -> None:
        super().__init__(spark)
        self.rival = RealHost(spark, self)
        self.met: list[str] = []

    def create(self, path: str, data: bytes) -> None:
        if name_of(path) == "lease-000001":
            self.rival.open_stream(path, b"{}")
            self.met.append(path)
        super().create(path, data)


def test_a_lease_that_is_being_written_is_waited_for(
    spark: SparkSession, database: Database, folder: str
) -> None:
    """Its owner never answers, so that in the end the job goes on without him."""
    table = Real(spark, f"{database}.{TABLE}", new_folder(spark, folder))
    raced = Raced(spark)
    _, outcome = table.run("compact", lambda _: Recording(raced, table.root))
    assert len(raced.met) == 1
    assert outcome == (0, "done", [("compacted", 4)])
    assert table.rows() == [1, 2, 3, 4]
