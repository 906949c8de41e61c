"""Which tables and units a job was asked for, where their names or the metastore make that hard to tell."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from spark_jobs.adapters.composition import spark_services
from spark_jobs.adapters.hadoop.metastore import Metastore, MetastoreError
from spark_jobs.core.options.arguments import parse
from spark_jobs.core.wire.report import Report
from spark_jobs.verbs import runner
from tests.harness.fixtures import Database
from tests.spark.toolbox import Jobs, data_files, only, outcomes, rows, tree

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: What happens after an accident is decided by the driver, from the journal and the directories.
pytestmark = pytest.mark.one_version


def test_a_metastore_that_is_down_is_no_empty_database(
    spark: SparkSession, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    def down(*_: object) -> None:
        raise MetastoreError("cannot look up the database: connection refused")

    monkeypatch.setattr(Metastore, "database_exists", down)
    report = Report("compact", "0.2.0.dev0")
    runner.run(spark_services(spark), parse("compact", ["--database", str(database)], ""), report)
    assert (report.outcome, report.exit_code) == ("failed", 1)
    assert "connection refused" in (report.error or "")


def test_units_of_a_request_are_taken_whole_or_not_at_all(
    spark: SparkSession, jobs: Jobs, database: Database, pair: str
) -> None:
    before = tree(database.path)
    bad = jobs("compact", "--table", pair, request={"units": {pair: [{"zzz": "x"}]}})
    assert (bad["exit_code"], tree(database.path)) == (2, before)
    upper = jobs(
        "compact", "--table", pair, "--run-id", "r5", request={"units": {pair.upper(): [{"K": "good"}]}}
    )
    assert outcomes(upper) == ["compacted"]
    assert outcomes(jobs("rollback", "--table", pair, request={"runs": {pair.title(): ["r5"]}})) == [
        "restored"
    ]


def test_a_run_that_a_request_names_for_every_table_is_its_newest_generation(
    spark: SparkSession, jobs: Jobs, database: Database, pair: str, flat: str
) -> None:
    """Each table may have another one; a table without the run is left alone."""
    for _ in range(2):
        jobs("compact", "--table", pair, "--run-id", "r7")
        jobs("rollback", "--table", pair, "--run-id", "r7")
    jobs("compact", "--table", pair, "--run-id", "r7")
    jobs("compact", "--table", flat, "--run-id", "r8")
    report = jobs("rollback", "--tables", f"{pair},{flat}", request={"runs": {"*": ["r7"]}})
    assert [table["outcome"] for table in report["tables"]] == ["done", "nothing"]


def test_a_table_that_was_renamed_keeps_its_way_back(
    spark: SparkSession, jobs: Jobs, database: Database, flat: str
) -> None:
    originals = data_files(database.path / "flat")
    jobs("compact", "--table", flat, "--run-id", "r1")
    spark.sql(f"ALTER TABLE {flat} RENAME TO {database}.renamed")
    report = jobs("rollback", "--table", f"{database}.renamed", "--run-id", "r1")
    assert outcomes(report) == ["restored"]
    assert data_files(database.path / "flat") == originals
    assert Path(database.path / "flat").exists()


def test_a_spark_table_with_an_upper_case_key_goes_through(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    table, location = f"{database}.upper", database.location("upper")
    spark.sql(
        f"CREATE TABLE {table} (id BIGINT, Day STRING) USING parquet PARTITIONED BY (Day) LOCATION '{location}'"
    )
    for start in range(3):
        spark.sql(f"INSERT INTO {table} SELECT id, IF(id = 0, NULL, 'd') FROM range({start}, {start} + 5)")
    before = rows(spark, table)
    report = only(jobs("compact", "--table", table, "--sort-columns", "day,id"))
    assert {u["outcome"] for u in report["units"]} <= {"compacted", "healthy"}
    assert "compacted" in {u["outcome"] for u in report["units"]}
    assert rows(spark, table) == before
    assert set(outcomes(jobs("rollback", "--table", table))) == {"restored"}
    assert rows(spark, table) == before
    assert not spark.catalog.tableExists(report["backup_table"])
