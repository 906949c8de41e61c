"""A million files in one directory are planned inside the memory that docs/guides/limits.md states."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchmarks.measuring import measure
from tests.harness.fixtures import Database, fresh_database
from tests.harness.selection import on_reference
from tests.spark.toolbox import local, many

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parents[2]
FILES = 1_000_000
#: File systems allow tens of thousands of names for one file.
NAMES_OF_ONE = 50_000
#: What docs/guides/limits.md states.
DRIVER_MEMORY, PYTHON_MB = "2g", 1280
#: What `plan` does besides does not depend on the version of Spark.
VERBS = ("analyze", "plan") if on_reference() else ("analyze",)

pytestmark = [pytest.mark.full, pytest.mark.one_version]


@pytest.fixture(scope="module")
def table(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("million")
    with fresh_database(spark, folder) as database:
        _make_files(spark, database)
        yield f"{database}.events"
    shutil.rmtree(folder)


def _make_files(spark: SparkSession, database: Database) -> None:
    source, location = database.location("source"), database.location("events")
    many(spark, source, "SELECT id FROM range(2000)", FILES // NAMES_OF_ONE)
    # Before the files: the metastore lists the directory of a table that is created.
    spark.sql(f"CREATE EXTERNAL TABLE {database}.events (id BIGINT) STORED AS PARQUET LOCATION '{location}'")
    target = local(location)
    for number, file in enumerate(sorted(local(source).glob("*.parquet"))):
        for name in range(NAMES_OF_ONE):
            os.link(file, target / f"part-{number:02}-{name:05}-c000.snappy.parquet")


@pytest.mark.parametrize("verb", VERBS)
def test_a_million_files_in_one_directory_are_planned_inside_the_stated_memory(
    spark_environ: dict[str, str], table: str, tmp_path: Path, verb: str
) -> None:
    report = tmp_path / "report.json"
    words = ("--table", table, "--report", report.as_uri())
    measured = measure(
        ["spark-submit", "--driver-memory", DRIVER_MEMORY, ROOT / "spark_jobs" / f"{verb}.py", *words],
        log=tmp_path / "log",
        env=spark_environ,
    )
    (unit,) = json.loads(report.read_text())["tables"][0]["units"]
    assert (unit["outcome"], unit["files"]) == ("flagged", FILES)
    print(f"{verb}: {measured.wall} s, JVM {measured.jvm_mb} MB, Python {measured.python_mb} MB")
    assert 0 < measured.python_mb <= PYTHON_MB
