"""ORC files as Hive 3 writes them: with statistics that ORC's own merge does not expect, and files without rows."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.orc
import pytest

from tests.fidelity.foreign import rows
from tests.harness.fixtures import Database
from tests.spark.toolbox import Jobs, data_files, only

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FILES = Path(__file__).parent / "orc_1_5"
WITH_ROWS = ["000000_0", "000001_0"]
WITHOUT_ROWS, WITHOUT_COLUMNS = "000002_0", "000003_0"


def _table(spark: SparkSession, database: Database, names: list[str]) -> Path:
    folder = database.path / "t"
    folder.mkdir(parents=True)
    for name in names:
        shutil.copy(FILES / name, folder / name)
    spark.sql(
        f"CREATE EXTERNAL TABLE {database}.t (id BIGINT, `array` ARRAY<INT>, `map` MAP<STRING,BIGINT>, `date` DATE,"
        f" `timestamp` TIMESTAMP) STORED AS ORC LOCATION '{folder.as_uri()}'"
    )
    return folder


def _expected(spark: SparkSession) -> Counter[str]:
    return rows.of_orc(spark, [FILES / name for name in WITH_ROWS])


def test_lists_and_maps_without_statistics_are_merged(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    folder = _table(spark, database, WITH_ROWS)
    (unit,) = only(jobs("compact", "--table", f"{database}.t"))["units"]
    assert (unit["outcome"], unit["rows"]) == ("compacted", 14), unit
    (name,) = data_files(folder)
    assert rows.of_orc(spark, [folder / name]) == _expected(spark)
    assert pyarrow.orc.ORCFile(folder / name).nrows == 14


@pytest.mark.parametrize("names", [WITH_ROWS, [WITHOUT_ROWS, WITHOUT_ROWS]])
def test_a_merge_keeps_the_calendar_whatever_the_cluster_says(
    spark: SparkSession, jobs: Jobs, database: Database, names: list[str]
) -> None:
    """Both ways to merge: readers would take days before 1582 for others."""
    folder, conf = _table(spark, database, []), spark._jsc.hadoopConfiguration()
    for number, name in enumerate(names):
        shutil.copy(FILES / name, folder / f"{number}")
    conf.set("orc.proleptic.gregorian", "true")
    try:
        (unit,) = only(jobs("compact", "--table", f"{database}.t"))["units"]
    finally:
        conf.unset("orc.proleptic.gregorian")
    assert unit["outcome"] == "compacted", unit
    (name,) = data_files(folder)
    orc, path = spark._jvm.org.apache.orc.OrcFile, spark._jvm.org.apache.hadoop.fs.Path(str(folder / name))
    assert not orc.createReader(path, orc.readerOptions(conf)).writerUsedProlepticGregorian()


def test_such_a_merged_file_is_merged_again(spark: SparkSession, jobs: Jobs, database: Database) -> None:
    """Its statistics of lists are those that any list has."""
    folder = _table(spark, database, WITH_ROWS)
    only(jobs("compact", "--table", f"{database}.t"))
    shutil.copy(FILES / WITH_ROWS[0], folder / "000004_0")
    (unit,) = only(jobs("compact", "--table", f"{database}.t"))["units"]
    assert (unit["outcome"], unit["rows"]) == ("compacted", 21), unit
    again = rows.of_orc(spark, [FILES / WITH_ROWS[0]])
    assert rows.of_orc(spark, [folder / name for name in data_files(folder)]) == _expected(spark) + again


def test_files_without_rows_take_no_part_in_the_schema(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    """Their names are gone after the compaction; a rollback restores them."""
    names = [*WITH_ROWS, WITHOUT_ROWS, WITHOUT_COLUMNS]
    folder = _table(spark, database, names)
    (unit,) = only(jobs("compact", "--table", f"{database}.t"))["units"]
    assert (unit["outcome"], unit["rows"]) == ("compacted", 14), unit
    (name,) = data_files(folder)
    assert rows.of_orc(spark, [folder / name]) == _expected(spark)
    jobs("rollback", "--table", f"{database}.t")
    assert sorted(data_files(folder)) == names
    assert all((folder / name).read_bytes() == (FILES / name).read_bytes() for name in names)


@pytest.mark.parametrize(
    ("names", "outcome"),
    [
        ([WITHOUT_ROWS, WITHOUT_ROWS], "compacted"),
        ([WITHOUT_COLUMNS, WITHOUT_ROWS], "compacted"),
        ([WITHOUT_COLUMNS, WITHOUT_COLUMNS], "skipped"),
    ],
)
def test_a_unit_without_rows_is_settled(
    spark: SparkSession, jobs: Jobs, database: Database, names: list[str], outcome: str
) -> None:
    folder = _table(spark, database, [])
    for number, name in enumerate(names):
        shutil.copy(FILES / name, folder / f"{number}")
    units: list[dict[str, Any]] = []
    for verb in ("analyze", "compact"):
        (unit,) = only(jobs(verb, "--table", f"{database}.t"))["units"]
        units.append(unit)
    assert units[1]["outcome"] == outcome, units
    if outcome == "skipped":
        assert [(unit["outcome"], unit["code"]) for unit in units] == [("skipped", "EMPTY")] * 2


def test_fields_that_differ_only_in_case_are_one(spark: SparkSession, jobs: Jobs, database: Database) -> None:
    """So it is with columns, and with all fields of Parquet files."""
    folder = database.path / "t"
    for number, name in enumerate(("Place", "place")):
        frame = spark.range(3 * number, 3 * number + 3, 1, 1)
        frame.selectExpr("id", f"named_struct('{name}', id, 'b', 'x') AS s").write.mode("append").orc(
            folder.as_uri()
        )
    spark.sql(
        f"CREATE EXTERNAL TABLE {database}.t (id BIGINT, s STRUCT<place:BIGINT,b:STRING>) STORED AS ORC"
        f" LOCATION '{folder.as_uri()}'"
    )
    before = rows.of_orc(spark, [folder / name for name in data_files(folder)])
    (unit,) = only(jobs("compact", "--table", f"{database}.t"))["units"]
    assert (unit["outcome"], unit["rows"]) == ("compacted", 6), unit
    assert rows.of_orc(spark, [folder / name for name in data_files(folder)]) == before


def test_two_fields_of_a_struct_that_differ_only_in_case_are_refused(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    """Spark would read one of them twice."""
    folder, conf = database.path / "t", "spark.sql.caseSensitive"
    spark.conf.set(conf, "true")
    spark.range(4).repartition(4).selectExpr("named_struct('a', id, 'A', -id) AS s").write.orc(
        folder.as_uri()
    )
    spark.conf.set(conf, "false")
    spark.sql(
        f"CREATE EXTERNAL TABLE {database}.t (s STRUCT<a:BIGINT>) STORED AS ORC LOCATION '{folder.as_uri()}'"
    )
    (unit,) = only(jobs("analyze", "--table", f"{database}.t"))["units"]
    assert (unit["outcome"], unit["code"]) == ("skipped", "SCHEMA_CONFLICT"), unit
