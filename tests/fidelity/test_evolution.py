"""Files of one unit whose columns differ: united without loss, or refused with both types named."""

from __future__ import annotations

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

Rows = list[dict[str, Any]]
OLD = pa.schema([("id", pa.int64()), ("v", pa.string())])
#: What later files look like, beside files of `OLD`.
CHANGES = {
    "a column more": [("id", pa.int64()), ("v", pa.string()), ("w", pa.float64())],
    "a column less": [("id", pa.int64())],
    "another order": [("v", pa.string()), ("id", pa.int64())],
    "another order and more": [("w", pa.int32()), ("v", pa.string()), ("id", pa.int64())],
    "another case": [("ID", pa.int64()), ("V", pa.string())],
    "another name": [("id", pa.int64()), ("renamed", pa.string())],
    "the partition's own column": [("id", pa.int64()), ("v", pa.string()), ("p", pa.string())],
}
NESTED = pa.schema([("id", pa.int64()), ("s", pa.struct([("a", pa.int32())]))])
NESTED_MORE = pa.schema([("id", pa.int64()), ("s", pa.struct([("a", pa.int32()), ("b", pa.string())]))])
CONFLICTS = {
    "text for a number": (pa.int32(), pa.string()),
    "another scale": (pa.decimal128(9, 2), pa.decimal128(9, 3)),
    "with and without a zone": (pa.timestamp("us"), pa.timestamp("us", "UTC")),
}


def _rows(schema: pa.Schema, start: int) -> Rows:
    values = {
        "id": lambda n: n,
        "v": lambda n: f"v{n}",
        "w": lambda n: n,
        "renamed": lambda n: f"r{n}",
        "p": lambda _: "other",
        "s": lambda n: {"a": n, "b": f"b{n}"},
    }
    return [{field.name: values[field.name.lower()](n) for field in schema} for n in range(start, start + 3)]


def _write(folder: Path, schemas: list[pa.Schema], file_format: str) -> None:
    folder.mkdir(parents=True)
    for number, schema in enumerate(schemas):
        table = pa.Table.from_pylist(_rows(schema, number * 3), schema)
        write = pa.orc.write_table if file_format == "orc" else pa.parquet.write_table
        write(table, folder / f"f{number}.{file_format}")


def _table(spark: SparkSession, database: Database, file_format: str) -> tuple[str, Path]:
    table, folder = f"{database}.t", database.path / "t" / "p=1"
    spark.sql(
        f"CREATE EXTERNAL TABLE {table} (id BIGINT, v STRING) PARTITIONED BY (p STRING) STORED AS {file_format}"
        f" LOCATION '{database.location('t')}'"
    )
    return table, folder


def _seen(folder: Path) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """A column that a file lacks has no value in its rows."""
    kinds = reading.physical(folder)
    columns = {name.split(".")[0] for name in kinds}
    found = [row for path in reading.data(folder) for row in reading.table(path)]
    return [dict.fromkeys(columns) | row for row in sorted(found, key=lambda row: row["id"])], kinds


@pytest.mark.one_version
@pytest.mark.parametrize("file_format", ["parquet", "orc"])
@pytest.mark.parametrize("change", CHANGES.values(), ids=list(CHANGES))
def test_columns_that_come_and_go_keep_every_value(
    spark: SparkSession, jobs: Jobs, database: Database, change: list[Any], file_format: str
) -> None:
    table, folder = _table(spark, database, file_format)
    if file_format == "orc":
        # By default ORC files are kept apart where columns differ at a position: see test_readers.
        spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('lakekeeper.readers'='by-name')")
    _write(folder, [OLD, pa.schema(change), OLD, pa.schema(change)], file_format)
    spark.sql(f"MSCK REPAIR TABLE {table}")
    before, through_hive = _seen(folder), spark.table(table).orderBy("id").collect()

    report = only(jobs("compact", "--table", table, "--verify", "hash"))

    assert [unit["outcome"] for unit in report["units"]] == ["compacted"], report["units"]
    assert len(data_files(folder)) == 1
    assert _seen(folder) == before
    spark.catalog.refreshTable(table)
    assert spark.table(table).orderBy("id").collect() == through_hive


def test_nested_fields_that_come_and_go_keep_every_value(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    table, folder = _table(spark, database, "parquet")
    _write(folder, [NESTED, NESTED_MORE], "parquet")
    spark.sql(f"MSCK REPAIR TABLE {table}")
    before = reading.physical(folder)
    assert [unit["outcome"] for unit in only(jobs("compact", "--table", table))["units"]] == ["compacted"]
    assert reading.physical(folder) == before
    (found,) = reading.data(folder)
    assert sorted((row["s"]["a"], row["s"]["b"]) for row in reading.table(found)) == [
        (n, None if n < 3 else f"b{n}") for n in range(6)
    ]


@pytest.mark.parametrize("kinds", CONFLICTS.values(), ids=list(CONFLICTS))
def test_types_that_have_no_common_one_are_refused_by_name(
    spark: SparkSession, jobs: Jobs, database: Database, kinds: tuple[pa.DataType, pa.DataType]
) -> None:
    table, folder = _table(spark, database, "parquet")
    folder.mkdir(parents=True)
    for number, kind in enumerate(kinds):
        column = pa.table({"id": pa.array([number]), "v": pa.array([None], kind)})
        pa.parquet.write_table(column, folder / f"f{number}.parquet")
    spark.sql(f"MSCK REPAIR TABLE {table}")
    before = data_files(folder)
    for verb in ("analyze", "compact"):
        (unit,) = only(jobs(verb, "--table", table))["units"]
        assert (unit["outcome"], unit["code"]) == ("skipped", "SCHEMA_CONFLICT")
        assert "column 'v' is" in unit["reason"]
        assert "f0.parquet" in unit["reason"]
        assert "f1.parquet" in unit["reason"]
    assert data_files(folder) == before


@pytest.mark.parametrize("named_first", [True, False])
def test_orc_files_without_names_beside_files_with_names_are_refused(
    spark: SparkSession, jobs: Jobs, database: Database, named_first: bool
) -> None:
    """Readers match the columns of such a file by position; in one file with the others they would match nothing."""
    table, folder = _table(spark, database, "orc")
    folder.mkdir(parents=True)
    names = [["id", "v"], ["_col0", "_col1"]]
    for number, columns in enumerate(names if named_first else reversed(names)):
        pa.orc.write_table(
            pa.table([pa.array([number]), pa.array(["x"])], names=columns), folder / f"f{number}.orc"
        )
    spark.sql(f"MSCK REPAIR TABLE {table}")
    before = data_files(folder)
    for verb in ("analyze", "compact"):
        (unit,) = only(jobs(verb, "--table", table))["units"]
        assert (unit["outcome"], unit["code"]) == ("skipped", "POSITIONAL")
    assert data_files(folder) == before


def test_columns_that_are_one_to_hive_are_refused_by_name(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    table, folder = _table(spark, database, "parquet")
    folder.mkdir(parents=True)
    for number in range(2):
        columns = pa.table([pa.array([number]), pa.array(["x"]), pa.array(["y"])], names=["id", "v", "V"])
        pa.parquet.write_table(columns, folder / f"f{number}.parquet")
    spark.sql(f"MSCK REPAIR TABLE {table}")
    (unit,) = only(jobs("analyze", "--table", table))["units"]
    assert (unit["outcome"], unit["code"]) == ("skipped", "SCHEMA_CONFLICT")
    assert "'v'" in unit["reason"]


def test_types_of_spark_s_own_are_refused(spark: SparkSession, jobs: Jobs, database: Database) -> None:
    """To the file an interval is a number; a note of Spark's says more, and would be lost."""
    table, folder = _table(spark, database, "parquet")
    spark.sql("SELECT id, INTERVAL '3' MONTH AS v FROM range(9)").repartition(3).write.parquet(
        f"file://{folder}"
    )
    spark.sql(f"MSCK REPAIR TABLE {table}")
    (unit,) = only(jobs("analyze", "--table", table))["units"]
    assert (unit["outcome"], unit["code"]) == ("skipped", "TYPE")
    assert "interval month" in unit["reason"]
