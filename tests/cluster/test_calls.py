"""What a further small file costs the NameNode: the calls of Spark's reader, and one that opens its footer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmarks.call_counter import namenode_calls
from tests.cluster.cluster import Cluster
from tests.spark.toolbox import Jobs, many, outcomes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FEW, MANY = 10, 60
#: Before, it reads each footer twice, and asks for the status of the file each time.
OPENS_ONCE = (4, 1)


def test_a_compaction_opens_each_file_once_more_than_spark(
    spark: SparkSession, jobs: Jobs, cluster: Cluster, folder: str
) -> None:
    made = []
    for files in (FEW, MANY):
        table, place = f"default.t_{folder.rsplit('/', 1)[1]}_{files}", f"{folder}/t{files}"
        many(spark, place, "SELECT id FROM range(600)", files)
        spark.sql(f"CREATE EXTERNAL TABLE {table} (id BIGINT) STORED AS PARQUET LOCATION '{place}'")
        before = namenode_calls(cluster.files.address)
        assert outcomes(jobs("compact", "--table", table)) == ["compacted"]
        made.append(namenode_calls(cluster.files.address) - before)
    version = tuple(int(part) for part in spark.version.split(".")[:2])
    of_spark = 2 if version >= OPENS_ONCE else 4
    assert (made[1] - made[0]) / (MANY - FEW) == pytest.approx(of_spark + 1, abs=0.2)
