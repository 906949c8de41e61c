"""The tables that accidents happen to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.harness.fixtures import Database
from tests.spark.toolbox import many

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def flat(spark: SparkSession, database: Database) -> str:
    many(spark, database.location("flat"), "SELECT id FROM range(60)", 6)
    location = database.location("flat")
    spark.sql(f"CREATE EXTERNAL TABLE {database}.flat (id BIGINT) STORED AS PARQUET LOCATION '{location}'")
    return f"{database}.flat"


@pytest.fixture
def pair(spark: SparkSession, database: Database) -> str:
    """Two partitions, `good` and `bad`, of 4 files each."""
    table, location = f"{database}.pair", database.location("pair")
    for key in ("good", "bad"):
        many(spark, f"{location}/k={key}", "SELECT id FROM range(40)", 4)
    spark.sql(
        f"CREATE EXTERNAL TABLE {table} (id BIGINT) PARTITIONED BY (k STRING) STORED AS PARQUET LOCATION '{location}'"
    )
    spark.sql(f"MSCK REPAIR TABLE {table}")
    return table
