"""The loop on real tables: analyse, compact, verify, roll back, clean up."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.harness.fixtures import Database
from tests.spark.toolbox import Jobs, data_files, many, only, outcomes, rows, tree

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def _root(database: Database, name: str) -> Path:
    return database.path / name


def _definition(spark: SparkSession, table: str) -> list[str]:
    return [row.createtab_stmt for row in spark.sql(f"SHOW CREATE TABLE {table}").collect()]


@pytest.mark.smoke
def test_a_flat_table_becomes_one_file_and_rolls_back_exactly(
    spark: SparkSession, jobs: Jobs, database: Database, flat: str
) -> None:
    before, originals, definition = (
        rows(spark, flat),
        data_files(_root(database, "flat")),
        _definition(spark, flat),
    )
    analysis = only(jobs("analyze", "--table", flat))
    assert [(u["outcome"], u["files"], u["target_files"]) for u in analysis["units"]] == [("flagged", 12, 1)]

    report = jobs("compact", "--table", flat, "--run-id", "r1")

    table = only(report)
    assert (report["outcome"], report["exit_code"], table["rows"]) == ("done", 0, 600)
    assert (table["before"]["files"], table["after"]["files"]) == (12, 1)
    assert len(data_files(_root(database, "flat"))) == 1
    assert rows(spark, flat) == before
    assert _definition(spark, flat) == definition
    assert rows(spark, table["backup_table"]) == before

    undone = jobs("rollback", "--table", flat, "--run-id", "r1")

    assert (undone["outcome"], outcomes(undone)) == ("done", ["restored"])
    assert data_files(_root(database, "flat")) == originals
    assert rows(spark, flat) == before
    assert not spark.catalog.tableExists(table["backup_table"])
    again = jobs("rollback", "--table", flat, "--run-id", "r1")
    assert (again["outcome"], again["exit_code"], only(again)["reason"]) == (
        "nothing",
        0,
        "nothing to restore",
    )


@pytest.mark.smoke
def test_only_flagged_partitions_are_compacted_and_the_others_stay_byte_identical(
    spark: SparkSession, jobs: Jobs, database: Database, events: str
) -> None:
    root = _root(database, "events")
    before, originals = rows(spark, events), tree(root)

    report = only(jobs("compact", "--table", events, "--run-id", "r1"))

    assert sorted(u["outcome"] for u in report["units"]) == ["compacted"] * 4 + ["healthy"]
    after = tree(root)
    healthy = {path for path in originals if path.startswith("date=2026-02-25")}
    assert {path: after[path] for path in healthy} == {path: originals[path] for path in healthy}
    assert len(after) == 5
    assert rows(spark, events) == before
    spark.sql(f"MSCK REPAIR TABLE {events}")
    assert spark.sql(f"SHOW PARTITIONS {events}").count() == 5
    assert rows(spark, events) == before
    compacted = {row: n for row, n in before.items() if "2026-02-25" not in row}
    assert rows(spark, report["backup_table"]) == compacted

    jobs("rollback", "--table", events)
    assert tree(root) == originals


@pytest.mark.one_version
def test_a_unit_that_was_not_named_is_never_touched(
    spark: SparkSession, jobs: Jobs, database: Database, events: str
) -> None:
    """It may have become small-filed between the analysis and the compaction."""
    root = _root(database, "events")
    named = [{"date": "2026-02-23", "ref": "A"}]
    many(
        spark,
        f"{database.location('events')}/date=2026-02-25/ref=A",
        "SELECT id, 'x' AS v FROM range(9)",
        6,
        "parquet",
    )
    untouched = {
        path: figures for path, figures in tree(root).items() if not path.startswith("date=2026-02-23/ref=A/")
    }

    report = only(jobs("compact", "--table", events, request={"units": {events: named}}))

    assert [(u["unit"], u["outcome"]) for u in report["units"]] == [(named[0], "compacted")]
    after = tree(root)
    assert {path: after.get(path) for path in untouched} == untouched
    other = jobs("compact", "--table", events, request={"units": {"some.other": [{}]}})
    assert (other["outcome"], outcomes(other)) == ("nothing", [])


def test_rows_added_after_the_compaction_survive_the_rollback(
    spark: SparkSession, jobs: Jobs, database: Database, flat: str, file_format: str
) -> None:
    originals = data_files(_root(database, "flat"))
    before = rows(spark, flat)
    jobs("compact", "--table", flat)
    many(
        spark, database.location("flat"), "SELECT 9000 + id AS id, 'late' AS v FROM range(7)", 2, file_format
    )
    refused = jobs("rollback", "--table", flat, "--on-new-data", "refuse")
    assert (refused["outcome"], outcomes(refused)) == ("failed", ["failed"])

    undone = jobs("rollback", "--table", flat)

    assert outcomes(undone) == ["restored"]
    files = data_files(_root(database, "flat"))
    assert {name: files.get(name) for name in originals} == originals
    assert len(files) == len(originals) + 2
    late = rows(spark, flat)
    assert sum(late.values()) == sum(before.values()) + 7
    assert before <= late


@pytest.mark.one_version
def test_a_table_that_was_overwritten_since_is_not_rolled_back(
    spark: SparkSession, jobs: Jobs, database: Database, flat: str, file_format: str
) -> None:
    jobs("compact", "--table", flat)
    spark.sql(f"INSERT OVERWRITE TABLE {flat} SELECT 1, 'new'")
    mine = data_files(_root(database, "flat"))

    report = jobs("rollback", "--table", flat)

    assert (report["outcome"], outcomes(report), report["exit_code"]) == ("failed", ["failed"], 1)
    assert data_files(_root(database, "flat")) == mine
    assert "originals stay in" in only(report)["units"][0]["reason"]


def test_cleanup_frees_the_originals_and_ends_the_rollback(
    spark: SparkSession, jobs: Jobs, database: Database, events: str
) -> None:
    before = rows(spark, events)
    backup = only(jobs("compact", "--table", events))["backup_table"]
    young = jobs("cleanup", "--table", events, "--older-than", "7d", "--skip-trash")
    assert (young["outcome"], spark.catalog.tableExists(backup)) == ("nothing", True)
    kept = jobs("cleanup", "--table", events, "--keep-last", "1", "--skip-trash")
    assert kept["outcome"] == "nothing"
    dry = jobs("cleanup", "--table", events, "--dry-run", "--skip-trash")
    assert (dry["outcome"], outcomes(dry)) == ("done", ["flagged"] * 4)
    assert spark.catalog.tableExists(backup)

    report = jobs("cleanup", "--table", events, "--skip-trash")

    table = only(report)
    assert (report["outcome"], outcomes(report)) == ("done", ["cleaned"] * 4)
    assert table["freed_bytes"] == table["before"]["bytes"] > 0
    assert not spark.catalog.tableExists(backup)
    assert rows(spark, events) == before
    left = [
        path for path in _root(database, "events").rglob("*") if path.is_file() and "__originals" in str(path)
    ]
    assert left == []
    undone = only(jobs("rollback", "--table", events, "--run-id", table["run_id"]))
    assert undone["outcome"] == "nothing"
    assert "cleaned up at" in undone["reason"]


@pytest.mark.one_version
def test_cleanup_without_a_trash_says_how_to_delete_for_good(
    jobs: Jobs, database: Database, flat: str
) -> None:
    jobs("compact", "--table", flat)
    report = jobs("cleanup", "--table", flat)
    assert (report["outcome"], outcomes(report)) == ("failed", [])
    assert "--skip-trash" in only(report)["reason"]
    assert outcomes(jobs("cleanup", "--table", flat, "--skip-trash")) == ["cleaned"]


@pytest.mark.one_version
def test_a_run_asked_for_again_opens_a_new_generation_and_undoes_in_turn(
    spark: SparkSession, jobs: Jobs, database: Database, flat: str, file_format: str
) -> None:
    before = rows(spark, flat)
    first = only(jobs("compact", "--table", flat, "--run-id", "nightly"))
    many(spark, database.location("flat"), "SELECT 5000 + id AS id, 'b' AS v FROM range(50)", 5, file_format)
    grown = rows(spark, flat)
    second = only(jobs("compact", "--table", flat, "--run-id", "nightly"))
    assert (first["run_id"], second["run_id"]) == ("nightly", "nightly-g2")

    early = jobs("rollback", "--table", flat, "--run-id", "nightly")
    assert "newer run" in only(early)["units"][0]["reason"]
    assert only(jobs("rollback", "--table", flat))["run_id"] == "nightly-g2"
    assert rows(spark, flat) == grown
    jobs("rollback", "--table", flat, "--run-id", "nightly")
    assert rows(spark, flat) == grown
    assert before <= grown


@pytest.mark.one_version
def test_a_requested_run_stands_for_its_newest_generation_and_never_for_an_older_one(
    spark: SparkSession, jobs: Jobs, database: Database, flat: str, file_format: str
) -> None:
    """What a cleared rollback task asks for after its compaction was cleared and ran again."""
    jobs("compact", "--table", flat, "--run-id", "nightly")
    many(spark, database.location("flat"), "SELECT 5000 + id AS id, 'b' AS v FROM range(50)", 5, file_format)
    jobs("compact", "--table", flat, "--run-id", "nightly")
    request = {"runs": {flat: ["nightly"]}}

    first = jobs("rollback", "--table", flat, request=request)
    assert (only(first)["run_id"], outcomes(first)) == ("nightly-g2", ["restored"])
    files = data_files(_root(database, "flat"))
    assert len(files) == 6
    again = jobs("rollback", "--table", flat, request=request)
    assert (again["outcome"], only(again)["reason"]) == ("nothing", "nothing to restore")
    assert data_files(_root(database, "flat")) == files


@pytest.mark.one_version
def test_a_second_compaction_finds_nothing(jobs: Jobs, flat: str) -> None:
    jobs("compact", "--table", flat)
    report = jobs("compact", "--table", flat)
    assert (report["outcome"], report["exit_code"], outcomes(report)) == ("nothing", 0, ["healthy"])
    assert only(report)["run_id"] is None


@pytest.mark.one_version
def test_a_dry_run_writes_nothing(jobs: Jobs, database: Database, events: str) -> None:
    before = tree(database.path)
    report = jobs("compact", "--table", events, "--dry-run")
    assert sorted(outcomes(report)) == ["flagged"] * 4 + ["healthy"]
    assert tree(database.path) == before
    assert not (database.path / "events" / ".lakekeeper").exists()


@pytest.mark.one_version
def test_names_that_prefix_each_other_never_touch_each_other(
    spark: SparkSession, jobs: Jobs, database: Database, events: str, file_format: str
) -> None:
    longer = f"{events}_2p"
    location = database.location("events_2p")
    many(spark, location, "SELECT id, 'p' AS v FROM range(40)", 4, file_format)
    spark.sql(
        f"CREATE EXTERNAL TABLE {longer} (id BIGINT, v STRING) STORED AS {file_format} LOCATION '{location}'"
    )
    mine, theirs = only(jobs("compact", "--table", events)), only(jobs("compact", "--table", longer))
    compacted = data_files(database.path / "events_2p")

    jobs("rollback", "--table", events)
    jobs("cleanup", "--table", events, "--skip-trash")

    assert data_files(database.path / "events_2p") == compacted
    assert not spark.catalog.tableExists(mine["backup_table"])
    assert sum(rows(spark, theirs["backup_table"]).values()) == 40
    assert outcomes(jobs("rollback", "--table", longer)) == ["restored"]
