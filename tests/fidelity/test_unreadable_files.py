"""A damaged file among others keeps its unit as it is, and the reason names it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.harness.fixtures import Database
from tests.spark.toolbox import Jobs, data_files, many, only

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def _data(content: bytes) -> bytes:
    """Most of the values are gone; the footer is whole."""
    end = len(content) * 3 // 4
    return content[:4] + b"\xff" * (end - 4) + content[end:]


def _end(content: bytes) -> bytes:
    return content[:-4] + b"XXXX"


@pytest.mark.parametrize("damage", [_data, _end])
@pytest.mark.parametrize("file_format", ["orc", "parquet"])
def test_the_file_is_named(
    spark: SparkSession,
    jobs: Jobs,
    database: Database,
    file_format: str,
    damage: Callable[[bytes], bytes],
) -> None:
    folder = database.path / "t"
    many(spark, folder.as_uri(), "SELECT id, uuid() AS v FROM range(600)", 6, file_format)
    name = sorted(data_files(folder))[3]
    _damage(folder / name, damage)
    spark.sql(
        f"CREATE EXTERNAL TABLE {database}.t (id BIGINT, v STRING) STORED AS {file_format}"
        f" LOCATION '{folder.as_uri()}'"
    )
    before = data_files(folder)
    (unit,) = only(jobs("compact", "--table", f"{database}.t"))["units"]
    assert (unit["outcome"], unit["code"]) == ("skipped", "UNREADABLE"), unit
    assert unit["reason"].startswith(f"{name} cannot be read: ")
    assert data_files(folder) == before


def _damage(file: Path, damage: Callable[[bytes], bytes]) -> None:
    file.write_bytes(damage(file.read_bytes()))
    file.with_name(f".{file.name}.crc").unlink(missing_ok=True)
