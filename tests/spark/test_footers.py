"""Footers of many files in several directories, read by a few calls."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from spark_jobs.adapters.spark.formats.registry import spark_formats
from spark_jobs.core.formats.leaf_statistics import Bounds, LeafStatistics
from spark_jobs.core.formats.registry import PARQUET
from spark_jobs.core.messages.errors import Unreadable
from spark_jobs.core.values.model import FileListing
from tests.spark.toolbox import listed, many

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Names that file systems, URIs and globs each write differently.
FOLDERS = ("k=a", "k=two words", "k=100%25", "k=[b]{c,d}", "k=été")


Directories = list[tuple[str, FileListing]]


@pytest.fixture
def directories(spark: SparkSession, tmp_path: Path) -> Directories:
    """Three files in each directory, with as many rows as their directory says, and an empty file beside them."""
    for rows, folder in enumerate(FOLDERS, start=1):
        many(spark, f"{tmp_path}/plain", f"SELECT id FROM range({3 * rows})", 3)
        (tmp_path / "plain").rename(tmp_path / folder)
        (tmp_path / folder / "part-9-empty").touch()
    return [listed(tmp_path / folder) for folder in FOLDERS]


@pytest.mark.parametrize("batch", [2, 1000])
def test_a_footer_is_that_of_all_files_of_a_directory(
    spark: SparkSession, directories: Directories, batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spark_jobs.adapters.spark.formats.driver_footers._BATCH", batch)
    found = spark_formats(spark)[PARQUET].read(directories)
    for number, ((_, files), footers) in enumerate(zip(directories, found, strict=True), start=1):
        (footer,) = footers
        assert (footer.names, footer.rows) == (tuple(file.name for file in files.files), 3 * number)
        assert footer.statistics["id"] == LeafStatistics(3 * number, 3 * number, Bounds(0, 3 * number - 1))


@pytest.mark.parametrize("batch", [1, 1000])
def test_files_that_differ_in_more_than_rows_have_footers_of_their_own(
    spark: SparkSession, tmp_path: Path, batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spark_jobs.adapters.spark.formats.driver_footers._BATCH", batch)
    for number, columns in enumerate(("id", "id, 'x' AS v", "id", "CAST(id AS INT) AS id")):
        many(spark, f"{tmp_path}/one", f"SELECT {columns} FROM range(7)", 1)
        (path,) = (tmp_path / "one").glob("*.parquet")
        path.rename(tmp_path / f"{number}.parquet")
        shutil.rmtree(tmp_path / "one")
    (found,) = spark_formats(spark)[PARQUET].read([listed(tmp_path)])
    assert [(footer.names, footer.rows) for footer in found] == [
        (("0.parquet", "2.parquet"), 14),
        (("1.parquet",), 7),
        (("3.parquet",), 7),
    ]


def test_directories_without_files_have_no_footers(spark: SparkSession, directories: Directories) -> None:
    nothing = ("file:/nowhere", FileListing(()))
    parquet = spark_formats(spark)[PARQUET]
    assert parquet.read([]) == []
    assert parquet.read([nothing]) == [[]]
    assert [len(found) for found in parquet.read([nothing, directories[0], nothing])] == [0, 1, 0]


@pytest.mark.parametrize("gone", ["file", "directory"])
def test_a_file_that_is_gone_is_named(spark: SparkSession, directories: Directories, gone: str) -> None:
    folder, files = directories[-1]
    path = Path(folder[len("file:") :], files.files[-1].name)
    for name in path.parent.iterdir() if gone == "directory" else [path]:
        name.unlink()
    if gone == "directory":
        path.parent.rmdir()
    with pytest.raises(FileNotFoundError, match="does not exist"):
        spark_formats(spark)[PARQUET].read(directories)


@pytest.mark.parametrize("bytes_more", [-1, 1])
def test_a_file_that_was_replaced_by_one_of_another_length_is_an_error(
    spark: SparkSession, directories: Directories, bytes_more: int
) -> None:
    folder, files = directories[0]
    changed = [file._replace(length=file.length + bytes_more) for file in files.files]
    with pytest.raises(Unreadable, match=f"{files.files[0].name} cannot be read: ") as failed:
        spark_formats(spark)[PARQUET].read([(folder, FileListing(tuple(changed)))])
    assert "FileStatus{" not in str(failed.value)  # its owner and mode would be made up


def test_files_of_one_directory_cost_as_many_calls_as_those_of_another_size(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from py4j.java_gateway import GatewayClient

    calls: list[str] = []
    send, reader = GatewayClient.send_command, spark_formats(spark)[PARQUET]

    def counted(client: GatewayClient, command: str, *args: object, **options: object) -> object:
        calls.append(command)
        return send(client, command, *args, **options)

    costs = []
    for number, count in enumerate((5, 5, 50)):
        many(spark, f"{tmp_path}/{number}", "SELECT id FROM range(100)", count)
        directory = listed(tmp_path / str(number))
        with monkeypatch.context() as patch:
            patch.setattr(GatewayClient, "send_command", counted)
            ((footer,),) = reader.read([directory])
        assert len(footer.names) == count
        # Objects are released by another thread, at any time.
        costs.append(sum(not command.startswith("m\n") for command in calls))
        calls.clear()
    assert costs[1] == costs[2], costs
