"""Files of one unit of which later ones have a wider column: each file keeps its types, and there are fewer files."""

from __future__ import annotations

import decimal
import random
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.orc
import pyarrow.parquet
import pytest

from tests.fidelity import reading
from tests.harness.fixtures import Database
from tests.spark.toolbox import Jobs, data_files, only

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Which type a column had, and which it has, in the metastore too.
WIDENED = {
    "int to bigint": (pa.int32(), pa.int64(), "BIGINT"),
    "smallint to bigint": (pa.int16(), pa.int64(), "BIGINT"),
    "float to double": (pa.float32(), pa.float64(), "DOUBLE"),
    "decimal to a wider one": (pa.decimal128(9, 2), pa.decimal128(20, 4), "DECIMAL(20,4)"),
}
FORMATS = ["parquet", "orc"]


def _value(kind: pa.DataType, number: int) -> Any:
    return decimal.Decimal(number).scaleb(-2) if pa.types.is_decimal(kind) else number


def _write(folder: Path, kinds: list[pa.DataType], file_format: str, more: bool = False) -> None:
    """One file of three rows for each type; `more` adds a column to the files of the last type."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, kind in enumerate(kinds):
        ids = list(range(number * 3, number * 3 + 3))
        columns = {
            "id": pa.array(ids, pa.int64()),
            "v": pa.array([None if n % 4 == 3 else _value(kind, n) for n in ids], kind),
        }
        if more and kind == kinds[-1]:
            columns["w"] = pa.array([f"w{n}" for n in ids])
        write = pa.orc.write_table if file_format == "orc" else pa.parquet.write_table
        write(pa.table(columns), folder / f"f{number}.{file_format}")


def _table(spark: SparkSession, database: Database, file_format: str, kind: str) -> tuple[str, Path]:
    table, folder = f"{database}.t", database.path / "t" / "p=1"
    spark.sql(
        f"CREATE EXTERNAL TABLE {table} (id BIGINT, v {kind}) PARTITIONED BY (p STRING) STORED AS {file_format}"
        f" LOCATION '{database.location('t')}'"
    )
    return table, folder


def _rows_by_type(folder: Path) -> dict[str, Counter[str]]:
    """Every row with its columns, by the types of the file that holds it."""
    found: dict[str, Counter[str]] = {}
    for path in reading.data(folder):
        kinds = str(sorted(_types(path).items()))
        found.setdefault(kinds, Counter()).update(str(sorted(row.items())) for row in reading.table(path))
    return found


def _types(path: Path) -> dict[str, str]:
    if path.suffix == ".orc":
        return {field.name: str(field.type) for field in pa.orc.ORCFile(path).schema}
    schema = pa.parquet.ParquetFile(path).schema
    columns = [schema.column(number) for number in range(len(schema))]
    return {c.path: f"{c.physical_type}({c.length}) {c.logical_type}" for c in columns}


@pytest.mark.one_version
@pytest.mark.parametrize("file_format", FORMATS)
@pytest.mark.parametrize("change", WIDENED.values(), ids=list(WIDENED))
def test_each_row_keeps_its_type_in_fewer_files(
    spark: SparkSession,
    jobs: Jobs,
    database: Database,
    change: tuple[pa.DataType, pa.DataType, str],
    file_format: str,
) -> None:
    narrow, wide, hive = change
    table, folder = _table(spark, database, file_format, hive)
    _write(folder, [narrow, wide, narrow, wide, wide], file_format)
    spark.sql(f"MSCK REPAIR TABLE {table}")
    before, originals = _rows_by_type(folder), data_files(folder)
    assert len(before) == 2

    (flagged,) = only(jobs("analyze", "--table", table))["units"]
    report = only(jobs("compact", "--table", table, "--verify", "hash"))

    (unit,) = report["units"]
    assert (flagged["outcome"], unit["outcome"]) == ("flagged", "compacted"), unit
    assert (unit["files"], unit["files_after"], unit["rows"]) == (5, 2, 15)
    assert len(data_files(folder)) == 2
    assert _rows_by_type(folder) == before

    for verb, outcome in (("analyze", "done"), ("compact", "nothing")):
        again = jobs(verb, "--table", table)
        (unit,) = only(again)["units"]
        assert (again["outcome"], unit["outcome"], unit["needs_compaction"]) == (outcome, "healthy", False)
    jobs("rollback", "--table", table)
    assert data_files(folder) == originals


@pytest.mark.parametrize("file_format", FORMATS)
def test_files_of_spark_are_compacted_with_all_else_that_changed(
    spark: SparkSession, jobs: Jobs, database: Database, file_format: str
) -> None:
    """A column was added later, and the table is sorted by it."""
    table, folder = _table(spark, database, file_format, "BIGINT")
    queries = [
        "SELECT id, CAST(id AS INT) AS v FROM range(4)",
        "SELECT id, id AS v, CAST(9 - id AS STRING) AS w FROM range(4)",
    ]
    for query in [*queries, *queries]:
        spark.sql(query).coalesce(1).write.mode("append").format(file_format).save(f"file://{folder}")
    spark.sql(f"ALTER TABLE {table} ADD COLUMNS (w STRING)")
    spark.sql(f"MSCK REPAIR TABLE {table}")
    before = _rows_by_type(folder)
    (unit,) = only(jobs("compact", "--table", table, "--sort-columns", "w"))["units"]
    assert (unit["outcome"], unit["files_after"], unit["rows"]) == ("compacted", 2, 16), unit
    assert _rows_by_type(folder) == before
    sorted_files = [[row["w"] for row in reading.table(path) if "w" in row] for path in reading.data(folder)]
    assert sorted(sorted_files) == [[], ["6", "6", "7", "7", "8", "8", "9", "9"]]


@pytest.mark.parametrize("file_format", FORMATS)
def test_a_file_for_each_type_is_left_alone_until_there_are_more(
    spark: SparkSession, jobs: Jobs, database: Database, file_format: str
) -> None:
    table, folder = _table(spark, database, file_format, "BIGINT")
    _write(folder, [pa.int32(), pa.int64()], file_format)
    spark.sql(f"MSCK REPAIR TABLE {table}")
    before = data_files(folder)
    for verb, outcome in (("analyze", "done"), ("compact", "nothing")):
        report = jobs(verb, "--table", table)
        (unit,) = only(report)["units"]
        assert (report["outcome"], report["exit_code"], unit["outcome"]) == (outcome, 0, "healthy")
        assert (unit["files"], unit["target_files"], unit["needs_compaction"]) == (2, 2, False)
        assert "column 'v' is" in unit["reason"]
    assert data_files(folder) == before
    pa_file = pa.table({"id": [7], "v": [7]})
    write = pa.orc.write_table if file_format == "orc" else pa.parquet.write_table
    write(pa_file, folder / f"more.{file_format}")
    (unit,) = only(jobs("compact", "--table", table))["units"]
    assert (unit["outcome"], unit["files_after"], unit["rows"]) == ("compacted", 2, 7)


@pytest.mark.one_version
@pytest.mark.parametrize("file_format", FORMATS)
def test_large_files_of_both_types_keep_their_bytes_and_small_ones_become_one_for_each_type(
    spark: SparkSession, jobs: Jobs, database: Database, file_format: str
) -> None:
    """By default, whatever the schemas are; files without a byte go away."""
    old, new, kind = WIDENED["int to bigint"]
    table, folder = _table(spark, database, file_format, kind)
    _write(folder, [old] * 4 + [new] * 4, file_format)
    write = pa.orc.write_table if file_format == "orc" else pa.parquet.write_table
    rng = random.Random(7)
    for each in (old, new):
        values = [rng.randrange(1 << 30) for _ in range(12_000)]
        columns = {"id": pa.array(values, pa.int64()), "v": pa.array(values, each)}
        write(pa.table(columns), folder / f"large-{each}.{file_format}")
    before = _rows_by_type(folder)
    for number in range(2):
        (folder / f"empty-{number}.{file_format}").touch()
    spark.sql(f"MSCK REPAIR TABLE {table}")
    listed = data_files(folder)
    large = {path.name: path.read_bytes() for path in folder.glob("large-*")}
    assert min(map(len, large.values())) > 64 * 1024

    target = ("--target-file-size", "64kb")
    (unit,) = only(jobs("compact", "--table", table, *target))["units"]
    assert (unit["outcome"], unit.get("strategy"), unit["files"], unit["files_after"]) == (
        *("compacted", "minor"),
        *(12, 4),
    ), unit
    assert {path.name: path.read_bytes() for path in folder.glob("large-*")} == large
    assert _rows_by_type(folder) == before
    assert jobs("check", "--table", table, "--read-data")["exit_code"] == 0
    for verb in ("compact", "analyze"):
        (again,) = only(jobs(verb, "--table", table, *target))["units"]
        assert again["outcome"] == "healthy"
    assert jobs("rollback", "--table", table)["exit_code"] == 0
    assert data_files(folder) == listed
