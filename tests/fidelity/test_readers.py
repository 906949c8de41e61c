"""ORC files whose columns differ at a position: for engines that go by position, each column stays where it is."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.orc
import pyarrow.parquet
import pytest

from tests.fidelity import reading
from tests.harness.fixtures import Database
from tests.spark.toolbox import Jobs, data_files, only

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: The columns of four files, and how many files readers by position need.
COLUMNS = {
    "a column more": (["id", "id a", "id", "id a b"], 1),
    "another name": (["id a", "id b", "id a", "id b"], 2),
    "another order": (["id a", "a id", "id a", "a id"], 2),
    "another name and more": (["id a", "id b c", "id a", "id b"], 2),
    "a column in the middle": (["id a b", "id b", "id a", "id"], 2),
}


def _table(
    spark: SparkSession, database: Database, columns: list[str], file_format: str, more: str = ""
) -> tuple[str, Path]:
    table, folder = f"{database}.t", database.path / "t"
    folder.mkdir()
    write = pa.orc.write_table if file_format == "orc" else pa.parquet.write_table
    for number, names in enumerate(columns):
        write(pa.table({name: [f"{name}{number}"] for name in names.split()}), folder / f"f{number}")
    spark.sql(
        f"CREATE EXTERNAL TABLE {table} (id STRING, a STRING, b STRING) STORED AS {file_format}"
        f" LOCATION '{folder.as_uri()}' {more}"
    )
    return table, folder


def _by_position(folder: Path) -> Counter[str]:
    """The values of each row without the names, up to the last one that is there."""
    found: Counter[str] = Counter()
    for path in reading.data(folder):
        for row in reading.table(path):
            values = list(row.values())
            while values and values[-1] is None:
                values.pop()
            found[str(values)] += 1
    return found


def _by_name(folder: Path) -> Counter[str]:
    """The values that are there of each row, by name."""
    rows = (row for path in reading.data(folder) for row in reading.table(path))
    return Counter(
        str(sorted((name, value) for name, value in row.items() if value is not None)) for row in rows
    )


@pytest.mark.parametrize("case", COLUMNS.values(), ids=list(COLUMNS))
def test_orc_keeps_the_position_of_each_column(
    spark: SparkSession, jobs: Jobs, database: Database, case: tuple[list[str], int]
) -> None:
    columns, files = case
    table, folder = _table(spark, database, columns, "orc")
    before = _by_position(folder), _by_name(folder)
    (unit,) = only(jobs("compact", "--table", table, "--verify", "hash"))["units"]
    assert (unit["outcome"], unit["files_after"], unit["rows"]) == ("compacted", files, 4), unit
    assert (_by_position(folder), _by_name(folder)) == before
    (unit,) = only(jobs("analyze", "--table", table))["units"]
    assert (unit["outcome"], unit["needs_compaction"]) == ("healthy", False)


def test_orc_is_united_by_name_where_the_table_says_that_readers_go_by_name(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    columns, _ = COLUMNS["another name"]
    table, folder = _table(spark, database, columns, "orc", "TBLPROPERTIES ('lakekeeper.readers'='by-name')")
    before = _by_name(folder)
    (unit,) = only(jobs("compact", "--table", table))["units"]
    assert (unit["outcome"], unit["files_after"]) == ("compacted", 1), unit
    assert _by_name(folder) == before


@pytest.mark.parametrize(("readers", "files"), [("", 1), ("by-position", 2)])
def test_parquet_is_united_by_name_unless_the_table_says_that_readers_go_by_position(
    spark: SparkSession, jobs: Jobs, database: Database, readers: str, files: int
) -> None:
    columns, _ = COLUMNS["another name"]
    property_of = f"TBLPROPERTIES ('lakekeeper.readers'='{readers}')" if readers else ""
    table, folder = _table(spark, database, columns, "parquet", property_of)
    by_position, by_name = _by_position(folder), _by_name(folder)
    (unit,) = only(jobs("compact", "--table", table))["units"]
    assert (unit["outcome"], unit["files_after"]) == ("compacted", files), unit
    assert _by_name(folder) == by_name
    assert (_by_position(folder) == by_position) == (readers == "by-position")


def test_a_file_for_each_order_of_columns_is_left_alone_with_the_way_out(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    table, folder = _table(spark, database, ["id a", "id b"], "orc")
    before = data_files(folder)
    report = jobs("compact", "--table", table)
    (unit,) = only(report)["units"]
    assert (report["outcome"], report["exit_code"], unit["outcome"]) == ("nothing", 0, "healthy")
    assert "lakekeeper.readers=by-name" in unit["reason"]
    assert data_files(folder) == before


def test_orc_files_of_too_many_schemas_are_refused_with_the_way_out(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    table, folder = _table(spark, database, [f"id c{number % 11}" for number in range(22)], "orc")
    before = data_files(folder)
    for verb in ("analyze", "compact"):
        (unit,) = only(jobs(verb, "--table", table))["units"]
        assert (unit["outcome"], unit["code"]) == ("skipped", "POSITIONAL")
        assert "lakekeeper.readers=by-name" in unit["reason"]
    assert data_files(folder) == before
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('lakekeeper.readers'='by-name')")
    (unit,) = only(jobs("compact", "--table", table))["units"]
    assert (unit["outcome"], unit["files_after"]) == ("compacted", 1), unit
