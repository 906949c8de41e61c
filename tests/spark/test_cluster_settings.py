"""Settings of a cluster that would change what is written are pinned: each unit is compacted with the same rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.harness.fixtures import Database
from tests.spark.toolbox import Jobs, cluster_settings, data_files, many, only, rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: By name of the format: settings of Hadoop.
SETTINGS = {
    "PARQUET": {
        "parquet.summary.metadata.level": "ALL",
        "parquet.enable.summary-metadata": "true",
        "parquet.encryption.column.keys": "k1:v",
        "parquet.encryption.footer.key": "k2",
        "parquet.encryption.uniform.key": "k3",
        "parquet.crypto.factory.class": "org.apache.parquet.crypto.keytools.PropertiesDrivenCryptoFactory",
        "mapreduce.output.fileoutputformat.compress": "true",
        "mapreduce.fileoutputcommitter.marksuccessfuljobs": "true",
        "mapreduce.fileoutputcommitter.algorithm.version": "2",
        "mapreduce.fileoutputcommitter.cleanup.skipped": "true",
        "parquet.metadata.read.parallelism": "0",
    },
    "ORC": {
        "orc.compress": "SNAPPY",
        "orc.encrypt": "pii:v",
        "orc.include.columns": "0",
        "orc.mask": "nullify:v",
        "orc.max.file.length": "0",
        "orc.use.zerocopy": "true",
        "mapreduce.output.fileoutputformat.compress": "true",
        "mapreduce.fileoutputcommitter.marksuccessfuljobs": "true",
    },
    "TEXTFILE": {
        "mapreduce.output.fileoutputformat.compress": "true",
        "mapreduce.output.fileoutputformat.compress.codec": "org.apache.hadoop.io.compress.GzipCodec",
        "mapreduce.fileoutputcommitter.marksuccessfuljobs": "true",
    },
}


@pytest.mark.one_version
@pytest.mark.parametrize("joint", [pytest.param(True, marks=pytest.mark.full), False])
@pytest.mark.parametrize("stored", SETTINGS)
def test_settings_of_the_cluster_do_not_change_what_is_written(
    spark: SparkSession, jobs: Jobs, database: Database, stored: str, joint: bool
) -> None:
    """A unit of one directory is written by itself; several small partitions are written by one job."""
    table, query = f"{database}.t", "SELECT CAST(id AS STRING) AS v FROM range(40)"
    partitions = ["/p=1", "/p=2", "/p=3"] if joint else [""]
    for part in partitions:
        many(
            spark,
            f"{database.location('t')}{part}",
            query,
            4,
            "text" if stored == "TEXTFILE" else stored.lower(),
        )
    partitioned = " PARTITIONED BY (p INT)" if joint else ""
    spark.sql(
        f"CREATE EXTERNAL TABLE {table} (v STRING){partitioned} STORED AS {stored} LOCATION '{database.location('t')}'"
    )
    if joint:
        spark.sql(f"MSCK REPAIR TABLE {table}")
    before = rows(spark, table)
    with cluster_settings(spark, SETTINGS[stored]):
        report = only(jobs("compact", "--table", table))
    assert {unit["outcome"] for unit in report["units"]} == {"compacted"}, report
    for part in partitions:
        folder = Path(f"{database.path}/t{part}")
        assert len(data_files(folder)) == 1
        assert not [path.name for path in folder.iterdir() if path.name[:1] == "_"]
    assert rows(spark, table) == before


@pytest.mark.one_version
@pytest.mark.parametrize(
    ("name", "value"),
    [
        pytest.param("fs.local.block.size", "large", id="no number"),
        pytest.param("fs.AbstractFileSystem.file.impl", "com.example.Missing", id="missing class"),
        pytest.param(
            "fs.AbstractFileSystem.file.impl", "java.lang.Object", id="wrong class", marks=pytest.mark.full
        ),
        pytest.param("fs.permissions.umask-mode", "-1", id="no mode", marks=pytest.mark.full),
    ],
)
def test_a_setting_whose_value_hadoop_cannot_use_is_named(
    spark: SparkSession, jobs: Jobs, database: Database, name: str, value: str
) -> None:
    table = f"{database}.t"
    many(spark, database.location("t"), "SELECT CAST(id AS STRING) AS v FROM range(40)", 4, "parquet")
    spark.sql(
        f"CREATE EXTERNAL TABLE {table} (v STRING) STORED AS PARQUET LOCATION '{database.location('t')}'"
    )
    before = rows(spark, table)
    with cluster_settings(spark, {name: value}):
        report = only(jobs("compact", "--table", table))
    assert report["outcome"] == "failed"
    assert name in report["reason"]
    assert rows(spark, table) == before
