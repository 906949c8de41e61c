"""Parquet files whose footers have keys of their writers."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet
import pytest

from tests.fidelity import reading
from tests.harness.fixtures import Database
from tests.spark.toolbox import Jobs, data_files, only

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Spark has no type for times of day, so that records with them are copied.
COLUMNS = {
    "id": pa.array([1, 2, 3]),
    "d": pa.array([datetime.date(1500, 2, 1), datetime.date(2024, 2, 29), None]),
    "t": pa.array([0, 1, None], pa.time64("us")),
}
AVRO = {"parquet.avro.schema": '{"type":"record","name":"r","fields":[]}'}


def _table(spark: SparkSession, database: Database, columns: dict[str, Any], *keys: dict[str, str]) -> str:
    folder = database.path / "t"
    folder.mkdir(parents=True)
    for number, each in enumerate(keys):
        pyarrow.parquet.write_table(
            pa.table(columns).replace_schema_metadata(each), folder / f"{number}.parquet"
        )
    spark.sql(
        f"CREATE EXTERNAL TABLE {database}.t (id BIGINT) STORED AS PARQUET LOCATION '{folder.as_uri()}'"
    )
    return f"{database}.t"


@pytest.mark.parametrize(
    ("key", "outcome", "code"),
    [
        ({"writer.time.zone": "Europe/Paris"}, "compacted", None),
        ({"writer.time.zone": "UTC", "writer.date.proleptic": "false"}, "compacted", None),
        ({"writer.date.proleptic": "true"}, "skipped", "TYPE"),
    ],
)
def test_dates_of_hive_are_copied_where_it_reads_them_as_before(
    spark: SparkSession, jobs: Jobs, database: Database, key: dict[str, str], outcome: str, code: str | None
) -> None:
    table = _table(spark, database, COLUMNS, key, key)
    before = reading.rows(database.path / "t")
    (unit,) = only(jobs("compact", "--table", table))["units"]
    assert (unit["outcome"], unit["code"]) == (outcome, code), unit
    assert reading.rows(database.path / "t") == before


@pytest.mark.parametrize("columns", [COLUMNS, {"id": COLUMNS["id"]}], ids=["copied", "by Spark"])
def test_keys_that_are_lost_are_named_by_the_analysis_and_the_compaction(
    spark: SparkSession, jobs: Jobs, database: Database, columns: dict[str, Any]
) -> None:
    table = _table(spark, database, columns, AVRO, AVRO)
    for verb in ("analyze", "compact"):
        report = only(jobs(verb, "--table", table))
        (text,) = report["warnings"]
        assert text.startswith("METADATA_NOT_KEPT: the footers have the keys parquet.avro.schema, "), report
    assert len(data_files(database.path / "t")) == 1


def test_files_without_rows_take_no_part_in_the_schema(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    folder, table = database.path / "t", _table(spark, database, COLUMNS, AVRO, AVRO)
    other = pa.table({"id": pa.array([], pa.string())})
    pyarrow.parquet.write_table(other, folder / "2.parquet", compression="gzip")
    before = reading.rows(folder)
    (unit,) = only(jobs("compact", "--table", table))["units"]
    assert (unit["outcome"], unit["rows"]) == ("compacted", 6), unit
    assert (len(data_files(folder)), reading.rows(folder)) == (1, before)
