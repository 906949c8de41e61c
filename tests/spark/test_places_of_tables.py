"""Places of tables and partitions that no job can use: other file systems, unknown servers, none at all, a root."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from spark_jobs.adapters.hadoop.file_system import HadoopFileSystem
from spark_jobs.protocol.file_system import UnusableFileSystem
from tests.harness.fixtures import Database
from tests.spark.metastore_client import metastore_client
from tests.spark.toolbox import Jobs, cluster_settings, empty_table, many, only

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def _set_location(spark: SparkSession, table: str, value: str | None, location: str) -> None:
    """Set the location of a table, or of its partition with this value."""
    database, name = table.split(".")
    with metastore_client(spark) as client:
        if value is None:
            entry = client.getTable(database, name)
            entry.getSd().setLocation(location)
            client.alter_table(database, name, entry)
            return
        found = client.listPartitions(database, name, -1)
        (entry,) = [each for each in found if each.getValues()[0] == value]
        entry.getSd().setLocation(location)
        client.alter_partition(database, name, entry)


def _partitioned(spark: SparkSession, database: Database, name: str) -> str:
    table = empty_table(spark, database, name, "STORED AS PARQUET", "PARTITIONED BY (k STRING)")
    for key in ("a", "b"):
        many(spark, f"{database.location(name)}/k={key}", "SELECT id, 'v' AS v FROM range(40)", 4)
    spark.sql(f"MSCK REPAIR TABLE {table}")
    return table


_EVERY_VERB = (
    ("analyze",),
    ("plan",),
    ("compact",),
    ("check",),
    ("history",),
    ("rollback",),
    ("cleanup", "--older-than", "7d"),
)


def test_a_file_system_whose_class_is_missing_is_refused_and_not_looked_for(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    """The metastore has the jars of an object store, and the job has not."""
    _set_location(
        spark, empty_table(spark, database, "flat", "STORED AS PARQUET"), None, "http://flat.invalid/x"
    )
    _set_location(spark, _partitioned(spark, database, "parts"), "a", "http://parts.invalid/x")
    with cluster_settings(spark, {"fs.http.impl": "com.corp.Missing"}):
        found = {verb: jobs(verb, "--database", str(database), *more) for verb, *more in _EVERY_VERB}
    assert {verb: report["exit_code"] for verb, report in found.items()} == dict.fromkeys(found, 0)
    flat, parts = found["compact"]["tables"]
    assert (flat["outcome"], flat["code"]) == ("refused", "OBJECT_STORE")
    assert sorted((unit["unit"]["k"], unit["outcome"], unit["code"]) for unit in parts["units"]) == [
        ("a", "skipped", "OBJECT_STORE"),
        ("b", "compacted", None),
    ]


@pytest.mark.parametrize("location", ["hdfs://no-such-name-service/x", "hdfs:///x", "viewfs://none/x"])
def test_a_server_that_the_client_does_not_know_is_told_from_one_that_does_not_answer(
    spark: SparkSession, location: str
) -> None:
    with pytest.raises(UnusableFileSystem, match=f"cannot resolve {location}: "):
        HadoopFileSystem(spark).qualify(location)


def test_a_partition_without_a_location_is_refused_alone(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    table = _partitioned(spark, database, "t")
    _set_location(spark, table, "a", "")
    for verb, *more in _EVERY_VERB:
        report = jobs(verb, "--database", str(database), *more)
        assert report["exit_code"] == 0, report["tables"]
    units = only(jobs("analyze", "--table", table))["units"]
    assert sorted((unit["unit"]["k"], unit["outcome"], unit["code"]) for unit in units) == [
        ("a", "skipped", "FILE_SYSTEM"),
        ("b", "flagged", None),  # rolled back
    ]


@pytest.mark.one_version
def test_the_root_of_a_file_system_is_no_place_of_a_table(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    _set_location(spark, empty_table(spark, database, "flat", "STORED AS PARQUET"), None, "file:/")
    _set_location(spark, _partitioned(spark, database, "parts"), "a", "file:///")
    for verb, *more in _EVERY_VERB:
        report = jobs(verb, "--database", str(database), *more)
        codes = [(table["outcome"], table["code"]) for table in report["tables"]]
        assert (codes, report["exit_code"]) == ([("refused", "FILE_SYSTEM")] * 2, 0), report["tables"]
