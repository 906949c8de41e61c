"""The commit log on real tables: what `history` tells of them, and what an analysis need not list again."""

from __future__ import annotations

import os
import shutil
import time
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from spark_jobs.adapters.hadoop.file_system import HadoopFileSystem
from tests.harness.fixtures import Database
from tests.spark.toolbox import Jobs, many, of_ids, only, outcomes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: The commit log is the driver's alone.
pytestmark = pytest.mark.one_version


@pytest.fixture
def events(spark: SparkSession, database: Database) -> str:
    """Three partitions: `small` of 5 files, `large` and `other` of one file each."""
    return of_ids(spark, database, "events", {"small": 5, "large": 1, "other": 1}, 50)


def test_history_tells_what_was_done_and_what_can_be_undone(
    spark: SparkSession, jobs: Jobs, database: Database, events: str, capsys: pytest.CaptureFixture[str]
) -> None:
    jobs("compact", "--table", events, "--run-id", "first")
    jobs("rollback", "--table", events)
    jobs("compact", "--table", events, "--run-id", "second")
    many(spark, f"{database.location('events')}/k=small", "SELECT id FROM range(9)", 3)
    jobs("compact", "--table", events, "--run-id", "third")
    jobs("cleanup", "--table", events, "--keep-last", "1", "--skip-trash")

    rows = only(jobs("history", "--table", events))["history"]

    assert [(row["run_id"], row["kind"]) for row in reversed(rows)] == [
        ("first", "compact"),
        ("first", "rollback"),
        ("second", "compact"),
        ("third", "compact"),
        ("second", "cleanup"),
    ]
    compactions = {row["run_id"]: row for row in rows if row["kind"] == "compact"}
    assert {run: row["rollback"] for run, row in compactions.items()} == {
        "first": "done",
        "second": "cleaned",
        "third": "possible",
    }
    second = compactions["second"]
    assert (second["units"], second["before"]["files"], second["after"]["files"]) == (1, 5, 1)
    assert second["who"] == HadoopFileSystem(spark).user()
    assert "third" in capsys.readouterr().out


def test_history_can_be_told_without_its_log(jobs: Jobs, database: Database, events: str) -> None:
    jobs("compact", "--table", events, "--run-id", "first")
    logged = only(jobs("history", "--table", events))["history"]
    shutil.rmtree(database.path / "events" / ".lakekeeper" / "log")
    rebuilt = only(jobs("history", "--table", events))["history"]
    assert [row["snapshot"] for row in logged] == [1]
    assert [(row["run_id"], row["units"], row["snapshot"]) for row in rebuilt] == [("first", 1, None)]


def _listed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The partitions that are listed from now on."""
    seen: list[str] = []
    one = HadoopFileSystem.list

    def listing(self: HadoopFileSystem, path: str) -> object:
        if "/.lakekeeper" not in path and "k=" in path:
            seen.append(path.rsplit("k=", 1)[1])
        return one(self, path)

    # On a local disk, several directories are listed one by one.
    monkeypatch.setattr(HadoopFileSystem, "list", listing)
    return seen


def test_an_analysis_lists_only_what_has_changed(
    spark: SparkSession, jobs: Jobs, database: Database, events: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    long_ago = time.time() - 7200
    for key in ("large", "other"):
        os.utime(database.path / "events" / f"k={key}", (long_ago, long_ago))
    jobs("compact", "--table", events)
    many(spark, f"{database.location('events')}/k=other", "SELECT id FROM range(9)", 3)
    listed = _listed(monkeypatch)

    report = jobs("analyze", "--table", events)

    assert sorted(listed) == ["other", "small"]
    assert dict(zip((u["unit"]["k"] for u in only(report)["units"]), outcomes(report), strict=True)) == {
        "small": "healthy",
        "large": "healthy",
        "other": "flagged",
    }
    listed.clear()
    assert jobs("analyze", "--table", events, "--full-scan")["exit_code"] == 0
    assert sorted(listed) == ["large", "other", "small"]
    listed.clear()
    # Other thresholds are another question to the same figures.
    jobs("analyze", "--table", events, "--min-input-files", "9")
    assert "large" not in listed


def test_old_runs_are_folded_and_the_history_stays(
    spark: SparkSession, jobs: Jobs, database: Database, events: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also the checksum files go, which a local disk has beside each record."""
    for number in range(3):
        jobs("compact", "--table", events, "--run-id", f"old{number}")
        jobs("cleanup", "--table", events, "--older-than", "0s", "--skip-trash")
        many(spark, f"{database.location('events')}/k=small", "SELECT id FROM range(9)", 3)
    before = only(jobs("history", "--table", events))["history"]

    monkeypatch.setattr("spark_jobs.protocol.execution.folding.FOLD_AFTER", timedelta(0))
    report = only(jobs("compact", "--table", events, "--run-id", "new"))

    assert (report["outcome"], report["warnings"]) == ("done", [])
    home = database.path / "events" / ".lakekeeper"
    assert [path.name.split(".")[0] for path in home.glob("*.*") if path.is_dir()] == ["new"]
    assert sorted(path.name for path in (home / "settled").iterdir()) == [
        ".000001.json.gz.crc",
        "000001.json.gz",
    ]
    assert [
        row for row in only(jobs("history", "--table", events))["history"] if row["run_id"] != "new"
    ] == before
    again = only(jobs("rollback", "--table", events, "--run-id", "old1"))
    assert "cleaned up at" in again["reason"]
    jobs("compact", "--table", events, "--run-id", "old1")
    assert only(jobs("rollback", "--table", events, "--run-id", "new"))["outcome"] == "done"
