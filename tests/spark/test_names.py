"""Partition values that file systems, URIs and SQL text each write differently."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import functions as F

from tests.harness.fixtures import Database
from tests.spark.toolbox import ODD_VALUES, Jobs, many, only, rows, tree

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ODD = [*ODD_VALUES, "[x]{y}*?"]


@pytest.fixture
def odd(spark: SparkSession, database: Database) -> str:
    """One partition of 4 files for each odd value, and one for NULL."""
    table = f"{database}.odd"
    spark.sql(
        f"CREATE EXTERNAL TABLE {table} (id BIGINT) PARTITIONED BY (k STRING, n INT) STORED AS PARQUET"
        f" LOCATION '{database.location('odd')}'"
    )
    spark.sql("SET hive.exec.dynamic.partition.mode=nonstrict")
    values = F.from_json(
        F.lit(json.dumps([{"k": value} for value in [*ODD, None]])), "array<struct<k:string>>"
    )
    for start in range(0, 40, 10):
        frame = spark.range(start, start + 10).select(
            "id", F.explode(values).alias("row"), F.lit(7).alias("n")
        )
        frame.select("id", "row.k", "n").coalesce(1).write.insertInto(table)
    return table


@pytest.mark.smoke
def test_odd_values_go_through_analysis_compaction_and_rollback(
    spark: SparkSession, jobs: Jobs, database: Database, odd: str
) -> None:
    before, originals = rows(spark, odd), tree(database.path / "odd")
    values = {unit["unit"]["k"] for unit in only(jobs("analyze", "--table", odd))["units"]}
    assert values == {*ODD, None}

    report = only(jobs("compact", "--table", odd))

    assert [u["outcome"] for u in report["units"]] == ["compacted"] * (len(ODD) + 1)
    assert report["warnings"] == []
    assert rows(spark, odd) == before
    spark.sql(f"MSCK REPAIR TABLE {odd}")
    assert rows(spark, odd) == before
    backup = spark.table(report["backup_table"]).selectExpr("id", "k", "CAST(n AS INT) AS n")
    assert sorted(map(str, backup.collect())) == sorted(before.elements())
    jobs("rollback", "--table", odd)
    assert tree(database.path / "odd") == originals
    assert list((database.path / "odd" / ".lakekeeper").glob("*/__*")) == []


@pytest.mark.one_version
@pytest.mark.parametrize("value", ["a/b", "01", None])
def test_a_partial_spec_selects_exactly_its_partitions(jobs: Jobs, odd: str, value: str | None) -> None:
    report = only(jobs("compact", "--table", odd, "--partitions", json.dumps([{"k": value}])))
    assert [(u["unit"], u["outcome"]) for u in report["units"]] == [({"k": value, "n": "7"}, "compacted")]


def test_where_selects_by_typed_values(jobs: Jobs, odd: str) -> None:
    report = only(jobs("analyze", "--table", odd, "--where", "n > 6 AND k IN ('01', '1')"))
    assert sorted(unit["unit"]["k"] for unit in report["units"]) == ["01", "1"]
    bad = jobs("analyze", "--table", odd, "--where", "id > 3")
    assert (bad["outcome"], bad["exit_code"]) == ("usage", 2)
    assert "k, n" in bad["error"]


def test_01_beside_1_under_a_numeric_key_are_two_partitions(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    location = database.location("padded")
    table = f"{database}.padded"
    for value, rows_ in (("1", 30), ("01", 60)):
        many(spark, f"{location}/p={value}", f"SELECT id, '{value}' AS v FROM range({rows_})", 3)
    # As another tool may have written it: the keys as text first, then declared a number.
    spark.sql(
        f"CREATE EXTERNAL TABLE {table} (id BIGINT, v STRING) PARTITIONED BY (p STRING) STORED AS PARQUET"
        f" LOCATION '{location}'"
    )
    spark.sql(f"MSCK REPAIR TABLE {table}")
    originals = tree(database.path / "padded")

    report = only(jobs("compact", "--table", table, "--partitions", '[{"p": "01"}]'))

    assert [(u["unit"], u["rows"]) for u in report["units"]] == [({"p": "01"}, 60)]
    after = tree(database.path / "padded")
    assert {p: f for p, f in after.items() if p.startswith("p=1/")} == {
        p: f for p, f in originals.items() if p.startswith("p=1/")
    }
    assert spark.table(report["backup_table"]).filter("v = '01'").count() == 60
    jobs("rollback", "--table", table)
    assert tree(database.path / "padded") == originals


@pytest.mark.one_version
def test_names_that_hold_our_own_markers_are_just_names(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    """A table under `/data/sales__old_system` must not be taken for a leftover."""
    location = database.location("sales__old_system/t__compact_tmp_x")
    table = f"{database}.markers"
    many(spark, location, "SELECT id FROM range(50)", 5)
    spark.sql(f"CREATE EXTERNAL TABLE {table} (id BIGINT) STORED AS PARQUET LOCATION '{location}'")
    before, originals = rows(spark, table), tree(database.path / "sales__old_system")
    jobs("compact", "--table", table)
    jobs("rollback", "--table", table)
    assert tree(database.path / "sales__old_system") == originals
    jobs("compact", "--table", table)
    jobs("cleanup", "--table", table, "--skip-trash")
    assert rows(spark, table) == before


def test_a_location_that_looks_like_an_encoded_uri_is_read_as_it_is(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    folder = database.path / "we ird%20é"
    table = f"{database}.encoded"
    many(spark, str(database.path / "plain"), "SELECT id FROM range(50)", 5)
    (database.path / "plain").rename(folder)
    spark.sql(f"CREATE EXTERNAL TABLE {table} (id BIGINT) STORED AS PARQUET LOCATION '{folder}'")
    before = rows(spark, table)
    report = only(jobs("compact", "--table", table))
    assert [u["outcome"] for u in report["units"]] == ["compacted"]
    assert rows(spark, table) == before
    assert outcome_of(jobs("rollback", "--table", table)) == "restored"


def outcome_of(report: dict) -> str:  # type: ignore[type-arg]
    return str(only(report)["units"][0]["outcome"])
