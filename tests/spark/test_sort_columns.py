"""Columns to sort by: where they are set, and those that the files do not have, although the table does."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.harness.fixtures import Database
from tests.spark.metastore_client import metastore_client
from tests.spark.toolbox import Jobs, local, many, only, rows

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


@pytest.mark.parametrize(
    ("request_", "words", "by"),
    [
        ({}, (), "v"),
        ({"settings": {"sort_columns": {"TABLE": ["w"]}}}, (), "w"),
        ({"settings": {"sort_columns": {"TABLE": ["w"]}}}, ("--sort-columns", "id"), "id"),
    ],
    ids=["DDL", "YAML", "command line"],
)
def test_rows_are_sorted_by_the_ddl_the_file_or_the_command_line(
    spark: SparkSession,
    jobs: Jobs,
    database: Database,
    request_: dict[str, Any],
    words: tuple[str, ...],
    by: str,
) -> None:
    """By the highest of the three. A pipeline of Spark has written the files, which are no buckets."""
    location, table = database.location("t"), f"{database}.t"
    many(spark, location, "SELECT id, (id * 7919) % 997 AS v, (id * 31) % 997 AS w FROM range(997)", 5)
    spark.sql(
        f"CREATE EXTERNAL TABLE {table} (id BIGINT, v BIGINT, w BIGINT) CLUSTERED BY (id) SORTED BY (v)"
        f" INTO 4 BUCKETS STORED AS PARQUET LOCATION '{location}'"
    )
    before = rows(spark, table)
    settings = json.loads(json.dumps(request_).replace("TABLE", table))
    report = only(jobs("compact", "--table", table, *words, request={"schema_version": 1, **settings}))
    assert [unit["outcome"] for unit in report["units"]] == ["compacted"]
    assert [text.split(":")[0] for text in report["warnings"]] == ["BUCKETS_NOT_TRUE"]
    values = [row[by] for row in spark.read.parquet(location).collect()]
    assert values == sorted(values)
    assert rows(spark, table) == before


def test_bucket_files_stay_as_they_are_and_no_others_come_to_look_like_them(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    location, table = database.location("t"), f"{database}.t"
    for day, files in ((1, 4), (2, 5), (3, 5), (4, 5)):
        many(spark, f"{location}/day={day}", "SELECT id FROM range(40)", files)
    folder = local(location) / "day=3"
    for number, file in enumerate(sorted(folder.glob("part-*"))):
        file.rename(folder / f"{number % 4:06}_0_copy_{number}")
    spark.sql(
        f"CREATE EXTERNAL TABLE {table} (id BIGINT) PARTITIONED BY (day INT) CLUSTERED BY (id) INTO 4 BUCKETS"
        f" STORED AS PARQUET LOCATION '{location}'"
    )
    spark.sql(f"MSCK REPAIR TABLE {table}")
    with metastore_client(spark) as client:
        for entry in client.listPartitions(str(database), "t", -1):
            if list(entry.getValues()) == ["4"]:
                entry.getSd().setNumBuckets(5)
                client.alter_partition(str(database), "t", entry)
    found = {unit["unit"]["day"]: unit for unit in only(jobs("compact", "--table", table))["units"]}
    assert {day: (unit["outcome"], unit["code"]) for day, unit in found.items()} == {
        "1": ("skipped", "BUCKETED"),
        "2": ("compacted", None),
        "3": ("skipped", "BUCKETED"),
        "4": ("skipped", "BUCKETED"),
    }


def test_an_order_that_is_not_ascending_sorts_nothing(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    location, table = database.location("t"), f"{database}.t"
    many(spark, location, "SELECT id, (id * 7919) % 997 AS v FROM range(997)", 5)
    spark.sql(
        f"CREATE EXTERNAL TABLE {table} (id BIGINT, v BIGINT) CLUSTERED BY (id) SORTED BY (v) INTO 4 BUCKETS"
        f" STORED AS PARQUET LOCATION '{location}'"
    )
    with metastore_client(spark) as client:
        entry = client.getTable(str(database), "t")
        entry.getSd().getSortCols().get(0).setOrder(0)
        # As Hive writes it: Spark keeps the columns in properties of its own, and takes those.
        for key in [key for key in entry.getParameters() if key.startswith("spark.sql.")]:
            entry.getParameters().remove(key)
        client.alter_table(str(database), "t", entry)
    before = rows(spark, table)
    assert [unit["outcome"] for unit in only(jobs("compact", "--table", table))["units"]] == ["compacted"]
    values = [row["v"] for row in spark.read.parquet(location).collect()]
    assert values not in (sorted(values), sorted(values)[::-1])
    assert rows(spark, table) == before


def test_a_compaction_into_as_many_files_as_there_are_buckets_is_refused(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    location, table = database.location("t"), f"{database}.t"
    many(spark, location, "SELECT id FROM range(40)", 4)
    spark.sql(
        f"CREATE EXTERNAL TABLE {table} (id BIGINT) CLUSTERED BY (id) INTO 1 BUCKETS STORED AS PARQUET"
        f" LOCATION '{location}'"
    )
    for verb in ("analyze", "compact"):
        (unit,) = only(jobs(verb, "--table", table))["units"]
        assert (unit["outcome"], unit["code"]) == ("skipped", "BUCKETED")
        assert "engines would take as many files for them" in unit["reason"]
