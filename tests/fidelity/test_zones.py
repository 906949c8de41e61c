"""ORC's local times go through time zones, which may not have them all, or have them twice."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pyarrow.orc
import pytest

from tests.harness.fixtures import Database
from tests.spark.toolbox import Jobs, data_files, many, only, rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Half an hour and an hour and a half after two: the night on which Paris has that hour twice.
AUTUMN = "SELECT id, timestamp_seconds(1729988400 + 1800 * id) AS t FROM range(8)"
#: The same zone here, and one of the writer.
ZONES = [
    ("Europe/Paris", "Europe/Paris"),
    ("Europe/Paris", "UTC"),
    ("UTC", "Asia/Kolkata"),
    ("UTC", "Etc/GMT+3"),
]


@contextmanager
def _java_in(spark: SparkSession, zone: str) -> Iterator[None]:
    """Java runs there, and so do the executors, which are in the same process here."""
    zones = spark._jvm.java.util.TimeZone
    before = zones.getDefault()
    zones.setDefault(zones.getTimeZone(zone))
    try:
        yield
    finally:
        zones.setDefault(before)


def _table(spark: SparkSession, database: Database) -> str:
    spark.sql(
        f"CREATE EXTERNAL TABLE {database}.t (id BIGINT, t TIMESTAMP) STORED AS ORC"
        f" LOCATION '{database.location('t')}'"
    )
    return f"{database}.t"


@pytest.mark.parametrize(("written", "compacted"), ZONES)
def test_every_instant_stays(
    spark: SparkSession, jobs: Jobs, database: Database, written: str, compacted: str
) -> None:
    folder, table = database.path / "t", _table(spark, database)
    with _java_in(spark, written):
        many(spark, database.location("t"), AUTUMN, 4, "orc")
        before = rows(spark, table)
    with _java_in(spark, compacted):
        (unit,) = only(jobs("compact", "--table", table))["units"]
    assert (unit["outcome"], len(data_files(folder))) == ("compacted", 1), unit
    with _java_in(spark, written):
        assert rows(spark, table) == before


@pytest.mark.parametrize(("written", "compacted"), [("Europe/Paris", "UTC"), ("UTC", "Europe/Paris")])
def test_files_that_do_not_fit_together_are_refused(
    spark: SparkSession, jobs: Jobs, database: Database, written: str, compacted: str
) -> None:
    """They have to be written anew, and then an hour can be lost."""
    folder, table = database.path / "t", _table(spark, database)
    with _java_in(spark, written):
        many(spark, database.location("t"), AUTUMN, 2, "orc")
        many(spark, database.location("t"), AUTUMN.replace("AS t", "AS t, 1 AS more"), 2, "orc")
    before = data_files(folder)
    with _java_in(spark, compacted):
        (unit,) = only(jobs("compact", "--table", table))["units"]
    assert (unit["code"], data_files(folder)) == ("TIMEZONE", before), unit


def test_files_of_several_schemas_are_written_anew_where_clocks_stand_still(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    table = _table(spark, database)
    with _java_in(spark, "UTC"):
        many(spark, database.location("t"), AUTUMN, 2, "orc")
        many(spark, database.location("t"), AUTUMN.replace("AS t", "AS t, 1 AS more"), 2, "orc")
        before = rows(spark, table)
        (unit,) = only(jobs("compact", "--table", table))["units"]
        assert (unit["outcome"], rows(spark, table)) == ("compacted", before), unit


def test_fractions_below_a_microsecond_stay(spark: SparkSession, jobs: Jobs, database: Database) -> None:
    """Hive's timestamps have nine digits, of which Spark reads six."""
    folder, table = database.path / "t", _table(spark, database)
    folder.mkdir(parents=True, exist_ok=True)
    nanos = [1_709_209_815_123_456_789 + number for number in range(8)]
    for number in range(4):
        some = pyarrow.array(nanos[2 * number : 2 * number + 2], pyarrow.timestamp("ns"))
        pyarrow.orc.write_table(pyarrow.table({"id": [1, 2], "t": some}), folder / f"f{number}.orc")
    (unit,) = only(jobs("compact", "--table", table, "--verify", "hash"))["units"]
    assert unit["outcome"] == "compacted", unit
    (name,) = data_files(folder)
    found = pyarrow.orc.read_table(folder / name)["t"].cast(pyarrow.int64()).to_pylist()
    assert sorted(found) == nanos
