"""ORC's local times go through Java's time zone, which may not have them all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.harness.fixtures import Database
from tests.spark.toolbox import Jobs, data_files, many, only

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ZONES = {"Europe/Paris": "TIMEZONE", "Asia/Kolkata": "TIMEZONE", "Etc/GMT+3": None}


@pytest.fixture(params=ZONES)
def zone(spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[str]:
    """Java runs there, and so do the executors, which are in the same process here."""
    zones = spark._jvm.java.util.TimeZone
    before = zones.getDefault()
    zones.setDefault(zones.getTimeZone(request.param))
    yield request.param
    zones.setDefault(before)


def _table(spark: SparkSession, database: Database, column: str) -> str:
    many(spark, database.location("t"), f"SELECT id, {column} AS t FROM range(20)", 4, "orc")
    spark.sql(
        f"CREATE EXTERNAL TABLE {database}.t (id BIGINT, t STRING) STORED AS ORC LOCATION '{database.location('t')}'"
    )
    return f"{database}.t"


def test_timestamps_are_left_alone_where_clocks_move(
    spark: SparkSession, jobs: Jobs, database: Database, zone: str
) -> None:
    """02:30 on a night in March is no time at all in Paris; India's clocks have stood still, but only since 1945."""
    table = _table(spark, database, "TIMESTAMP'2024-03-31 02:30:00'")
    before = data_files(database.path / "t")
    (unit,) = only(jobs("compact", "--table", table))["units"]
    assert unit["code"] == ZONES[zone], unit
    assert (data_files(database.path / "t") == before) == bool(ZONES[zone])


def test_columns_without_time_do_not_mind(
    spark: SparkSession, jobs: Jobs, database: Database, zone: str
) -> None:
    table = _table(spark, database, "DATE'2024-03-31'")
    assert [u["outcome"] for u in only(jobs("compact", "--table", table))["units"]] == ["compacted"], zone
