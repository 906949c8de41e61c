"""Spark lists directories by itself; what it reads are the files of the manifest all the same."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from spark_jobs.adapters.hadoop.file_system import HadoopFileSystem
from spark_jobs.adapters.spark.file_index import LISTED_BY_DRIVER, ExactReader
from spark_jobs.core.messages.errors import LakekeeperError
from spark_jobs.core.values.model import FileListing
from tests.harness.fixtures import Database
from tests.spark.meanwhile import before_rewrites
from tests.spark.toolbox import Jobs, data_files, ids, local, many, outcomes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameReader, SparkSession

pytestmark = pytest.mark.smoke

#: A name of each kind that some layer takes for something else: a glob, an escape, a list, a partition.
ODD_NAMES = ["a b", "100%", "%20", "été 東京", "[x]{y}*?", "a,b", "a=b", "it's", 'say "hi"']


@pytest.fixture
def folder(spark: SparkSession, tmp_path: Path) -> Path:
    """Files of ten rows each, with odd names in a directory with an odd name: the rows of file `n` are `n * 10 ...`."""
    place = tmp_path / "d=1 [x]{y},%20é"
    place.mkdir()
    for number, name in enumerate(ODD_NAMES):
        add(spark, place, number, name)
    return place


def add(spark: SparkSession, place: Path, number: int, name: str) -> None:
    """One more file, with ten rows."""
    parts = place.parent / f"parts-{number}"
    many(spark, parts.as_uri(), f"SELECT id FROM range({number * 10}, {number * 10 + 10})", 1)
    (file,) = data_files(parts)
    (parts / file).rename(place / f"{name}.parquet")


@pytest.fixture
def reader(spark: SparkSession) -> DataFrameReader:
    session = spark.newSession()
    for name, value in LISTED_BY_DRIVER.items():
        session.conf.set(name, value)
    return session.read.format("parquet").schema("id BIGINT")


def listing(spark: SparkSession, place: Path) -> tuple[str, FileListing]:
    fs = HadoopFileSystem(spark)
    uri = fs.qualify(f"file:{place}")
    return uri, fs.list_files(uri)


def found(frame: DataFrame) -> list[int]:
    return sorted(row.id for row in frame.collect())


def test_a_directory_with_the_files_of_the_manifest_is_listed_once(
    spark: SparkSession, folder: Path, reader: DataFrameReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ExactReader, "paths", None)
    frame = ExactReader(spark).read(reader, dict([listing(spark, folder)]))
    assert found(frame) == list(range(90))


@pytest.mark.parametrize("name", ["late", "_k=1"])
def test_a_file_that_is_not_in_the_manifest_is_not_read(
    spark: SparkSession, folder: Path, reader: DataFrameReader, name: str
) -> None:
    """The second one is hidden, but not to Spark, which takes it for a partition."""
    manifest = dict([listing(spark, folder)])
    add(spark, folder, 9, name)
    assert found(ExactReader(spark).read(reader, manifest)) == list(range(90))


def test_a_part_of_the_files_is_read_without_the_others(
    spark: SparkSession, folder: Path, reader: DataFrameReader
) -> None:
    """As of a group of a unit."""
    place, files = listing(spark, folder)
    some = FileListing.of(file for file in files.files if file.name != "a,b.parquet")
    left_out = ODD_NAMES.index("a,b") * 10
    expected = [number for number in range(90) if not left_out <= number < left_out + 10]
    assert found(ExactReader(spark).read(reader, {place: some})) == expected


def test_a_file_that_is_missing_is_an_error(
    spark: SparkSession, folder: Path, reader: DataFrameReader
) -> None:
    """Spark itself leaves it out, because it takes the path for a glob."""
    manifest = dict([listing(spark, folder)])
    (folder / "a b.parquet").unlink()
    with pytest.raises(LakekeeperError, match=r"a b\.parquet: removed or replaced"):
        found(ExactReader(spark).read(reader, manifest))


def test_a_file_that_was_replaced_is_an_error(
    spark: SparkSession, folder: Path, reader: DataFrameReader
) -> None:
    manifest = dict([listing(spark, folder)])
    os.utime(folder / "a b.parquet", (1, 1))
    with pytest.raises(LakekeeperError, match=r"a b\.parquet: removed or replaced"):
        found(ExactReader(spark).read(reader, manifest))


def test_files_of_several_directories_are_read_together(
    spark: SparkSession, folder: Path, tmp_path: Path, reader: DataFrameReader
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    add(spark, other, 9, "a b")
    manifests = dict([listing(spark, folder), listing(spark, other)])
    assert found(ExactReader(spark).read(reader, manifests)) == list(range(100))
    add(spark, other, 10, "late")
    assert found(ExactReader(spark).read(reader, manifests)) == list(range(100))


def test_a_file_that_is_added_before_the_rewrite_stays_beside_the_result(
    spark: SparkSession, jobs: Jobs, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, place = f"{database}.t", database.path / "t"
    many(spark, database.location("t"), "SELECT id FROM range(40)", 4)
    spark.sql(f"CREATE EXTERNAL TABLE {table} (id BIGINT) STORED AS PARQUET LOCATION '{place}'")
    before_rewrites(monkeypatch, lambda plan: add(spark, local(plan.directory), 4, "late"))
    assert outcomes(jobs("compact", "--table", table)) == ["compacted"]
    assert [name for name in data_files(place) if name.startswith("late")] != []
    assert (spark.table(table).count(), ids(spark, table)) == (50, set(range(50)))
