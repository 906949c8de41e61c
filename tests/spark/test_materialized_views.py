"""Materialized views of Hive, whose entries in the metastore Spark cannot read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.harness.fixtures import Database
from tests.spark.toolbox import Jobs, many, only

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def _make_materialized_view(spark: SparkSession, table: str) -> None:
    """Change the type of a table, straight in the metastore."""
    conf = spark._jvm.org.apache.hadoop.hive.conf.HiveConf()
    conf.set("hive.metastore.uris", spark.conf.get("spark.hadoop.hive.metastore.uris"))
    client = spark._jvm.org.apache.hadoop.hive.metastore.HiveMetaStoreClient(conf)
    database, name = table.split(".")
    entry = client.getTable(database, name)
    entry.setTableType("MATERIALIZED_VIEW")
    client.alter_table(database, name, entry)
    client.close()


def test_they_are_refused_as_views_and_fail_no_run_over_their_database(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    location, table = database.location("t"), f"{database}.t"
    many(spark, location, "SELECT id FROM range(40)", 4)
    spark.sql(f"CREATE EXTERNAL TABLE {table} (id BIGINT) STORED AS PARQUET LOCATION '{location}'")
    _make_materialized_view(spark, table)
    report = jobs("compact", "--table", table)
    assert (only(report)["outcome"], only(report)["code"], report["exit_code"]) == ("refused", "VIEW", 1)
    report = jobs("analyze", "--database", database.name)
    assert (only(report)["outcome"], report["exit_code"]) == ("refused", 0)
