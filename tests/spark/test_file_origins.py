"""Who makes the small files, by an analysis of real tables."""

from __future__ import annotations

import getpass
import os
import time
from typing import TYPE_CHECKING

import pytest

from tests.harness.fixtures import Database
from tests.spark.toolbox import Jobs, of_ids, only

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Files and reports are the driver's alone.
pytestmark = pytest.mark.one_version

DAY = 86_400


@pytest.fixture
def events(spark: SparkSession, database: Database) -> str:
    """A partition that Spark wrote now, and one with files of Hive's names that are ten days old."""
    table = of_ids(spark, database, "events", {"new": 14, "old": 7}, 50)
    old, then = database.path / "events" / "k=old", time.time() - 10 * DAY
    for number, file in enumerate(sorted(old.glob("part-*"))):
        moved = file.rename(old / f"{number:06}_0")
        (old / f".{file.name}.crc").unlink(missing_ok=True)
        os.utime(moved, (then, then))
    os.utime(old, (then, then))
    return table


def test_an_analysis_says_who_makes_the_small_files(jobs: Jobs, events: str) -> None:
    found = only(jobs("analyze", "--table", events))
    (writer,) = found["small_file_writers"]

    assert writer["pattern"] == "part-*-*-c*.snappy.parquet"
    assert (writer["files"], found["files_per_day"], found["listed_units"]) == (14, 2.0, 2)
    assert writer["owner"] in (None, getpass.getuser())  # a listing of a local disk may have no owners
    assert writer["bytes"] > 0


def test_a_table_that_has_not_grown_shows_its_newest_files(jobs: Jobs, events: str) -> None:
    found = only(jobs("analyze", "--table", events, "--partitions", '[{"k": "old"}]'))

    assert [(writer["pattern"], writer["files"]) for writer in found["small_file_writers"]] == [
        ("000000_*", 7)
    ]
    assert (found["files_per_day"], found["listed_units"]) == (0.0, 1)


def test_a_unit_that_has_not_changed_is_not_listed_again(jobs: Jobs, events: str) -> None:
    where = ("--table", events, "--partitions", '[{"k": "old"}]')
    jobs("compact", *where)  # it has a home from now on, in which an analysis keeps what it finds
    jobs("rollback", "--table", events)
    jobs("analyze", *where)
    again, whole = only(jobs("analyze", *where)), only(jobs("analyze", *where, "--full-scan"))

    assert (again["listed_units"], len(again["small_file_writers"]), "files_per_day" in again) == (
        0,
        0,
        False,
    )
    assert (whole["listed_units"], whole["small_file_writers"][0]["files"]) == (1, 7)


def test_a_plan_and_a_dry_run_say_it_too_and_a_compaction_does_not(jobs: Jobs, events: str) -> None:
    said = {"small_file_writers", "files_per_day", "listed_units"}
    for words in (("plan", "--table", events), ("compact", "--table", events, "--dry-run")):
        assert said <= only(jobs(*words)).keys()
    assert not said & only(jobs("compact", "--table", events)).keys()
