"""Columns whose names look like types or paths."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.harness.fixtures import Database
from tests.spark.toolbox import Jobs, local, only, write_files

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize(
    "columns", ["id AS `Total (USD)`, id + 1 AS `Total (EUR)`", "id AS `a.b`, named_struct('b', id + 1) AS a"]
)
def test_are_kept_and_are_no_two_of_one_name(
    spark: SparkSession, jobs: Jobs, database: Database, columns: str
) -> None:
    location = database.location("t")
    write_files(spark, location, [f"SELECT {columns} FROM range({n}, {n + 5})" for n in range(0, 20, 5)])
    spark.sql(f"CREATE TABLE {database}.t USING PARQUET LOCATION '{location}'")
    before = spark.read.parquet(location)
    schema, rows = before.schema, sorted(map(tuple, before.collect()))
    (unit,) = only(jobs("compact", "--table", f"{database}.t"))["units"]
    assert (unit["outcome"], unit["reason"]) == ("compacted", None)
    after = spark.read.parquet(str(local(location)))
    assert after.schema == schema
    assert sorted(map(tuple, after.collect())) == rows
