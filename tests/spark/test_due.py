"""`idle_for` and the trigger conditions with Spark and a real metastore: what is compacted, and what a report says."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.harness.fixtures import Database
from tests.spark.toolbox import Jobs, ids, many, only, outcomes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HOUR = 3600

pytestmark = pytest.mark.one_version


@pytest.fixture
def loads(spark: SparkSession, database: Database) -> str:
    """Three days with 4 files each; the files of the day `new` are an hour old, the others ten days."""
    spark.sql(
        f"CREATE EXTERNAL TABLE {database}.loads (id BIGINT) PARTITIONED BY (day STRING) STORED AS parquet"
        f" LOCATION '{database.location('loads')}'"
    )
    for number, day in enumerate(("a", "b", "new")):
        query = f"SELECT id + {100 * number} AS id FROM range(100)"
        many(spark, f"{database.location('loads')}/day={day}", query, 4)
        set_age(database.path / "loads" / f"day={day}", HOUR if day == "new" else 240 * HOUR)
    spark.sql(f"MSCK REPAIR TABLE {database}.loads")
    return f"{database}.loads"


def set_age(folder: Path, seconds: int) -> None:
    at = time.time() - seconds
    for path in (*folder.iterdir(), folder):
        os.utime(path, (at, at))


def units(report: dict[str, Any]) -> dict[str, str]:
    found = only(report)["units"]
    return dict(zip((unit["unit"]["day"] for unit in found), outcomes(report), strict=True))


def test_only_what_is_idle_is_compacted(spark: SparkSession, jobs: Jobs, loads: str) -> None:
    before = ids(spark, loads)
    analysis = jobs("analyze", "--table", loads, "--idle-for", "7d")
    assert units(analysis) == {"a": "flagged", "b": "flagged", "new": "healthy"}
    [young] = [unit for unit in only(analysis)["units"] if unit["unit"]["day"] == "new"]
    assert young["reason"] == "its newest file is 60m old; idle_for is 7d"
    report = jobs("compact", "--table", loads, "--run-id", "r", "--idle-for", "10080m")
    assert units(report) == {"a": "compacted", "b": "compacted", "new": "healthy"}
    assert ids(spark, loads) == before


def test_triggers_are_judged_of_the_whole_table_and_of_each_unit(
    spark: SparkSession, jobs: Jobs, database: Database, loads: str
) -> None:
    healthy = {"a": "healthy", "b": "healthy", "new": "healthy"}
    flagged = {"a": "flagged", "b": "flagged", "new": "flagged"}
    for flags, expected in (
        (("--trigger-small-files", "13"), healthy),
        (("--trigger-small-files", "12", "--trigger-average-size", "1mb"), flagged),
        (("--trigger-growth", "1000", "--trigger-interval", "30d"), flagged),  # it was never compacted
        (("--trigger-unit-files", "5"), healthy),
        (("--trigger", "any", "--trigger-unit-files", "5", "--trigger-small-files", "12"), flagged),
    ):
        assert units(jobs("analyze", "--table", loads, *flags)) == expected, flags
    jobs("compact", "--table", loads, "--run-id", "r")
    many(spark, f"{database.location('loads')}/day=a", "SELECT id + 900 AS id FROM range(9)", 3)

    report = jobs("compact", "--table", loads, "--run-id", "s", "--trigger-growth", "4")
    assert only(report)["outcome"] == "nothing"
    [reason] = [unit["reason"] for unit in only(report)["units"] if unit["reason"]]
    assert reason == "trigger_growth is 4, and 3 files were added since the last compaction"
    report = jobs("compact", "--table", loads, "--run-id", "t", "--trigger-interval", "1d")
    assert units(report) == healthy
    report = jobs("compact", "--table", loads, "--run-id", "u", "--trigger-growth", "3")
    assert units(report) == {**healthy, "a": "compacted"}


def test_two_selections_are_wrong_usage(jobs: Jobs, loads: str) -> None:
    report = jobs("analyze", "--table", loads, "--idle-for", "7d", "--where", "day = 'a'")
    assert (report["exit_code"], "both 'where' and 'idle_for' are given" in report["error"]) == (2, True)
