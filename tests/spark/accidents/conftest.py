"""The tables that accidents happen to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.harness.fixtures import Database
from tests.spark.toolbox import many, of_ids

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
    return of_ids(spark, database, "pair", {"good": 4, "bad": 4})
