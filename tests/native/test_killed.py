"""A job is killed while the procedure of a format writes its files: the table is whole, and the next job goes on."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from demo.services import paths
from demo.services.processes import has_ended, spawn, tail
from tests.harness.fixtures import Database
from tests.native.lake import FORMATS, append, files, make, rows, table_of
from tests.spark.toolbox import Jobs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.full
#: Rows of each of the large commits: the procedure writes for seconds.
ROWS, COMMITS = 150_000, 3
LIMIT = 300

ON = ("--native-formats", FORMATS)


def _fill(spark: SparkSession, kind: str, database: str) -> None:
    """Commits that are small files for their format, and take a while to rewrite."""
    numbers = (
        "substr(sha2(cast(id AS string), 512), 1, 100) AS v, TIMESTAMP '2026-01-01 12:00:00' AS ts, 'a' AS k"
    )
    for commit in range(1, COMMITS + 1):
        spark.range(commit * ROWS, (commit + 1) * ROWS, 1, 1).createOrReplaceTempView("more")
        spark.sql(f"INSERT INTO {table_of(kind, database)} SELECT id, {numbers} FROM more")


def _folder(spark: SparkSession, kind: str, database: Database) -> Path:
    """Where the files of a table are: Paimon's catalog has a warehouse of its own."""
    warehouse = Path(spark.conf.get("spark.sql.catalog.paimon.warehouse").removeprefix("file:"))
    found = [path for root in (database.path, warehouse) for path in root.rglob(kind)]
    return next(path for path in found if path.parent.name in (database.path.name, f"{database}.db"))


def _data_files(folder: Path) -> set[Path]:
    """All files with rows below a directory, committed or not; a file is there once its first bytes are."""
    found = (path for path in folder.rglob("*") if path.suffix in (".parquet", ".orc"))
    return {path for path in found if not path.name.startswith(".")}


def _kill_while_it_writes(command: list[str], environ: dict[str, str], log: Path, folder: Path) -> None:
    """Start a job, and kill all its processes as soon as it has begun a file that was not there before."""
    before = _data_files(folder)
    job = spawn(command, log=log, cwd=paths.ROOT, env=environ)
    deadline = time.monotonic() + LIMIT
    while not _data_files(folder) - before:
        assert not has_ended(job), tail(log)
        assert time.monotonic() < deadline, tail(log)
        time.sleep(0.01)
    os.killpg(job.pid, signal.SIGKILL)
    assert job.wait(LIMIT) == -signal.SIGKILL


@pytest.mark.parametrize("kind", ["iceberg", "paimon_flat", "paimon_keyed"])
def test_a_job_is_killed_while_the_procedure_writes(
    spark: SparkSession, spark_environ: dict[str, str], database: Database, tmp_path: Path, kind: str
) -> None:
    make(spark, kind, str(database))
    _fill(spark, kind, str(database))
    before, count = rows(spark, kind, str(database)), files(spark, kind, str(database))
    name = f"{database}.{kind}"
    words = ["--table", name, *ON]
    submit = ["spark-submit", "--master", "local[2]", str(paths.ROOT / "spark_jobs/compact.py"), *words]
    _kill_while_it_writes(submit, spark_environ, tmp_path / "job.log", _folder(spark, kind, database))

    assert rows(spark, kind, str(database)) == before
    assert files(spark, kind, str(database)) == count

    report = Jobs(spark, tmp_path)("compact", *words)
    assert report["exit_code"] == 0, report
    (table,) = report["tables"]
    assert table["outcome"] == "done", table
    assert rows(spark, kind, str(database)) == before
    assert table["after"]["files"] == files(spark, kind, str(database)) < count

    append(spark, kind, str(database), 99)
    assert sum(rows(spark, kind, str(database)).values()) == sum(before.values()) + 2
