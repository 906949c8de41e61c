"""A compaction by the footers that an analysis has kept: files of all types, and a file that was exchanged."""

from __future__ import annotations

import logging
import os
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from spark_jobs.core.planning import kept_footers
from tests.harness.fixtures import Database
from tests.spark.toolbox import Jobs, data_files, many, only, rows, write_files

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

USED = "are as the analysis read them"
CODEC = "spark.sql.parquet.compression.codec"
AGAIN = "is written again, by the footers of all files"

#: A column of each type, with nulls, and bounds that JSON does not have.
TYPES = {
    "id": ("BIGINT", "id"),
    "whole": ("INT", "CAST(if(id % 3 = 0, NULL, -id) AS INT)"),
    "truth": ("BOOLEAN", "id % 2 = 0"),
    "real": ("DOUBLE", "CASE WHEN id = 1 THEN double('inf') WHEN id = 2 THEN -0.0D ELSE id / 7 END"),
    "single": ("FLOAT", "CAST(id / 3 AS FLOAT)"),
    "money": ("DECIMAL(10,2)", "CAST(id / 4 AS DECIMAL(10,2))"),
    "large": ("DECIMAL(30,4)", "CAST(id * 12345678901 AS DECIMAL(30,4))"),
    "text": ("STRING", "concat('é東', id)"),
    "raw": ("BINARY", "CAST(concat('b', id) AS BINARY)"),
    "day": ("DATE", "date_add(DATE'2026-01-01', CAST(id AS INT))"),
    "moment": ("TIMESTAMP", "timestamp_seconds(id * 86400)"),
    "many": ("ARRAY<INT>", "array(CAST(id AS INT), NULL)"),
    "pair": ("STRUCT<a:INT,b:STRING>", "named_struct('a', CAST(id AS INT), 'b', concat('s', id))"),
    "map": ("MAP<STRING,INT>", "map('k', CAST(id AS INT))"),
}


@pytest.fixture(autouse=True)
def footers_of_few_files_are_kept(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(kept_footers, "FEWEST_FILES", 4)
    caplog.set_level(logging.INFO, "lakekeeper")


def _table(spark: SparkSession, database: Database, columns: str, file_format: str) -> Path:
    """Create the table `t` on the files that are in its directory; they become two hours old."""
    spark.sql(
        f"CREATE EXTERNAL TABLE {database}.t ({columns}) STORED AS {file_format} LOCATION '{database.location('t')}'"
    )
    folder = database.path / "t"
    for name in data_files(folder):
        _age(folder / name)
    return folder


def _age(file: Path) -> None:
    then = int(time.time()) - 7200
    os.utime(file, (then, then))


def _analysed(jobs: Jobs, database: Database, folder: Path) -> None:
    assert [unit["outcome"] for unit in only(jobs("analyze", "--table", f"{database}.t"))["units"]] == [
        "flagged"
    ]
    assert len(_kept(folder)) == 1


def _kept(folder: Path) -> list[Path]:
    """The files of kept footers, without the checksums of a local disk."""
    return list((folder.parent / ".lakekeeper-t/log/footers").glob("[0-9a-f]*-*"))


def test_rows_of_all_types_are_compacted_by_kept_footers(
    spark: SparkSession, jobs: Jobs, database: Database, file_format: str, caplog: pytest.LogCaptureFixture
) -> None:
    columns = ", ".join(f"{name} {kind}" for name, (kind, _) in TYPES.items())
    query = ", ".join(f"{value} AS {name}" for name, (_, value) in TYPES.items())
    many(spark, database.location("t"), f"SELECT {query} FROM range(200)", 6, file_format)
    folder = _table(spark, database, columns, file_format)
    before = rows(spark, f"{database}.t")
    _analysed(jobs, database, folder)
    report = jobs("compact", "--table", f"{database}.t", "--run-id", "r1")
    assert (report["outcome"], only(report)["rows"], len(data_files(folder))) == ("done", 200, 1)
    assert (USED in caplog.text, AGAIN in caplog.text) == (True, False)
    assert rows(spark, f"{database}.t") == before
    assert _kept(folder) == []
    assert only(jobs("check", "--table", f"{database}.t"))["outcome"] == "done"


def test_columns_that_only_some_files_have_are_kept(
    spark: SparkSession, jobs: Jobs, database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    queries = [f"SELECT {number}L AS id{', 1 AS extra' if number % 2 else ''}" for number in range(6)]
    write_files(spark, database.location("t"), queries)
    folder = _table(spark, database, "id BIGINT, extra INT", "parquet")
    before = rows(spark, f"{database}.t")
    _analysed(jobs, database, folder)
    assert jobs("compact", "--table", f"{database}.t", "--run-id", "r1")["outcome"] == "done"
    assert (USED in caplog.text, rows(spark, f"{database}.t")) == (True, before)


@pytest.mark.one_version
def test_a_file_that_was_exchanged_without_a_trace_costs_a_second_write(
    spark: SparkSession, jobs: Jobs, database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    """The same name, length and mtime, as only a local disk can have them, and other rows."""
    location = database.location("t")
    spark.conf.set(CODEC, "uncompressed")  # Else the length depends on the values.
    write_files(spark, location, [f"SELECT id + {10 * number} AS id FROM range(10)" for number in range(6)])
    folder = _table(spark, database, "id BIGINT", "parquet")
    _analysed(jobs, database, folder)
    write_files(spark, str(folder.parent / "other"), ["SELECT id + 1000 AS id FROM range(10)"])
    spark.conf.unset(CODEC)
    (other,) = (folder.parent / "other").glob("*.parquet")
    length = other.stat().st_size  # That of one of the six files is another one.
    # Not the file with the first name, because that is the one that is looked at again.
    victim = next(file for file in sorted(folder.glob("*.parquet"))[1:] if file.stat().st_size == length)
    mtime = victim.stat().st_mtime_ns
    shutil.move(other, victim)
    os.utime(victim, ns=(mtime, mtime))
    (victim.parent / f".{victim.name}.crc").unlink(missing_ok=True)
    before = rows(spark, f"{database}.t")
    report = jobs("compact", "--table", f"{database}.t", "--run-id", "r1")
    assert (report["outcome"], len(data_files(folder))) == ("done", 1)
    assert AGAIN in caplog.text
    assert rows(spark, f"{database}.t") == before
