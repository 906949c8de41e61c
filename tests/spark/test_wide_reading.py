"""Where many tasks can run, many read, although few files are written. Tasks are counted, not timed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from statistics import median
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from demo.services import paths
from spark_jobs.adapters.spark.wide_reading import slots
from spark_jobs.core.planning.shuffle_keys import partition_keys
from tests.harness.fixtures import Database
from tests.spark.toolbox import Jobs, data_files, many, only, rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SLOTS, TARGET_FILES = 200, 23


@pytest.mark.one_version
@pytest.mark.parametrize("files", [1_000, pytest.param(65_000, marks=pytest.mark.full)])
def test_200_slots_read_and_files_of_about_one_size_are_written(tmp_path: Path, files: int) -> None:
    """In a process of its own: a session has its slots from its start."""
    found = _wide_session(tmp_path, files)
    assert found["slots"] == SLOTS
    read, written = found["stages"]
    assert read >= SLOTS
    assert written == TARGET_FILES
    sizes = [size for size, _ in found["written"]]
    assert len(sizes) == TARGET_FILES
    assert max(sizes) <= 1.3 * median(sizes)
    assert sum(count for _, count in found["written"]) == found["rows"]


def _wide_session(folder: Path, files: int) -> dict[str, Any]:
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "tests.spark.wide_session",
            str(folder),
            str(files),
            str(TARGET_FILES),
            str(SLOTS),
        ],
        cwd=paths.ROOT,
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return dict(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize(
    ("master", "conf", "expected"),
    [
        ("local[8]", {"spark.dynamicAllocation.enabled": "true"}, 8),
        ("yarn", {"spark.executor.cores": "4"}, 8),
        ("yarn", {"spark.dynamicAllocation.enabled": "true"}, 8),
        (
            "yarn",
            {
                "spark.dynamicAllocation.enabled": "true",
                "spark.dynamicAllocation.maxExecutors": "50",
                "spark.executor.cores": "4",
                "spark.task.cpus": "2",
            },
            100,
        ),
    ],
)
def test_slots_are_those_of_all_executors_that_may_start(
    master: str, conf: dict[str, str], expected: int
) -> None:
    context = SimpleNamespace(master=master, defaultParallelism=8)
    session: Any = SimpleNamespace(sparkContext=context, conf=conf)
    assert slots(session) == expected


@pytest.mark.smoke
@pytest.mark.parametrize("partitions", [1, 2, 7, 23, 200])
def test_spark_sends_each_key_to_the_partition_of_its_own(spark: SparkSession, partitions: int) -> None:
    keys = ", ".join(map(str, partition_keys(partitions)))
    found = spark.sql(
        f"SELECT pmod(hash(key), {partitions}) AS at FROM (SELECT explode(array({keys})) AS key)"
    )
    assert [row["at"] for row in found.collect()] == list(range(partitions))


@pytest.fixture
def many_slots(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every unit is read by more tasks than write it, as a large one is on a cluster."""
    from spark_jobs.core.planning.task_plan import TaskPlan
    from spark_jobs.protocol.planning.inspection import FileGroup

    monkeypatch.setattr(
        FileGroup, "tasks", lambda self, thresholds, _: TaskPlan(40, self.target_files(thresholds))
    )


@pytest.mark.smoke
@pytest.mark.parametrize("verify", ["count", pytest.param("hash", marks=pytest.mark.full)])
@pytest.mark.parametrize(
    "sort",
    [[], pytest.param(["--sort-columns", "v"], marks=pytest.mark.one_version)],
    ids=["unsorted", "sorted"],
)
@pytest.mark.parametrize("file_format", ["parquet", "orc"])
def test_every_row_is_kept_in_the_number_of_files_that_was_planned(
    spark: SparkSession,
    jobs: Jobs,
    database: Database,
    many_slots: None,
    file_format: str,
    sort: list[str],
    verify: str,
) -> None:
    table, place = f"{database}.t", database.path / "t"
    query = "SELECT id, concat('v', id % 100) AS v, uuid() AS text FROM range(20000)"
    many(spark, database.location("t"), query, 40, file_format)
    spark.sql(
        f"CREATE EXTERNAL TABLE {table} (id BIGINT, v STRING, text STRING) STORED AS {file_format}"
        f" LOCATION '{place}'"
    )
    before = rows(spark, table)
    size = ["--target-file-size", str(sum(size for size, _ in data_files(place).values()) // 4)]
    report = only(jobs("compact", "--table", table, *size, *sort, "--verify", verify))
    (unit,) = report["units"]
    assert (unit["outcome"], unit["rows"], unit["files_after"]) == ("compacted", 20000, unit["target_files"])
    assert rows(spark, table) == before
    if sort:
        for name in data_files(place):
            values = [row.v for row in spark.read.format(file_format).load(f"{place}/{name}").collect()]
            assert values == sorted(values)
