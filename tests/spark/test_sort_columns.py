"""Columns to sort by that the files do not have, although the table does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.harness.fixtures import Database
from tests.spark.toolbox import Jobs, many, only, rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.one_version


def test_a_column_that_was_added_later_is_no_obstacle(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    location, table = database.location("t"), f"{database}.t"
    many(spark, location, "SELECT id FROM range(40)", 4)
    spark.sql(
        f"CREATE EXTERNAL TABLE {table} (id BIGINT, later STRING) STORED AS PARQUET LOCATION '{location}'"
    )
    before = rows(spark, table)
    (unit,) = only(jobs("compact", "--table", table, "--sort-columns", "later,id"))["units"]
    assert (unit["outcome"], unit["reason"]) == ("compacted", None)
    assert rows(spark, table) == before
    assert [row.id for row in spark.table(table).collect()] == list(range(40))


@pytest.mark.parametrize("verb", ["plan", "compact"])
def test_files_with_names_of_hive_1_are_refused(
    spark: SparkSession, jobs: Jobs, database: Database, verb: str
) -> None:
    location, table = database.location("t"), f"{database}.t"
    many(spark, location, "SELECT id AS _col0 FROM range(40)", 4, "orc")
    spark.sql(f"CREATE EXTERNAL TABLE {table} (id BIGINT) STORED AS ORC LOCATION '{location}'")
    (unit,) = only(jobs(verb, "--table", table, "--sort-columns", "id"))["units"]
    assert (unit["outcome"], unit["code"]) == ("skipped", "POSITIONAL")
    assert "_col0" in unit["reason"]
