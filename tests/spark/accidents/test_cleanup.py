"""A cleanup that is stopped, and originals that somebody still reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from spark_jobs.adapters.hadoop.file_system import HadoopFileSystem
from tests.harness.fixtures import Database
from tests.spark.toolbox import Jobs, data_files, many, only, outcomes, rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: What happens after an accident is decided by the driver, from the journal and the directories.
pytestmark = pytest.mark.one_version


def test_a_cleanup_that_stopped_short_neither_ages_nor_ends_the_run(
    spark: SparkSession, jobs: Jobs, database: Database, flat: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = only(jobs("compact", "--table", flat, "--run-id", "r1"))["backup_table"]
    many(spark, database.location("flat"), "SELECT 100 + id AS id FROM range(10)", 5)
    second = only(jobs("compact", "--table", flat, "--run-id", "r2"))["backup_table"]

    def denied(*_: object) -> None:
        raise OSError("denied")

    monkeypatch.setattr(HadoopFileSystem, "delete_tree", denied)
    stopped = jobs("cleanup", "--table", flat, "--keep-last", "1", "--skip-trash")
    assert (stopped["outcome"], outcomes(stopped)) == ("failed", ["failed"])
    assert spark.catalog.tableExists(second)
    monkeypatch.undo()

    cleaned = only(jobs("cleanup", "--table", flat, "--keep-last", "1", "--skip-trash"))

    assert (cleaned["run_id"], spark.catalog.tableExists(first)) == ("r1", False)
    assert spark.table(second).count() == 70
    assert outcomes(jobs("rollback", "--table", flat, "--run-id", "r2")) == ["restored"]


def test_what_a_cleanup_claimed_and_kept_can_still_be_rolled_back(
    jobs: Jobs, database: Database, flat: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    originals = data_files(database.path / "flat")
    jobs("compact", "--table", flat, "--run-id", "r1")

    def denied(*_: object) -> None:
        raise OSError("denied")

    monkeypatch.setattr(HadoopFileSystem, "delete_tree", denied)
    jobs("cleanup", "--table", flat, "--skip-trash")
    monkeypatch.undo()
    assert outcomes(jobs("rollback", "--table", flat, "--run-id", "r1")) == ["restored"]
    assert data_files(database.path / "flat") == originals


def test_cleanup_keeps_originals_that_the_metastore_reads(
    spark: SparkSession, jobs: Jobs, database: Database, pair: str
) -> None:
    jobs("compact", "--table", pair)
    old = next((database.path / "pair" / ".lakekeeper").glob("*.*/__originals_*/k=good"))
    spark.sql(f"ALTER TABLE {pair} PARTITION (k='good') SET LOCATION 'file://{old}'")
    before = rows(spark, pair)
    report = jobs("cleanup", "--table", pair, "--skip-trash")
    assert (report["exit_code"], sorted(outcomes(report))) == (3, ["cleaned", "quarantined"])
    assert rows(spark, pair) == before
    units = {u["unit"]["k"]: u["code"] for u in only(jobs("analyze", "--table", pair))["units"]}
    assert units == {"good": "BACKUP", "bad": None}
