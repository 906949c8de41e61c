"""A minor compaction of real files: large ones keep every byte, small ones are merged, and a rollback undoes it."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from demo.services import paths
from tests.harness.fixtures import Database, fresh_database
from tests.spark.toolbox import Jobs, data_files, local, many, rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MINOR = ("--strategy", "minor", "--target-file-size", "4mb")
LARGE, SMALL = 2, 6
FORMATS = ("parquet", "orc")


@pytest.fixture(scope="module")
def database(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    with fresh_database(spark, tmp_path_factory.mktemp("minor")) as database:
        for name in FORMATS:
            location = database.location(name)
            many(spark, location, "SELECT id, uuid() AS text FROM range(600000)", LARGE, name)
            many(spark, location, "SELECT id, uuid() AS text FROM range(600)", SMALL, name)
            spark.sql(
                f"CREATE EXTERNAL TABLE {database}.{name} (id BIGINT, text STRING)"
                f" STORED AS {name} LOCATION '{location}'"
            )
        yield database


def _content(folder: Path) -> dict[str, tuple[str, int, int, int]]:
    """name -> (checksum, size, time, mode) of the visible files."""
    return {
        name: (
            hashlib.sha256((folder / name).read_bytes()).hexdigest(),
            size,
            mtime // 1_000_000,  # what Hadoop sets has milliseconds
            (folder / name).stat().st_mode,
        )
        for name, (size, mtime) in data_files(folder).items()
    }


def _unit(report: dict[str, Any]) -> dict[str, Any]:
    assert report["exit_code"] == 0, report
    (unit,) = report["tables"][0]["units"]
    return dict(unit)


@pytest.mark.one_version
@pytest.mark.parametrize("verify", ["count", pytest.param("hash", marks=pytest.mark.full)])
@pytest.mark.parametrize("name", ["parquet", pytest.param("orc", marks=pytest.mark.full)])
def test_large_files_keep_their_bytes_and_small_ones_become_one(
    spark: SparkSession, database: Database, tmp_path: Path, name: str, verify: str
) -> None:
    folder, jobs = local(database.location(name)), Jobs(spark, tmp_path)
    before, listed = _content(folder), data_files(folder)
    values = rows(spark, f"{database}.{name}")
    large = {file: found for file, found in before.items() if found[1] >= 4 * 1024 * 1024}
    assert len(large) == LARGE

    planned = _unit(jobs("plan", "--table", f"{database}.{name}", *MINOR))
    unit = _unit(jobs("compact", "--table", f"{database}.{name}", *MINOR, "--verify", verify))
    assert (unit["outcome"], unit["strategy"], planned["strategy"]) == ("compacted", "minor", "minor")
    assert (unit["files"], unit["files_after"], planned["target_files"]) == (
        LARGE + SMALL,
        LARGE + 1,
        LARGE + 1,
    )
    after = _content(folder)
    assert {file: after.get(file) for file in large} == large
    assert len(after) == LARGE + 1
    assert rows(spark, f"{database}.{name}") == values

    assert jobs("check", "--table", f"{database}.{name}", "--read-data")["exit_code"] == 0
    assert jobs("rollback", "--table", f"{database}.{name}")["exit_code"] == 0
    assert data_files(folder) == listed
    assert _content(folder) == before


@pytest.mark.one_version
def test_a_sorted_table_is_rewritten_as_a_whole(
    spark: SparkSession, database: Database, tmp_path: Path
) -> None:
    table = f"{database}.parquet"
    unit = _unit(Jobs(spark, tmp_path)("plan", "--table", table, *MINOR))
    assert unit["strategy"] == "minor"
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('lakekeeper.sort_columns' = 'id')")
    unit = _unit(Jobs(spark, tmp_path)("plan", "--table", table, *MINOR))
    assert (unit["strategy"], unit["strategy_reason"]) == (
        "full",
        "its rows are sorted, and a sort needs all of them",
    )
    spark.sql(f"ALTER TABLE {table} UNSET TBLPROPERTIES ('lakekeeper.sort_columns')")


@pytest.mark.one_version
def test_a_second_attempt_of_a_copy_neither_fails_nor_changes_the_first_one(tmp_path: Path) -> None:
    """As `spark.speculation` makes it, and as a task that has failed after it had created its file."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.spark.attempts_session", str(tmp_path)],
        cwd=paths.ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    (shown,) = [line for line in done.stdout.splitlines() if line.startswith('{"copies"')]
    found = json.loads(shown)
    names = [f"part {number}" for number in range(3)]
    assert sorted(found["copies"]) == sorted(found["again"]) == names
    counted = {copy.rpartition("/")[2] for each in ("copies", "again") for copy in found[each].values()}
    # Three attempts that have failed, three that have succeeded, and three of a second job beside them.
    assert len(found["written"]) == 9
    assert len(counted) == 6
    assert counted < set(found["written"])
    assert found["differing"] == [[], []]
    assert found["late"]["error"] is not None
    assert not found["late"]["made"]


@pytest.mark.one_version
def test_nothing_of_the_attempts_is_left_in_the_table(
    spark: SparkSession, database: Database, tmp_path: Path
) -> None:
    location = database.location("attempts")
    many(spark, location, "SELECT id, uuid() AS text FROM range(600000)", LARGE, "parquet")
    many(spark, location, "SELECT id, uuid() AS text FROM range(600)", SMALL, "parquet")
    table = f"{database}.attempts"
    spark.sql(
        f"CREATE EXTERNAL TABLE {table} (id BIGINT, text STRING) STORED AS parquet LOCATION '{location}'"
    )
    unit = _unit(Jobs(spark, tmp_path)("compact", "--table", table, *MINOR))
    assert unit["outcome"] == "compacted"
    names = [path.name for path in local(location).iterdir() if not path.name.endswith(".crc")]
    assert len(names) == LARGE + 1
    assert all(name.startswith("part-") for name in names)
