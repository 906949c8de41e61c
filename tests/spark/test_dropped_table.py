"""A table that was dropped, on a real metastore: its originals are cleaned up by the location that it had."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.harness.fixtures import Database
from tests.spark.toolbox import Jobs, many, only, outcomes, tree

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: What is asked of the metastore is the same on each version.
pytestmark = pytest.mark.one_version

AT_ONCE = ("--older-than", "0s", "--skip-trash")


def test_by_its_location_nothing_of_ours_is_left(spark: SparkSession, jobs: Jobs, database: Database) -> None:
    location, table = database.location("t"), f"{database}.t"
    many(spark, f"{location}/k=a", "SELECT id FROM range(40)", 4)
    spark.sql(
        f"CREATE EXTERNAL TABLE {table} (id BIGINT) PARTITIONED BY (k STRING) STORED AS PARQUET"
        f" LOCATION '{location}'"
    )
    spark.sql(f"MSCK REPAIR TABLE {table}")
    assert outcomes(jobs("compact", "--table", table)) == ["compacted"]
    rewritten = {path for path in tree(database.path) if "/.lakekeeper" not in str(path)}
    report = jobs("cleanup", "--location", location, *AT_ONCE)
    assert (only(report)["code"], report["exit_code"]) == ("LOCATION_IN_USE", 1)
    spark.sql(f"DROP TABLE {table}")
    report = jobs("cleanup", "--location", location, *AT_ONCE)
    assert (outcomes(report), report["exit_code"]) == (["cleaned"], 0)
    assert spark.sql(f"SHOW TABLES IN {database}").count() == 0
    assert not (database.path / "t" / ".lakekeeper").exists()
    assert {path for path in tree(database.path) if "/.lakekeeper" not in str(path)} == rewritten
