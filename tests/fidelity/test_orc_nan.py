"""ORC's writer has NaN as the bounds of a stripe that begins with it, and Hive 4.0 reads no rows of such a stripe."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.harness.fixtures import Database
from tests.spark.toolbox import Jobs, many, only

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FILES = 4
_WARNING = "NAN_STATISTICS: minimum and maximum of 'v', 'w.x' are NaN in stripes of the new files"


def _rows(nan: str) -> str:
    """Rows of which those have a NaN for which the condition holds."""
    value = f"IF({nan}, double('NaN'), double(id))"
    return f"SELECT id, {value} AS v, named_struct('x', float({value})) AS w, double(id) AS u FROM range(400)"


def _compacted(
    spark: SparkSession, jobs: Jobs, database: Database, nan: str, partitions: int = 0
) -> list[str]:
    folder = database.path / "t"
    for number in range(max(partitions, 1)):
        target = f"{folder.as_uri()}/k={number}" if partitions else folder.as_uri()
        many(spark, target, _rows(nan), FILES, "orc")
    spark.sql(
        f"CREATE EXTERNAL TABLE {database}.t (id BIGINT, v DOUBLE, w STRUCT<x: FLOAT>, u DOUBLE)"
        f" {'PARTITIONED BY (k INT)' if partitions else ''} STORED AS ORC LOCATION '{folder.as_uri()}'"
    )
    if partitions:
        spark.sql(f"MSCK REPAIR TABLE {database}.t")
    table = only(jobs("compact", "--table", f"{database}.t"))
    assert [unit["outcome"] for unit in table["units"]] == ["compacted"] * max(partitions, 1)
    return [text for text in table["warnings"] if "NAN_STATISTICS" in text]


@pytest.mark.parametrize("partitions", [0, 3])
def test_a_stripe_that_begins_with_it_is_named(
    spark: SparkSession, jobs: Jobs, database: Database, partitions: int
) -> None:
    found = _compacted(spark, jobs, database, "id < 390", partitions)
    assert found == [_WARNING]


@pytest.mark.one_version
@pytest.mark.parametrize("nan", ["false", "id % 100 = 99"])
def test_another_one_is_not(spark: SparkSession, jobs: Jobs, database: Database, nan: str) -> None:
    assert _compacted(spark, jobs, database, nan) == []
