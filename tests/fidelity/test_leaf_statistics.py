"""The figures of each column in the footers: a faulty rewrite shows in them, and a faithful one never does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.harness.fixtures import Database
from tests.spark.toolbox import Jobs, data_files, many, only

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

COLUMNS = "id BIGINT, a INT, b INT, x STRING, y STRING, s ARRAY<INT>"
ROWS = (
    "SELECT id, CAST(id AS INT) AS a, CAST(id + 900 AS INT) AS b, concat('left ', id) AS x,"
    " concat('right ', id) AS y, array(CAST(id AS INT), 5) AS s FROM range(40)"
)
#: What a faulty rewrite makes of the columns, and the column that is named.
FAULTS = {
    "a column of nulls": (["id", "CAST(NULL AS INT) AS a", "b", "x", "y", "s"], "'a'"),
    "text of nulls": (["id", "a", "b", "CAST(NULL AS STRING) AS x", "y", "s"], "'x'"),
    "one value that is null": (["id", "IF(id = 7, NULL, a) AS a", "b", "x", "y", "s"], "'a'"),
    "exchanged numbers": (["id", "b AS a", "a AS b", "x", "y", "s"], "'a'"),
    "exchanged texts": (["id", "a", "b", "y AS x", "x AS y", "s"], "'x'"),
    "elements that are null": (["id", "a", "b", "x", "y", "transform(s, e -> CAST(NULL AS INT)) AS s"], "'s."),
    "elements that are missing": (["id", "a", "b", "x", "y", "slice(s, 1, 1) AS s"], "'s."),
}


@pytest.mark.parametrize("file_format", ["parquet", "orc"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_rewrite_fails_the_unit_and_names_the_column(
    spark: SparkSession,
    jobs: Jobs,
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
    fault: str,
    file_format: str,
) -> None:
    """Rows and types are right, so that only the figures of the columns tell."""
    from spark_jobs.adapters.spark import rewriter

    columns, named = FAULTS[fault]
    many(spark, database.location("t"), ROWS, 4, file_format)
    spark.sql(
        f"CREATE EXTERNAL TABLE {database}.t ({COLUMNS}) STORED AS {file_format}"
        f" LOCATION '{database.location('t')}'"
    )
    before, honest = data_files(database.path / "t"), rewriter._sorted

    def faulty(frame: DataFrame, *rest: Any) -> DataFrame:
        return honest(frame, *rest).selectExpr(*columns)

    monkeypatch.setattr(rewriter, "_sorted", faulty)
    (unit,) = only(jobs("compact", "--table", f"{database}.t"))["units"]
    assert (unit["outcome"], data_files(database.path / "t")) == ("failed", before), unit
    assert f"column {named}" in unit["reason"]
