"""Footers of many files in several directories, read by a few calls."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from spark_jobs.adapters.spark.formats.registry import spark_formats
from spark_jobs.core.formats.registry import PARQUET
from tests.spark.toolbox import many

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Names that file systems, URIs and globs each write differently.
FOLDERS = ("k=a", "k=two words", "k=100%25", "k=[b]{c,d}", "k=été")


@pytest.fixture
def files(spark: SparkSession, tmp_path: Path) -> list[str]:
    """Three files in each directory, with as many rows as their directory says, and an empty file beside them."""
    for rows, folder in enumerate(FOLDERS, start=1):
        many(spark, f"{tmp_path}/plain", f"SELECT id FROM range({3 * rows})", 3)
        (tmp_path / "plain").rename(tmp_path / folder)
        (tmp_path / folder / "part-9-empty").touch()
    found = (path for folder in FOLDERS for path in (tmp_path / folder).glob("*.parquet"))
    return [f"file:{path}" for path in sorted(found, key=lambda path: path.name)]


def rows_of(file: str) -> int:
    return FOLDERS.index(file.rsplit("/", 2)[1]) + 1


@pytest.mark.parametrize("batch", [2, 1000])
def test_each_file_has_its_own_footer(
    spark: SparkSession, files: list[str], batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spark_jobs.adapters.spark.formats.parquet_footers._BATCH", batch)
    found = spark_formats(spark)[PARQUET].read(files)
    assert [(footer.name, footer.rows) for footer in found] == [
        (file.rsplit("/", 1)[1], rows_of(file)) for file in files
    ]


@pytest.mark.parametrize("gone", ["file", "directory"])
def test_a_file_that_is_gone_is_named(spark: SparkSession, files: list[str], gone: str) -> None:
    path = Path(files[-1][len("file:") :])
    for name in path.parent.iterdir() if gone == "directory" else [path]:
        name.unlink()
    if gone == "directory":
        path.parent.rmdir()
    with pytest.raises(FileNotFoundError, match="does not exist"):
        spark_formats(spark)[PARQUET].read(files)


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
        names = [f"file:{path}" for path in (tmp_path / str(number)).glob("*.parquet")]
        with monkeypatch.context() as patch:
            patch.setattr(GatewayClient, "send_command", counted)
            assert len(reader.read(names)) == count
        # Objects are released by another thread, at any time.
        costs.append(sum(not command.startswith("m\n") for command in calls))
        calls.clear()
    assert costs[1] == costs[2], costs
