"""A damaged file among others keeps its unit as it is, and the reason names it."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.orc
import pyarrow.parquet
import pytest
from pyarrow.parquet import encryption

from spark_jobs.adapters.spark.formats import parquet_footers
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
    spark: SparkSession, jobs: Jobs, database: Database, file_format: str, damage: Callable[[bytes], bytes]
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


class Kms(encryption.KmsClient):  # type: ignore[misc]
    """Keys that are wrapped by nothing."""

    def __init__(self, _: object) -> None:
        super().__init__()

    def wrap_key(self, key: bytes, _: str) -> bytes:
        return base64.b64encode(key)

    def unwrap_key(self, key: bytes, _: str) -> bytes:
        return base64.b64decode(key)


@pytest.fixture(params=["driver", pytest.param("executors", marks=pytest.mark.one_version)])
def reader_of_footers(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who reads the footers."""
    if request.param == "executors":
        monkeypatch.setattr(parquet_footers, "has_executors", lambda _: True)
        monkeypatch.setattr(parquet_footers, "_WORTH_A_JOB", 1)


@pytest.mark.usefixtures("reader_of_footers")
def test_encrypted_columns_under_a_plain_footer_are_refused(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    folder = database.path / "t"
    folder.mkdir(parents=True)
    how = encryption.EncryptionConfiguration(footer_key="f", column_keys={"c": ["v"]}, plaintext_footer=True)
    keys = encryption.CryptoFactory(Kms).file_encryption_properties(encryption.KmsConnectionConfig(), how)
    for number in range(4):
        table = pa.table({"id": [number], "v": ["x"]})
        properties = keys if number == 3 else None
        pyarrow.parquet.write_table(table, folder / f"{number}.parquet", encryption_properties=properties)
    spark.sql(
        f"CREATE EXTERNAL TABLE {database}.t (id BIGINT, v STRING) STORED AS PARQUET LOCATION '{folder.as_uri()}'"
    )
    before = data_files(folder)
    report = jobs("compact", "--table", f"{database}.t")
    (unit,) = only(report)["units"]
    assert (unit["outcome"], unit["code"], report["exit_code"]) == ("skipped", "ENCRYPTED", 0), unit
    assert data_files(folder) == before


@pytest.mark.usefixtures("reader_of_footers")
@pytest.mark.parametrize("options", [[], ["--verify", "hash"], ["--canary", "1"]], ids=str)
def test_a_row_group_with_other_values_than_rows_is_refused(
    spark: SparkSession, jobs: Jobs, database: Database, options: list[str]
) -> None:
    """Readers return as many rows as it says, and leave out values without an error."""
    folder = database.path / "t"
    folder.mkdir(parents=True)
    for number in range(4):
        pyarrow.parquet.write_table(pa.table({"id": range(100)}), folder / f"{number}.parquet")
    file = folder / "2.parquet"
    content = bytearray(file.read_bytes())
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    rows = content.rindex(
        b"\x16\xc8\x01", footer
    )  # the third field of the row group: 100, as a zigzag varint
    content[rows : rows + 3] = b"\x16\xf8\x00"  # 60, in as many bytes
    file.write_bytes(content)
    spark.sql(
        f"CREATE EXTERNAL TABLE {database}.t (id BIGINT) STORED AS PARQUET LOCATION '{folder.as_uri()}'"
    )
    before = data_files(folder)
    report = jobs("compact", "--table", f"{database}.t", *options)
    (unit,) = only(report)["units"]
    assert (unit["outcome"], unit["code"], report["exit_code"]) == ("skipped", "UNREADABLE", 0), unit
    assert "2.parquet cannot be read: a row group of 60 rows has 100 values of column 'id'" in unit["reason"]
    assert data_files(folder) == before


def test_a_struct_without_fields_is_kept(spark: SparkSession, jobs: Jobs, database: Database) -> None:
    folder = database.path / "t"
    folder.mkdir(parents=True)
    table = pa.table({"id": [1], "s": pa.array([{}], pa.struct([]))})
    for number in range(4):
        pyarrow.orc.write_table(table, folder / f"{number}.orc")
    spark.sql(f"CREATE EXTERNAL TABLE {database}.t (id BIGINT) STORED AS ORC LOCATION '{folder.as_uri()}'")
    report = jobs("compact", "--table", f"{database}.t")
    (unit,) = only(report)["units"]
    assert report["exit_code"] == 0, unit
    assert (unit["outcome"], unit["code"]) in (("compacted", None), ("skipped", "TYPE")), unit
    files = [pyarrow.orc.read_table(folder / name) for name in data_files(folder)]
    assert pa.concat_tables(files).to_pylist() == [{"id": 1, "s": {}}] * 4


@pytest.mark.usefixtures("reader_of_footers")
@pytest.mark.parametrize("first", [0, 2])
def test_a_file_with_an_encrypted_footer_is_no_damaged_one(
    spark: SparkSession, jobs: Jobs, database: Database, first: int
) -> None:
    folder = database.path / "t"
    folder.mkdir(parents=True)
    keys = encryption.create_encryption_properties(footer_key=b"0123456789abcdef")
    for number in range(4):
        pyarrow.parquet.write_table(
            pa.table({"id": [number]}),
            folder / f"{number}.parquet",
            encryption_properties=keys if number >= first else None,
        )
    spark.sql(
        f"CREATE EXTERNAL TABLE {database}.t (id BIGINT) STORED AS PARQUET LOCATION '{folder.as_uri()}'"
    )
    before = data_files(folder)
    for verb in ("analyze", "compact"):
        (unit,) = only(jobs(verb, "--table", f"{database}.t"))["units"]
        assert (unit["outcome"], unit["code"]) == ("skipped", "ENCRYPTED"), unit
        assert f"{first}.parquet has an encrypted footer" in unit["reason"]
    assert data_files(folder) == before


def _of_brotli(content: bytes) -> bytes:
    """An ORC file whose postscript names a codec of ORC 2, which needs a library of its own."""
    start = len(content) - 1 - content[-1]
    postscript = bytearray(content[start:-1])
    postscript[postscript.index(b"\x10") + 1] = 6  # field 2, the kind of compression: BROTLI
    return content[:start] + bytes(postscript) + content[-1:]


def test_an_orc_file_of_a_codec_that_this_spark_lacks_is_refused(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    folder = database.path / "t"
    many(spark, folder.as_uri(), "SELECT id FROM range(600)", 4, "orc")
    name = min(data_files(folder))
    _damage(folder / name, _of_brotli)
    spark.sql(f"CREATE EXTERNAL TABLE {database}.t (id BIGINT) STORED AS ORC LOCATION '{folder.as_uri()}'")
    before, code = data_files(folder), "CODEC" if spark.version >= "4" else "UNREADABLE"
    report = jobs("compact", "--table", f"{database}.t")
    (unit,) = only(report)["units"]
    assert (report["exit_code"], unit["outcome"], unit["code"]) == (0, "skipped", code), unit
    assert unit["reason"].startswith(name)
    assert data_files(folder) == before
