"""Fixtures of the Spark tests: the jobs, and tables that need compacting."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.harness.fixtures import Database

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.spark.toolbox import Jobs


@pytest.fixture
def jobs(spark: SparkSession, tmp_path: Path) -> Jobs:
    from tests.spark.toolbox import Jobs

    return Jobs(spark, tmp_path)


@pytest.fixture
def plain(spark: SparkSession) -> SparkSession:
    """A session that makes the tables of these tests, as another tool would: it substitutes nothing."""
    session = spark.newSession()
    session.conf.set("spark.sql.variable.substitute", "false")
    session.conf.set("hive.exec.dynamic.partition.mode", "nonstrict")
    return session


# What Spark's writers do to ORC files is the fidelity suite's question, on each version.
@pytest.fixture(params=["parquet", pytest.param("orc", marks=pytest.mark.full)])
def file_format(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def flat(spark: SparkSession, database: Database, file_format: str) -> str:
    """A table without partitions: 12 files, 600 rows."""
    from tests.spark.toolbox import many

    location = database.location("flat")
    many(spark, location, "SELECT id, concat('v', id) AS v FROM range(600)", 12, file_format)
    spark.sql(
        f"CREATE EXTERNAL TABLE {database}.flat (id BIGINT, v STRING) STORED AS {file_format} LOCATION '{location}'"
    )
    return f"{database}.flat"


@pytest.fixture
def events(spark: SparkSession, database: Database, file_format: str) -> str:
    """Two keys, four partitions of 5 files each, and one healthy partition of a single file."""
    from tests.spark.toolbox import many

    location = database.location("events")
    spark.sql(
        f"CREATE EXTERNAL TABLE {database}.events (id BIGINT, v STRING) PARTITIONED BY (`date` STRING, ref STRING)"
        f" STORED AS {file_format} LOCATION '{location}'"
    )
    for date in ("2026-02-23", "2026-02-24"):
        for ref in ("A", "B"):
            folder = f"{location}/date={date}/ref={ref}"
            many(spark, folder, f"SELECT id, '{date}{ref}' AS v FROM range(100)", 5, file_format)
    many(spark, f"{location}/date=2026-02-25/ref=A", "SELECT id, 'one' AS v FROM range(10)", 1, file_format)
    spark.sql(f"MSCK REPAIR TABLE {database}.events")
    return f"{database}.events"
