"""A damaged file among others keeps its unit as it is, and the reason names it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet
import pytest
from pyarrow.parquet import encryption

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


def test_a_file_with_an_encrypted_footer_is_no_damaged_one(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    folder = database.path / "t"
    folder.mkdir(parents=True)
    keys = encryption.create_encryption_properties(footer_key=b"0123456789abcdef")
    for number in range(4):
        pyarrow.parquet.write_table(
            pa.table({"id": [number]}), folder / f"{number}.parquet", encryption_properties=keys
        )
    spark.sql(
        f"CREATE EXTERNAL TABLE {database}.t (id BIGINT) STORED AS PARQUET LOCATION '{folder.as_uri()}'"
    )
    before = data_files(folder)
    for verb in ("analyze", "compact"):
        (unit,) = only(jobs(verb, "--table", f"{database}.t"))["units"]
        assert (unit["outcome"], unit["code"]) == ("skipped", "ENCRYPTED"), unit
        assert ".parquet has an encrypted footer" in unit["reason"]
    assert data_files(folder) == before
