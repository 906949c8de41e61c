"""The fingerprint of rows tells apart what Spark's own hash takes for the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.harness.fixtures import Database
from tests.spark.toolbox import Jobs, data_files, many, only

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: The fingerprint is arithmetic that all versions of Spark agree on.
pytestmark = pytest.mark.one_version

#: Pairs of rows that differ, as SQL; the columns of a pair have the same types.
DIFFERENT = {
    "null in another column": ("NULL AS a, 5 AS b", "5 AS a, NULL AS b"),
    "null at another place": ("array(1, NULL, 2) AS a", "array(NULL, 1, 2) AS a"),
    "empty or null": ("CAST(array() AS ARRAY<INT>) AS a", "CAST(NULL AS ARRAY<INT>) AS a"),
    "null or an array of null": ("array(CAST(NULL AS INT)) AS a", "CAST(NULL AS ARRAY<INT>) AS a"),
    "signs of zero": ("0.0D AS a", "-0.0D AS a"),
    "signs of zero, nested": ("array(named_struct('x', 0.0F)) AS a", "array(named_struct('x', -0.0F)) AS a"),
    "where arrays end": ("array(array(1), array(2)) AS a", "array(array(1, 2)) AS a"),
    "struct or its fields": ("named_struct('x', CAST(NULL AS INT)) AS a", "CAST(NULL AS STRUCT<x:INT>) AS a"),
    "values of a map": ("map('k', 1) AS a", "map('k', 2) AS a"),
    "null in a map": ("map('k', CAST(NULL AS INT)) AS a", "CAST(map() AS MAP<STRING,INT>) AS a"),
    "where strings end": ("'ab' AS a, 'c' AS b", "'a' AS a, 'bc' AS b"),
    "a microsecond": (
        "TIMESTAMP'2024-01-01 00:00:00.000001' AS a",
        "TIMESTAMP'2024-01-01 00:00:00.000002' AS a",
    ),
}


@pytest.mark.parametrize("pair", DIFFERENT.values(), ids=list(DIFFERENT))
def test_rows_that_differ_are_told_apart(spark: SparkSession, pair: tuple[str, str]) -> None:
    first, second = (_fingerprint(spark, f"SELECT {columns}") for columns in pair)
    assert first != second


def test_neither_order_nor_partitions_matter_and_twice_is_not_once(spark: SparkSession) -> None:
    query = "SELECT id, concat('v', id) AS v, IF(id % 3 = 0, NULL, map('k', id)) AS m FROM range(1000)"
    one = _fingerprint(spark, f"{query} ORDER BY v")
    assert one == _fingerprint(spark, f"SELECT /*+ REPARTITION(7) */ * FROM ({query})")
    assert one.rows == 1000
    assert one != _fingerprint(spark, f"{query} UNION ALL {query}")


def test_no_rows_have_a_fingerprint_too(spark: SparkSession) -> None:
    assert _fingerprint(spark, "SELECT id FROM range(0)").rows == 0


def _fingerprint(spark: SparkSession, query: str):
    from spark_jobs.adapters.spark.hashing import Hashing

    frame = spark.sql(query)
    return Hashing(spark).fingerprint(frame, frame.schema)


def test_a_value_that_was_written_as_another_fails_the_unit(
    spark: SparkSession, jobs: Jobs, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a faulty writer would: the rows and their types are right, and one value is not."""
    from spark_jobs.adapters.spark import spreading

    many(spark, database.location("t"), "SELECT id, concat('v', id) AS v FROM range(40)", 4)
    spark.sql(
        f"CREATE EXTERNAL TABLE {database}.t (id BIGINT, v STRING) STORED AS PARQUET"
        f" LOCATION '{database.location('t')}'"
    )
    before, honest = data_files(database.path / "t"), spreading._sorted

    def faulty(frame: DataFrame, *rest: Any) -> DataFrame:
        return honest(frame, *rest).selectExpr("id", "IF(id = 7, 'v71', v) AS v")

    monkeypatch.setattr(spreading, "_sorted", faulty)
    (unit,) = only(jobs("compact", "--table", f"{database}.t", "--verify", "hash"))["units"]
    assert (unit["outcome"], data_files(database.path / "t")) == ("failed", before)
    assert "what was written is not what was read" in unit["reason"]
    assert [u["outcome"] for u in only(jobs("compact", "--table", f"{database}.t"))["units"]] == ["compacted"]
