"""Where partitions lie, and what happens while somebody else works there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING

import pytest

from spark_jobs.core.records.journal import PREPARED, Record
from tests.harness.fixtures import Database
from tests.spark.meanwhile import Killed, after_rewrites, around_moves, full_disk, killed_after_moves
from tests.spark.toolbox import Jobs, data_files, many, only, outcomes, rows, tree

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


pytestmark = pytest.mark.one_version


@pytest.fixture
def scattered(spark: SparkSession, database: Database) -> str:
    """One partition below the root, one elsewhere under a name of its own."""
    table, location = f"{database}.scattered", database.location("scattered")
    spark.sql(
        f"CREATE EXTERNAL TABLE {table} (id BIGINT) PARTITIONED BY (k STRING) STORED AS PARQUET LOCATION '{location}'"
    )
    for key, folder in (("in", f"{location}/k=in"), ("out", database.location("elsewhere/lot49"))):
        many(spark, folder, f"SELECT id FROM range({len(key) * 20})", 4)
        spark.sql(f"ALTER TABLE {table} ADD PARTITION (k='{key}') LOCATION '{folder}'")
    return table


def test_a_partition_elsewhere_is_compacted_where_it_lies(
    spark: SparkSession, jobs: Jobs, database: Database, scattered: str
) -> None:
    before, originals = rows(spark, scattered), tree(database.path)
    report = only(jobs("compact", "--table", scattered, "--run-id", "r1"))
    assert [u["outcome"] for u in report["units"]] == ["compacted"] * 2
    assert len(data_files(database.path / "elsewhere" / "lot49")) == 1
    assert rows(spark, scattered) == before == rows(spark, report["backup_table"])

    jobs("rollback", "--table", scattered, "--run-id", "r1")
    assert tree(database.path) == originals


def test_a_partition_dropped_since_is_still_cleaned_up(
    spark: SparkSession, jobs: Jobs, database: Database, scattered: str
) -> None:
    jobs("compact", "--table", scattered)
    spark.sql(f"ALTER TABLE {scattered} DROP PARTITION (k='out')")
    report = jobs("cleanup", "--table", scattered, "--skip-trash")
    assert outcomes(report) == ["cleaned", "cleaned"]


def test_partitions_that_share_a_location_are_left_alone(
    spark: SparkSession, jobs: Jobs, database: Database, scattered: str
) -> None:
    spark.sql(
        f"ALTER TABLE {scattered} ADD PARTITION (k='twin') LOCATION '{database.location('elsewhere/lot49')}'"
    )
    units = {
        u["unit"]["k"]: (u["outcome"], u["code"])
        for u in only(jobs("compact", "--table", scattered))["units"]
    }
    assert units == {
        "in": ("compacted", None),
        "out": ("skipped", "LOCATION_OVERLAP"),
        "twin": ("skipped", "LOCATION_OVERLAP"),
    }


def _flat(spark: SparkSession, database: Database) -> str:
    many(spark, database.location("flat"), "SELECT id FROM range(60)", 6)
    spark.sql(
        f"CREATE EXTERNAL TABLE {database}.flat (id BIGINT) STORED AS PARQUET LOCATION '{database.location('flat')}'"
    )
    return f"{database}.flat"


def test_a_file_added_during_the_compaction_is_carried_along(
    spark: SparkSession, jobs: Jobs, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = _flat(spark, database)
    after_rewrites(monkeypatch, lambda _: many(spark, database.location("flat"), "SELECT 99L AS id", 1))
    report = jobs("compact", "--table", table)
    assert (report["outcome"], report["exit_code"], outcomes(report)) == ("done", 0, ["compacted"])
    assert "1 files that were added during the compaction" in only(report)["units"][0]["reason"]
    assert len(data_files(database.path / "flat")) == 2
    assert sum(rows(spark, table).values()) == 61
    assert outcomes(jobs("rollback", "--table", table)) == ["restored"]
    assert sum(rows(spark, table).values()) == 61


def test_a_file_replaced_during_the_compaction_calls_it_off(
    spark: SparkSession, jobs: Jobs, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = _flat(spark, database)
    after_rewrites(monkeypatch, lambda _: os.utime(next((database.path / "flat").glob("part-*")), (1, 1)))
    report = jobs("compact", "--table", table)
    assert (report["outcome"], report["exit_code"], outcomes(report)) == ("nothing", 0, ["changed"])
    assert len(data_files(database.path / "flat")) == 6


def test_a_swap_that_fails_half_way_is_undone(
    spark: SparkSession, jobs: Jobs, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = _flat(spark, database)
    originals = data_files(database.path / "flat")
    moves = count(1)

    @contextmanager
    def around(_: str, __: str) -> Iterator[None]:
        if next(moves) == 2:
            raise OSError("the file system went away")
        yield

    around_moves(monkeypatch, around)
    report = jobs("compact", "--table", table)
    assert (report["exit_code"], outcomes(report)) == (1, ["failed"])
    assert "the file system went away" in only(report)["units"][0]["reason"]
    assert data_files(database.path / "flat") == originals


def test_a_passed_deadline_defers_every_unit(spark: SparkSession, jobs: Jobs, database: Database) -> None:
    table = _flat(spark, database)
    originals = data_files(database.path / "flat")
    report = jobs("compact", "--table", table, "--deadline", "2020-01-01T00:00:00Z")
    assert (report["exit_code"], outcomes(report)) == (0, ["deferred"])
    assert data_files(database.path / "flat") == originals


@pytest.mark.parametrize("renames", [0, 1, 2], ids=["prepared", "first rename", "both renames"])
def test_a_retry_settles_what_a_killed_attempt_left(
    spark: SparkSession, jobs: Jobs, database: Database, monkeypatch: pytest.MonkeyPatch, renames: int
) -> None:
    table = _flat(spark, database)
    before, originals = rows(spark, table), data_files(database.path / "flat")
    killed_after_moves(monkeypatch, renames)
    with pytest.raises(Killed):
        jobs("compact", "--table", table, "--run-id", "r1")
    monkeypatch.undo()

    report = only(jobs("compact", "--table", table, "--run-id", "r1"))

    assert (report["run_id"], [u["outcome"] for u in report["units"]]) == ("r1", ["compacted"])
    assert rows(spark, table) == before == rows(spark, report["backup_table"])
    assert outcomes(jobs("rollback", "--table", table, "--run-id", "r1")) == ["restored"]
    assert data_files(database.path / "flat") == originals


def test_a_retry_after_a_partial_failure_continues_the_same_run(
    spark: SparkSession, jobs: Jobs, database: Database, monkeypatch: pytest.MonkeyPatch, scattered: str
) -> None:
    """A rollback of the run must find the units of both tries."""
    originals = tree(database.path)
    full_disk(monkeypatch, "k=in")
    first = jobs("compact", "--table", scattered, "--run-id", "r1")
    assert (first["outcome"], first["exit_code"]) == ("partial", 1)
    monkeypatch.undo()

    second = only(jobs("compact", "--table", scattered, "--run-id", "r1"))

    assert (second["run_id"], [u["outcome"] for u in second["units"]]) == ("r1", ["compacted"] * 2)
    assert spark.table(second["backup_table"]).count() == 100
    jobs("rollback", "--table", scattered, "--run-id", "r1")
    assert tree(database.path) == originals


def test_the_journal_says_what_was_intended_before_anything_moves(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    table = _flat(spark, database)
    live = (database.path / "flat").stat().st_ino
    jobs("compact", "--table", table, "--run-id", "r1")
    files = sorted((database.path / ".lakekeeper-flat").glob("r1.*/journal/*.json"))
    records = [Record.decode(file.read_bytes(), file.name) for file in files]
    prepared = next(record for record in records if record.kind == PREPARED)
    assert prepared.body["swaps"][0]["live_id"].endswith(f":{live}")
    assert [record.kind for record in records] == ["RUN", "PREPARED", "COMMITTED", "BACKUP", "FINISHED"]
