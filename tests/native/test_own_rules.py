"""What a table itself asks for, by properties that its format knows, and what is another table's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from spark_jobs.adapters.native.iceberg import IcebergTable
from spark_jobs.adapters.native.paimon import PaimonTable
from tests.harness.fixtures import Database
from tests.native.lake import FORMATS, append, files, make, rows, table_of
from tests.spark.toolbox import Jobs, many, only

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.full
ON = ("--native-formats", FORMATS)
MB = 1024 * 1024
OWN = {"iceberg": "'write.target-file-size-bytes'='67108864'", "paimon": "'target-file-size'='64 mb'"}
DEFAULT = {"iceberg": 512 * MB, "paimon": 256 * MB, "paimon_keyed": 128 * MB}


def alter(spark: SparkSession, kind: str, database: str, properties: str) -> None:
    spark.sql(f"ALTER TABLE {table_of(kind, database)} SET TBLPROPERTIES ({properties})")


@pytest.mark.parametrize("kind", DEFAULT)
def test_files_get_the_size_that_the_table_asks_for(
    spark: SparkSession, database: Database, jobs: Jobs, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    for adapter in (IcebergTable, PaimonTable):
        monkeypatch.setattr(adapter, "compact", lambda *given: asked.append(given[-1]))
    make(spark, kind, str(database))
    words = ("--table", f"{database}.{kind}", *ON)
    jobs("compact", *words)
    alter(spark, kind, str(database), OWN[kind.partition("_")[0]])
    jobs("compact", *words)
    jobs("compact", *words, "--target-file-size", "32mb")
    assert asked == [DEFAULT[kind], 64 * MB, 32 * MB]


@pytest.mark.parametrize("kind", ["iceberg", "paimon"])
def test_a_property_leaves_a_table_out(
    spark: SparkSession, database: Database, jobs: Jobs, kind: str
) -> None:
    make(spark, kind, str(database))
    alter(spark, kind, str(database), "'lakekeeper.enabled'='false'")
    assert only(jobs("compact", "--table", f"{database}.{kind}", *ON))["code"] == "OPTED_OUT"


@pytest.mark.parametrize(
    ("properties", "feature"),
    [
        (
            "'primary-key'='id,k', 'bucket'='1', 'record-level.expire-time'='1 d', 'record-level.time-field'='n'",
            "record-level.expire-time",
        ),
        (
            "'partition.expiration-time'='7 d', 'partition.timestamp-formatter'='yyyyMMdd'",
            "partition.expiration-time",
        ),
    ],
)
def test_a_paimon_table_whose_rows_go_with_a_compaction_is_refused(
    spark: SparkSession, database: Database, jobs: Jobs, properties: str, feature: str
) -> None:
    columns = "(id BIGINT, n INT NOT NULL, k STRING) PARTITIONED BY (k)"
    spark.sql(f"CREATE TABLE paimon.{database}.paimon {columns} TBLPROPERTIES ({properties})")
    refused = only(jobs("compact", "--table", f"{database}.paimon", *ON))
    assert refused["code"] == "FORMAT_FEATURE"
    assert feature in refused["reason"]


@pytest.mark.parametrize("kind", ["paimon", "paimon_keyed"])
def test_a_compaction_expires_no_snapshot_of_paimon(
    spark: SparkSession, database: Database, jobs: Jobs, kind: str
) -> None:
    make(spark, kind, str(database))
    keep = "'snapshot.num-retained.min'='1', 'snapshot.num-retained.max'='2', 'snapshot.time-retained'='1 ms'"
    alter(spark, kind, str(database), f"'write-only'='true', {keep}")
    append(spark, kind, str(database), 50)
    snapshots = f"SELECT min(snapshot_id), count(*) FROM paimon.{database}.`{kind}$snapshots`"
    first, before = spark.sql(snapshots).first()
    assert only(jobs("compact", "--table", f"{database}.{kind}", *ON))["outcome"] == "done"
    now, after = spark.sql(snapshots).first()
    assert (now, after > before) == (first, True)


def test_files_that_iceberg_has_from_a_hive_table_are_not_deleted(
    spark: SparkSession, database: Database, jobs: Jobs
) -> None:
    place = database.path / "plain"
    many(
        spark,
        place.as_uri(),
        "SELECT id, 'x' AS v, TIMESTAMP '2026-01-01 12:00:00' AS ts FROM range(100)",
        8,
        "parquet",
    )
    spark.sql(
        f"CREATE EXTERNAL TABLE {database}.plain (id BIGINT, v STRING, ts TIMESTAMP) STORED AS parquet"
        f" LOCATION '{place.as_uri()}'"
    )
    spark.sql(f"CREATE TABLE {database}.iceberg_flat (id BIGINT, v STRING, ts TIMESTAMP) USING iceberg")
    spark.sql(
        f"CALL spark_catalog.system.add_files(table => '{database}.iceberg_flat', source_table => '{database}.plain')"
    )
    words = ("--table", f"{database}.iceberg_flat", *ON)
    assert only(jobs("compact", *words))["outcome"] == "done"
    assert files(spark, "iceberg_flat", str(database)) == 1
    alter(spark, "iceberg_flat", str(database), "'history.expire.max-snapshot-age-ms'='1'")
    report = only(jobs("cleanup", *words, "--older-than", "0s", "--native-expiry"))
    assert any("COMMITS_NOT_EXPIRED" in text for text in report["warnings"]), report
    spark.sql(f"REFRESH TABLE {database}.plain")
    assert spark.table(f"{database}.plain").count() == 100
    assert sum(rows(spark, "iceberg_flat", str(database)).values()) == 100


def test_a_name_of_a_commit_outlives_what_the_table_says_of_names(
    spark: SparkSession, database: Database, jobs: Jobs
) -> None:
    make(spark, "iceberg", str(database))
    alter(
        spark,
        "iceberg",
        str(database),
        "'history.expire.max-ref-age-ms'='1', 'history.expire.max-snapshot-age-ms'='1'",
    )
    words = ("--table", f"{database}.iceberg", *ON)
    before = files(spark, "iceberg", str(database))
    assert only(jobs("compact", *words, "--run-id", "r1"))["outcome"] == "done"
    spark.sql(
        f"CALL spark_catalog.system.expire_snapshots(table => '{database}.iceberg', older_than => TIMESTAMP"
        " '2100-01-01 00:00:00', retain_last => 1)"
    )
    assert only(jobs("rollback", *words))["outcome"] == "done"
    assert files(spark, "iceberg", str(database)) == before
