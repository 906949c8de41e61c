"""Iceberg and Paimon by their own procedures: what the jobs do with real tables of both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from spark_jobs.adapters.native.iceberg import IcebergTable
from tests.harness.fixtures import Database
from tests.native.lake import FORMATS, KINDS, WRITES, append, files, make, rows
from tests.spark.toolbox import Jobs, only

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.full
ON = ("--native-formats", FORMATS)
#: A partition of each table has so many files before, and this many after a compaction.
PARTS = {"iceberg_flat": 1, "paimon_flat": 1}


def outcomes(report: dict[str, Any]) -> list[str]:
    return sorted(unit["outcome"] for unit in only(report)["units"])


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_is_compacted_and_rolled_back(
    spark: SparkSession, database: Database, jobs: Jobs, kind: str
) -> None:
    name, table = str(database), f"{database}.{kind}"
    make(spark, kind, name)
    before, count = rows(spark, kind, name), files(spark, kind, name)
    assert count >= WRITES
    analysed = only(jobs("analyze", "--table", table, *ON))
    assert (analysed["format"], analysed["before"]["files"]) == (KINDS[kind][0], count)
    assert {unit["outcome"] for unit in analysed["units"]} == {"flagged"}

    report = jobs("compact", "--table", table, "--run-id", "r1", *ON)
    done = only(report)
    assert set(outcomes(report)) == {"compacted"}, done
    assert done["after"]["files"] == files(spark, kind, name) < count
    assert rows(spark, kind, name) == before
    if KINDS[kind][0] == "paimon":
        assert (done["held_runs"], done["run_id"]) == (0, "r1")
        assert any("CANNOT_BE_ROLLED_BACK" in text for text in done["warnings"])
        assert only(jobs("rollback", "--table", table, *ON))["code"] == "NO_ROLLBACK"
        return
    assert (done["held_runs"], done["run_id"]) == (1, "r1")
    assert done["held_bytes"] > 0
    (row,) = only(jobs("history", "--table", table, *ON))["history"]
    assert (row["run_id"], row["rollback"], row["before"]["files"]) == ("r1", "possible", count)

    back = jobs("rollback", "--table", table, *ON)
    assert outcomes(back) == ["restored"], back
    assert (files(spark, kind, name), rows(spark, kind, name)) == (count, before)
    left = only(jobs("check", "--table", table, *ON))["left"]
    assert [name.rpartition("/")[2] for name in left] == [f".lakekeeper-{kind}"]


def test_a_rollback_of_iceberg_that_another_writer_overtakes_changes_nothing(
    spark: SparkSession, database: Database, jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commit comes between the last look and the rollback."""
    name, table = str(database), f"{database}.iceberg"
    make(spark, "iceberg", name)
    jobs("compact", "--table", table, "--run-id", "r1", *ON)
    commit = IcebergTable._commit

    def late(self: IcebergTable, *argv: Any) -> None:
        append(spark, "iceberg", name, WRITES)
        commit(self, *argv)

    monkeypatch.setattr(IcebergTable, "_commit", late)
    refused = only(jobs("rollback", "--table", table, *ON))
    assert refused["code"] == "NEWER_COMMITS"
    assert sum(rows(spark, "iceberg", name).values()) == 2 * (WRITES + 1)


@pytest.mark.parametrize(
    ("properties", "feature"),
    [
        ("'primary-key'='id,k', 'bucket'='1', 'deletion-vectors.enabled'='true'", "it has deletion vectors"),
        ("'primary-key'='id,k', 'bucket'='1', 'merge-engine'='first-row'", "its merge engine is first-row"),
        ("'primary-key'='id', 'bucket'='-1'", "its buckets are"),
    ],
)
def test_a_paimon_table_whose_readers_would_see_other_rows_is_refused(
    spark: SparkSession, database: Database, jobs: Jobs, properties: str, feature: str
) -> None:
    ddl = f"(id BIGINT, v STRING, k STRING) PARTITIONED BY (k) TBLPROPERTIES ({properties})"
    spark.sql(f"CREATE TABLE paimon.{database}.paimon {ddl}")
    refused = only(jobs("compact", "--table", f"{database}.paimon", *ON))
    assert refused["code"] == "FORMAT_FEATURE"
    assert feature in refused["reason"]


def test_another_table_of_the_same_name_is_not_worked_on(
    spark: SparkSession, database: Database, jobs: Jobs
) -> None:
    make(spark, "iceberg", str(database))
    moved = f"file:{database.path}/elsewhere"
    spark.conf.set("spark.sql.catalog.spark_catalog.type", "hive")
    session = spark.newSession()
    session.sql(f"CREATE TABLE {database}.entry (id BIGINT) STORED AS parquet LOCATION '{moved}'")
    session.sql(f"ALTER TABLE {database}.entry SET TBLPROPERTIES ('table_type'='ICEBERG')")
    found = only(jobs("analyze", "--table", f"{database}.entry", *ON))
    assert found["code"] == "NO_CATALOG", found


@pytest.mark.parametrize("kind", ["iceberg"])
def test_a_rollback_takes_no_rows_that_were_committed_since(
    spark: SparkSession, database: Database, jobs: Jobs, kind: str
) -> None:
    name, table = str(database), f"{database}.{kind}"
    make(spark, kind, name)
    jobs("compact", "--table", table, "--run-id", "r1", *ON)
    append(spark, kind, name, WRITES)
    now = rows(spark, kind, name)
    report = jobs("rollback", "--table", table, *ON)
    refused = only(report)
    assert (refused["outcome"], refused["code"], report["exit_code"]) == ("refused", "NEWER_COMMITS", 1)
    assert "1 newer commits of other writers follow run r1" in refused["reason"]
    assert rows(spark, kind, name) == now


@pytest.mark.parametrize("kind", ["iceberg", "paimon"])
def test_only_what_was_named_is_compacted(
    spark: SparkSession, database: Database, jobs: Jobs, kind: str
) -> None:
    name, table = str(database), f"{database}.{kind}"
    make(spark, kind, name)
    before = rows(spark, kind, name)
    report = jobs("compact", "--table", table, "--where", "k = 'b'", *ON)
    assert [(unit["unit"], unit["outcome"]) for unit in only(report)["units"]] == [({"k": "b"}, "compacted")]
    assert (files(spark, kind, name), rows(spark, kind, name)) == (WRITES + 1, before)


@pytest.mark.parametrize("kind", ["iceberg", "paimon"])
def test_a_cleanup_forgets_the_run_and_expires_on_request(
    spark: SparkSession, database: Database, jobs: Jobs, kind: str
) -> None:
    name, table = str(database), f"{database}.{kind}"
    make(spark, kind, name)
    jobs("compact", "--table", table, "--run-id", "r1", *ON)
    before = rows(spark, kind, name)
    refused = only(jobs("cleanup", "--table", table, "--older-than", "0s", "--native-expiry", *ON))
    assert refused["code"] == "SHORT_RETENTION"
    cleaned = only(jobs("cleanup", "--table", table, "--older-than", "0s", *ON))
    assert (cleaned["outcome"], cleaned["held_runs"]) == ("nothing" if kind == "paimon" else "done", 0)
    assert not [each for each in only(jobs("check", "--table", table, *ON))["left"] if each.startswith("tag")]
    expired = only(jobs("cleanup", "--table", table, "--older-than", "30d", "--native-expiry", *ON))
    assert expired["outcome"] == "nothing"
    assert rows(spark, kind, name) == before


def test_one_job_does_all_tables_of_a_database(spark: SparkSession, database: Database, jobs: Jobs) -> None:
    from tests.spark.toolbox import many

    name = str(database)
    for kind in ("iceberg", "paimon"):
        make(spark, kind, name)
    location = database.location("plain")
    many(spark, location, "SELECT id FROM range(100)", 8, "parquet")
    spark.sql(f"CREATE EXTERNAL TABLE {name}.plain (id BIGINT) STORED AS parquet LOCATION '{location}'")
    planned = jobs("plan", "--database", name, *ON)
    assert {table["table"] for table in planned["tables"]} == {
        f"{name}.{each}" for each in ("iceberg", "paimon", "plain")
    }
    report = jobs("compact", "--database", name, *ON)
    assert {(table["format"], table["outcome"]) for table in report["tables"]} == {
        ("iceberg", "done"),
        ("paimon", "done"),
        ("parquet", "done"),
    }
    assert report["exit_code"] == 0


def test_without_its_switch_a_format_is_refused(spark: SparkSession, database: Database, jobs: Jobs) -> None:
    make(spark, "iceberg", str(database))
    make(spark, "paimon", str(database))
    report = jobs("compact", "--database", str(database), "--native-formats", "paimon")
    assert {table["table"].rpartition(".")[2]: table["code"] for table in report["tables"]} == {
        "iceberg": "ICEBERG",
        "paimon": None,
    }
