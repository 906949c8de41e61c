"""Partitions that Arrow writes: the rows, the footers, and what is left to Spark."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from demo.services import paths
from spark_jobs.adapters.spark.arrow import versions
from spark_jobs.protocol.ports import Arrow
from tests.harness.fixtures import Database
from tests.spark import arrow_session
from tests.spark.toolbox import Jobs, data_files, local, only, outcomes, rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_COLUMNS = (
    "id BIGINT, v STRING, d DECIMAL(12,2), w DECIMAL(30,3), t TIMESTAMP, a ARRAY<INT>,"
    " s STRUCT<x: INT, y: STRING>"
)
_QUERY = (
    "SELECT id, concat('v', id) AS v, CAST(id * 1.5 AS DECIMAL(12,2)) AS d, CAST(id AS DECIMAL(30,3)) AS w,"
    " timestamp_seconds(id) AS t, array(CAST(id AS INT), NULL) AS a,"
    " named_struct('x', CAST(id AS INT), 'y', IF(id % 3 = 0, NULL, 'y')) AS s"
)


def _table(
    spark: SparkSession,
    database: Database,
    partitions: int = 3,
    files: int = 4,
    query: str = _QUERY,
    columns: str = _COLUMNS,
    timestamps: str = "TIMESTAMP_MICROS",
) -> str:
    """A table with the key `p`; each partition has so many files."""
    location, session = database.location("parts"), spark.newSession()
    session.conf.set("spark.sql.parquet.outputTimestampType", timestamps)
    frame = session.sql(f"{query}, CAST(id % {partitions} AS STRING) AS p FROM range({partitions * 100})")
    frame.repartition(files).write.partitionBy("p").parquet(location)
    spark.sql(
        f"CREATE EXTERNAL TABLE {database}.parts ({columns}) PARTITIONED BY (p STRING) STORED AS PARQUET"
        f" LOCATION '{location}'"
    )
    spark.sql(f"MSCK REPAIR TABLE {database}.parts")
    return f"{database}.parts"


def _footers(database: Database) -> list[Any]:
    import pyarrow.parquet

    files = sorted(local(database.location("parts")).glob("p=*/*.parquet"))
    return [pyarrow.parquet.ParquetFile(file).metadata for file in files]


def _compacted(jobs: Jobs, table: str, *more: str) -> dict[str, Any]:
    return only(jobs("compact", "--table", table, "--engine", "arrow", *more))


@pytest.mark.one_version
def test_arrow_writes_small_partitions_and_a_rollback_restores_them(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    table = _table(spark, database)
    before, metadata = rows(spark, table), _footers(database)[0].metadata
    report = _compacted(jobs, table)
    assert [(unit["outcome"], unit["engine"]) for unit in report["units"]] == [("compacted", "arrow")] * 3
    assert not [text for text in report["warnings"] if "ARROW" in text]
    written = _footers(database)
    assert len(written) == 3
    assert all("arrow" in footer.created_by for footer in written)
    assert all(footer.metadata == metadata for footer in written)
    assert rows(spark, table) == before
    names = [file.name for file in local(database.location("parts")).glob("p=*/*.parquet")]
    assert all(name.endswith(".c000.snappy.parquet") for name in names)
    assert outcomes(jobs("rollback", "--table", table)) == ["restored"] * 3
    assert len(_footers(database)) == 12
    assert rows(spark, table) == before


@pytest.mark.full
def test_timestamps_of_96_bits_are_left_to_spark_and_the_plan_says_why(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    table = _table(spark, database, timestamps="INT96")
    planned = only(jobs("plan", "--table", table, "--engine", "arrow"))["units"]
    assert {(unit["engine"], unit["engine_reason"]) for unit in planned} == {("spark", "column 't' is int96")}
    before = rows(spark, table)
    report = _compacted(jobs, table)
    assert [unit["engine_reason"] for unit in report["units"]] == ["column 't' is int96"] * 3
    assert not any("engine" in unit and unit["engine"] for unit in report["units"])
    assert not any("arrow" in footer.created_by for footer in _footers(database))
    assert rows(spark, table) == before


@pytest.mark.full
@pytest.mark.parametrize("engine", ["arrow", "auto"])
def test_without_pyarrow_on_the_executors_spark_writes(
    spark: SparkSession, jobs: Jobs, database: Database, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    monkeypatch.setattr(versions, "ask", lambda _: Arrow(lack="the executors have no pyarrow"))
    monkeypatch.setattr("spark_jobs.protocol.planning.engine_choice._WORTHWHILE", 1)
    table = _table(spark, database)
    before = rows(spark, table)
    report = only(jobs("compact", "--table", table, "--engine", engine))
    assert outcomes({"tables": [report]}) == ["compacted"] * 3
    warned = [text for text in report["warnings"] if text.startswith("ARROW_NOT_USED")]
    text = 'ARROW_NOT_USED: the executors have no pyarrow (partition {"p": "0"} and 2 more)'
    assert warned == ([text] if engine == "arrow" else [])
    assert {unit["engine_reason"] for unit in report["units"]} == {"the executors have no pyarrow"}
    assert not any("arrow" in footer.created_by for footer in _footers(database))
    assert rows(spark, table) == before


@pytest.mark.full
def test_a_damaged_file_is_spark_s_to_report_and_the_other_partitions_are_written_by_arrow(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    table = _table(spark, database)
    damaged = min(local(database.location("parts")).glob("p=1/*.parquet"))
    content = bytearray(damaged.read_bytes())
    content[30] ^= 0xFF
    damaged.write_bytes(content)
    (damaged.parent / f".{damaged.name}.crc").unlink(missing_ok=True)
    files = data_files(damaged.parent)
    report = _compacted(jobs, table)
    by_partition = {unit["unit"]["p"]: unit for unit in report["units"]}
    assert {p: by_partition[p].get("engine") for p in "02"} == {"0": "arrow", "2": "arrow"}
    assert by_partition["1"]["outcome"] == "skipped"
    assert damaged.name in by_partition["1"]["reason"]
    assert data_files(damaged.parent) == files


@pytest.mark.full
def test_a_large_partition_becomes_several_files(spark: SparkSession, jobs: Jobs, database: Database) -> None:
    query = "SELECT id, sha2(CAST(id AS STRING), 512) AS v"
    location = database.location("parts")
    spark.sql(f"{query} FROM range(40000)").repartition(40).write.parquet(f"{location}/p=0")
    spark.sql(
        f"CREATE EXTERNAL TABLE {database}.parts (id BIGINT, v STRING) PARTITIONED BY (p STRING) STORED AS PARQUET"
        f" LOCATION '{location}'"
    )
    spark.sql(f"MSCK REPAIR TABLE {database}.parts")
    table = f"{database}.parts"
    before = rows(spark, table)
    report = _compacted(jobs, table, "--target-file-size", "1mb")
    (unit,) = report["units"]
    assert (unit["outcome"], unit["engine"]) == ("compacted", "arrow")
    assert unit["files_after"] > 1
    assert rows(spark, table) == before


@pytest.mark.full
def test_all_values_are_compared_on_request(spark: SparkSession, jobs: Jobs, database: Database) -> None:
    table = _table(spark, database)
    before = rows(spark, table)
    report = _compacted(jobs, table, "--verify", "hash")
    assert [(unit["outcome"], unit["engine"]) for unit in report["units"]] == [("compacted", "arrow")] * 3
    assert rows(spark, table) == before


@pytest.mark.full
def test_files_that_arrow_would_write_with_another_schema_are_written_by_spark(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    """The legacy format of lists: Arrow names their groups otherwise, which only a worker finds out."""
    session = spark.newSession()
    session.conf.set("spark.sql.parquet.writeLegacyFormat", "true")
    location = database.location("parts")
    frame = session.sql("SELECT id, array(id, NULL) AS a FROM range(200)")
    frame.repartition(4).write.parquet(f"{location}/p=0")
    spark.sql(
        f"CREATE EXTERNAL TABLE {database}.parts (id BIGINT, a ARRAY<BIGINT>) PARTITIONED BY (p STRING)"
        f" STORED AS PARQUET LOCATION '{location}'"
    )
    spark.sql(f"MSCK REPAIR TABLE {database}.parts")
    table = f"{database}.parts"
    before = rows(spark, table)
    report = _compacted(jobs, table)
    (unit,) = report["units"]
    assert unit["outcome"] == "compacted"
    assert unit["engine_reason"] == "Arrow would write other types"
    assert report["warnings"] == ['ARROW_NOT_USED: Arrow would write other types (partition {"p": "0"})']
    assert rows(spark, table) == before


@pytest.mark.full
def test_conditions_on_nan_and_negative_zero_find_the_rows_that_they_found(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    """Readers would skip them by the bounds and the dictionaries that Arrow writes on its own."""
    location, table = database.location("parts"), f"{database}.parts"
    numbers = {"0": "double('NaN')", "1": "-0.0D", "2": "id + 0.25D"}
    for key, odd in numbers.items():
        query = f"SELECT id, CASE WHEN id % 50 = 7 THEN {odd} ELSE id - 150.5D END AS x FROM range(200)"
        spark.sql(query).repartition(4).write.parquet(f"{location}/p={key}")
    spark.sql(
        f"CREATE EXTERNAL TABLE {table} (id BIGINT, x DOUBLE) PARTITIONED BY (p STRING) STORED AS PARQUET"
        f" LOCATION '{location}'"
    )
    spark.sql(f"MSCK REPAIR TABLE {table}")
    before = _found(spark, table)
    report = _compacted(jobs, table)
    by_partition = {unit["unit"]["p"]: unit for unit in report["units"]}
    assert {p: unit.get("engine") for p, unit in by_partition.items()} == {
        "0": None,
        "1": "arrow",
        "2": "arrow",
    }
    assert by_partition["0"]["engine_reason"].endswith("has NaN")
    assert _found(spark, table) == before


def _found(spark: SparkSession, table: str) -> dict[str, int]:
    """Return how many rows fulfil each condition, in a new reading of the files."""
    spark.catalog.refreshTable(table)
    conditions = (
        "x > 60",
        "x >= 49.5",
        "x = double('NaN')",
        "x <> 1.5",
        "x = 0.0",
        "x = -0.0",
        "x IN (0.0, 9)",
    )
    return {each: spark.sql(f"SELECT 1 FROM {table} WHERE {each}").count() for each in conditions}


@pytest.mark.full
@pytest.mark.parametrize("accident", ["worker killed", "executor killed", "speculation"])
def test_each_row_is_written_once_whatever_a_task_meets_with(tmp_path: Path, accident: str) -> None:
    """The first attempt of a task ends, or another one overtakes it, after it has written a part of a file."""
    command = [sys.executable, "-m", "tests.spark.arrow_session", str(tmp_path), accident]
    done = subprocess.run(command, cwd=paths.ROOT, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["refused"] == {}
    rows_of_a_unit = arrow_session.FILES * arrow_session.ROWS
    assert [sorted(ids) for ids in found["units"]] == [
        list(range(unit * rows_of_a_unit, (unit + 1) * rows_of_a_unit)) for unit in range(arrow_session.UNITS)
    ]
