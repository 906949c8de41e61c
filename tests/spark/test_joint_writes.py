"""Small partitions that are written together: routing, order, and a unit that fails alone."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from spark_jobs.adapters.spark.fair_rewriter import FairRewriter
from spark_jobs.adapters.spark.joint_rewriter import JointRewriter
from spark_jobs.adapters.spark.rewriter import Rewriter
from spark_jobs.core.planning.shuffle_keys import hash_int, partition_keys
from tests.harness.fixtures import Database
from tests.spark.toolbox import ODD_VALUES, Jobs, data_files, many, only, outcomes, rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The targets of writes of one unit."""
    targets: list[str] = []
    write = Rewriter.write

    def counted(self: Rewriter, request: Any) -> Any:
        targets.append(request.target)
        return write(self, request)

    monkeypatch.setattr(Rewriter, "write", counted)
    return targets


def _partitioned(
    spark: SparkSession,
    database: Database,
    query: str,
    columns: str,
    file_format: str = "parquet",
    files: int = 2,
) -> str:
    """A table with the key `p`, which the query has as its last column; each partition has so many files."""
    location = database.location("parts")
    spark.sql(query).repartition(files).write.partitionBy("p").format(file_format).save(location)
    spark.sql(
        f"CREATE EXTERNAL TABLE {database}.parts ({columns}) PARTITIONED BY (p STRING) STORED AS {file_format}"
        f" LOCATION '{location}'"
    )
    spark.sql(f"MSCK REPAIR TABLE {database}.parts")
    return f"{database}.parts"


def test_spark_sends_each_key_to_a_partition_of_its_own(spark: SparkSession) -> None:
    for partitions in (1, 7, 200):
        keys = ", ".join(f"({key})" for key in partition_keys(partitions))
        found = spark.sql(
            f"SELECT pmod(hash(col1), {partitions}) AS p, hash(col1) AS h, col1 FROM VALUES {keys}"
        )
        seen = found.collect()
        assert [row.p for row in seen] == list(range(partitions))
        assert [row.h for row in seen] == [hash_int(row.col1) for row in seen]


@pytest.mark.one_version
def test_a_damaged_file_keeps_its_unit_as_it_is_and_the_others_are_written_once(
    spark: SparkSession, jobs: Jobs, database: Database, alone: list[str]
) -> None:
    units = 200
    table = _partitioned(
        spark,
        database,
        f"SELECT id, concat('v', id) AS v, CAST(id % {units} AS STRING) AS p FROM range({units * 10})",
        "id BIGINT, v STRING",
    )
    before = rows(spark, table)
    root = database.path / "parts"
    damaged = sorted(data_files(root / "p=77"))[0]
    _damage_first_page(root / "p=77" / damaged)
    untouched = data_files(root / "p=77")

    report = only(jobs("compact", "--table", table))

    assert sorted(set(outcomes({"tables": [report]}))) == ["compacted", "skipped"]
    (unit,) = [unit for unit in report["units"] if unit["outcome"] == "skipped"]
    assert (unit["unit"], unit["code"]) == ({"p": "77"}, "UNREADABLE")
    assert unit["reason"].startswith(f"{damaged} cannot be read: ")
    assert data_files(root / "p=77") == untouched
    assert [target.rpartition("/")[2] for target in alone] == ["p=77"]
    assert sum(len(data_files(folder)) for folder in root.glob("p=*")) == units - 1 + len(untouched)
    spark.catalog.refreshTable(table)
    kept = Counter(str(row) for row in spark.table(table).where("p <> '77'").collect())
    assert kept == {row: count for row, count in before.items() if "p='77'" not in row}


def _damage_first_page(path: Path) -> None:
    """Overwrite bytes after the magic ones; the footer stays sound, and no checksum of the file system tells."""
    path.with_name(f".{path.name}.crc").unlink()
    with path.open("r+b") as file:
        file.seek(4)
        file.write(b"\xff" * 24)


@pytest.mark.smoke
def test_rows_stay_in_their_partitions_whatever_their_names(
    spark: SparkSession, jobs: Jobs, database: Database, file_format: str, alone: list[str]
) -> None:
    values = ", ".join("'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'" for value in ODD_VALUES)
    table = _partitioned(
        spark,
        database,
        f"SELECT id, concat('v', id) AS v, array({values})[CAST(id % {len(ODD_VALUES)} AS INT)] AS p FROM range(600)",
        "id BIGINT, v STRING",
        file_format,
        files=3,
    )
    before = rows(spark, table)

    report = only(jobs("compact", "--table", table))

    assert outcomes({"tables": [report]}) == ["compacted"] * len(ODD_VALUES)
    assert alone == []
    assert (report["before"]["files"], report["after"]["files"]) == (3 * len(ODD_VALUES), len(ODD_VALUES))
    assert rows(spark, table) == before
    left = [str(path) for path in database.path.rglob("*") if "-joint-" in path.name]
    assert left == []


def test_sorted_units_are_sorted(
    spark: SparkSession, jobs: Jobs, database: Database, alone: list[str]
) -> None:
    table = _partitioned(
        spark,
        database,
        "SELECT id, pmod(hash(id), 1000) AS v, CAST(id % 5 AS STRING) AS p FROM range(2000)",
        "id BIGINT, v INT",
        files=4,
    )
    report = only(jobs("compact", "--table", table, "--sort-columns", "v"))
    assert outcomes({"tables": [report]}) == ["compacted"] * 5
    assert alone == []
    for folder in sorted((database.path / "parts").glob("p=*")):
        (name,) = data_files(folder)
        found = [row.v for row in spark.read.parquet(str(folder / name)).coalesce(1).collect()]
        assert len(found) == 400
        assert found == sorted(found)


def test_rows_of_a_file_stay_together_and_in_their_order(
    spark: SparkSession, jobs: Jobs, database: Database, alone: list[str]
) -> None:
    table = _partitioned(
        spark, database, "SELECT id, CAST(id % 3 AS STRING) AS p FROM range(3000)", "id BIGINT", files=4
    )
    root = database.path / "parts"
    files = {
        (folder.name, tuple(row.id for row in spark.read.parquet(str(folder / name)).coalesce(1).collect()))
        for folder in root.glob("p=*")
        for name in data_files(folder)
    }
    jobs("compact", "--table", table)
    assert alone == []
    for folder in sorted(root.glob("p=*")):
        (name,) = data_files(folder)
        written = [row.id for row in spark.read.parquet(str(folder / name)).coalesce(1).collect()]
        for place, ids in files:
            if place == folder.name:
                start = written.index(ids[0])
                assert written[start : start + len(ids)] == list(ids)


@pytest.mark.parametrize("column", ["lakekeeper_unit", "LakeKeeper_Unit_File", "_metadata"])
def test_columns_with_the_names_of_ours_are_data(
    spark: SparkSession, jobs: Jobs, database: Database, column: str
) -> None:
    table = _partitioned(
        spark,
        database,
        f"SELECT id, id * 2 AS `{column}`, CAST(id % 3 AS STRING) AS p FROM range(300)",
        f"id BIGINT, `{column}` BIGINT",
    )
    before = rows(spark, table)
    report = only(jobs("compact", "--table", table))
    assert outcomes({"tables": [report]}) == ["compacted"] * 3
    assert rows(spark, table) == before


def test_writes_at_the_same_time_share_the_executors(spark: SparkSession) -> None:
    """Each is in a pool of its own; later ones take the pools of those that have ended."""
    context, both = spark.sparkContext, threading.Barrier(2)

    class Pools:
        def write(self, _: Any) -> str:
            both.wait(60)
            return str(context.getLocalProperty("spark.scheduler.pool"))

    rewriter: Any = FairRewriter(spark, Pools())  # type: ignore[arg-type]

    def write(_: int) -> tuple[str, str | None]:
        return rewriter.write(None), context.getLocalProperty("spark.scheduler.pool")

    with ThreadPoolExecutor(2) as threads:
        first, second = list(threads.map(write, range(2))), list(threads.map(write, range(2)))
    assert {pool for pool, _ in first} == {pool for pool, _ in second} == {"lakekeeper-0", "lakekeeper-1"}
    assert {after for _, after in (*first, *second)} == {None}


def test_files_that_are_added_meanwhile_are_not_in_a_joint_write(
    spark: SparkSession, jobs: Jobs, database: Database, alone: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark lists the directories again, and finds them. They go into the table as they are."""
    table = _partitioned(
        spark, database, "SELECT id, CAST(id % 3 AS STRING) AS p FROM range(300)", "id BIGINT", files=4
    )
    before = rows(spark, table)
    read = JointRewriter._read

    def late(self: JointRewriter, requests: Any) -> Any:
        many(spark, f"{database.location('parts')}/p=1", "SELECT id + 1000 AS id FROM range(5)", 1)
        return read(self, requests)

    monkeypatch.setattr(JointRewriter, "_read", late)
    report = only(jobs("compact", "--table", table))
    assert outcomes({"tables": [report]}) == ["compacted"] * 3
    assert alone == []
    assert len(data_files(database.path / "parts" / "p=1")) == 2
    late_rows = Counter(f"Row(id={number}, p='1')" for number in range(1000, 1005))
    assert rows(spark, table) == before + late_rows
