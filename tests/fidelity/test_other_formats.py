"""Text, Avro and sequence files: every line and every record is what it was, or the table is refused."""

from __future__ import annotations

import bz2
import gzip
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.harness.fixtures import Database
from tests.harness.sampling import sampled
from tests.spark.toolbox import Jobs, data_files, listed, only, rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Lines and records are copied by Hadoop's own classes, as bytes.
pytestmark = pytest.mark.one_version

#: What is hard to keep: other line ends, bytes that are no text, nothing, and no line end at the end.
LINES = [b"1,a", b"2,\r", b"", b"3,\xff\xfe\x00", b'4,"quoted, ""twice"""', b"5,\\N", b"\xc3\xa96,\t", b"7"]
PACKED = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress}
UNPACK: dict[str, Callable[[bytes], bytes]] = {"": bytes, ".gz": gzip.decompress, ".bz2": bz2.decompress}


def _lines(folder: Path, suffix: str) -> Counter[bytes]:
    """Every line with its number of times; whether the last one ends does not matter to any reader."""
    found: Counter[bytes] = Counter()
    for name in data_files(folder):
        content = UNPACK[suffix]((folder / name).read_bytes())
        found.update(content.removesuffix(b"\n").split(b"\n"))
    return found


def _write_text(folder: Path, suffix: str, ended: bool) -> None:
    folder.mkdir(parents=True)
    for number in range(5):
        lines = [*LINES, str(number).encode()]
        content = b"\n".join(lines) + (b"\n" if ended else b"")
        (folder / f"00000{number}_0{suffix}").write_bytes(PACKED[suffix](content))


SERDES = {
    "simple": "ROW FORMAT DELIMITED FIELDS TERMINATED BY ','",
    "csv": "ROW FORMAT SERDE 'org.apache.hadoop.hive.serde2.OpenCSVSerde'",
}


def _create(
    spark: SparkSession, table: str, folder: Path, definition: str, columns: str = "a STRING, b STRING"
) -> None:
    spark.sql(f"CREATE EXTERNAL TABLE {table} ({columns}) {definition} LOCATION '{folder.as_uri()}'")


@pytest.mark.parametrize("ended", sampled([True, False], False))
@pytest.mark.parametrize("suffix", PACKED)
@pytest.mark.parametrize("serde", SERDES)
def test_lines_keep_their_bytes(
    spark: SparkSession, jobs: Jobs, database: Database, serde: str, suffix: str, ended: bool
) -> None:
    folder, table = database.path / "t", f"{database}.t"
    _write_text(folder, suffix, ended)
    _create(spark, table, folder, f"{SERDES[serde]} STORED AS TEXTFILE")
    before, through_hive = _lines(folder, suffix), rows(spark, table)

    report = only(jobs("compact", "--table", table))

    (unit,) = report["units"]
    assert (unit["outcome"], unit["rows"]) == ("compacted", sum(before.values())), unit
    (name,) = data_files(folder)
    assert name.endswith(suffix)
    assert _lines(folder, suffix) == before
    assert rows(spark, table) == through_hive
    assert rows(spark, f"{database}.{report['backup_table'].split('.')[-1]}") == through_hive
    jobs("rollback", "--table", table)
    assert len(data_files(folder)) == 5


@pytest.mark.parametrize(
    ("properties", "code"),
    [
        ("'skip.header.line.count'='1'", "HEADER"),
        ("'skip.footer.line.count'='2'", "HEADER"),
        ("'serialization.encoding'='UTF-16'", "ENCODING"),
    ],
)
def test_text_that_is_more_than_lines_is_refused(
    spark: SparkSession, jobs: Jobs, database: Database, properties: str, code: str
) -> None:
    folder, table = database.path / "t", f"{database}.t"
    _write_text(folder, "", True)
    _create(spark, table, folder, f"STORED AS TEXTFILE TBLPROPERTIES ({properties})")
    before = data_files(folder)
    for verb in ("analyze", "compact"):
        report = only(jobs(verb, "--table", table))
        assert (report["outcome"], report["code"]) == ("refused", code)
    assert data_files(folder) == before


COLUMNS = "id BIGINT, s STRING, d DECIMAL(9,2), t TIMESTAMP, l ARRAY<INT>, m MAP<STRING,INT>, r STRUCT<a:INT,b:STRING>"
VALUES = (
    "id, IF(id % 3 = 0, NULL, concat('é', id)), CAST(id / 4 AS DECIMAL(9,2)), TIMESTAMP'2024-03-31 02:30:00.123',"
    " array(CAST(id AS INT), NULL), map('k', CAST(id AS INT)), named_struct('a', CAST(id AS INT), 'b', 'x')"
)


@pytest.mark.parametrize("stored", ["AVRO", "SEQUENCEFILE"])
@pytest.mark.parametrize("packed", [False, True])
def test_records_stay_what_they_are(
    spark: SparkSession, jobs: Jobs, database: Database, stored: str, packed: bool
) -> None:
    folder, table = database.path / "t", f"{database}.t"
    _create(spark, table, folder, f"STORED AS {stored}", COLUMNS)
    with _compressed(spark, packed):
        for start in range(0, 20, 5):
            spark.sql(f"INSERT INTO {table} SELECT {VALUES} FROM range({start}, {start + 5}, 1, 1)")
    before, through_hive = _heads(spark, folder, stored), rows(spark, table)
    assert len(data_files(folder)) == 4

    report = only(jobs("compact", "--table", table))

    (unit,) = report["units"]
    assert (unit["outcome"], unit["rows"]) == ("compacted", 20), unit
    assert len(data_files(folder)) == 1
    assert _heads(spark, folder, stored) == before
    assert rows(spark, table) == through_hive
    assert rows(spark, f"{database}.{report['backup_table'].split('.')[-1]}") == through_hive


class _compressed:
    """Hive's own writers compress, or do not."""

    def __init__(self, spark: SparkSession, packed: bool) -> None:
        self._conf, self._packed = spark._jsc.hadoopConfiguration(), packed
        self._spark = spark

    def __enter__(self) -> None:
        self._set(self._packed)

    def __exit__(self, *_: object) -> None:
        self._set(False)

    def _set(self, packed: bool) -> None:
        self._spark.conf.set("hive.exec.compress.output", str(packed).lower())
        self._spark.conf.set("avro.output.codec", "deflate")


def _heads(spark: SparkSession, folder: Path, stored: str) -> Any:
    """Schema and codec, by the formats' own readers."""
    from spark_jobs.adapters.spark.formats.registry import spark_formats
    from spark_jobs.core.formats.registry import AVRO, SEQUENCE

    reader = spark_formats(spark)[AVRO if stored == "AVRO" else SEQUENCE]
    (headers,) = reader.read([listed(folder)])
    (found,) = {(header.schema, tuple(header.codecs)) for header in headers}
    return found


def test_tables_that_only_spark_can_read_are_refused(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    """In the metastore they look like sequence files."""
    table, folder = f"{database}.t", database.path / "t"
    spark.range(20).repartition(4).write.csv(folder.as_uri())
    spark.sql(f"CREATE TABLE {table} (id BIGINT) USING csv LOCATION '{folder.as_uri()}'")
    report = only(jobs("analyze", "--table", table))
    assert (report["outcome"], report["code"]) == ("refused", "SERDE")


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("a", b"\xef\xbb\xbf1,a\n", "ENCODING"),
        ("a.gz", gzip.compress(b"\xef\xbb\xbf1,a\n"), "ENCODING"),
        ("a", gzip.compress(b"1,a\n"), "SERDE"),
        ("a", bz2.compress(b"1,a\n"), "SERDE"),
    ],
    ids=["mark", "packed mark", "gzip by another name", "bzip2 by another name"],
)
def test_text_that_would_not_be_the_same_bytes_is_refused(
    spark: SparkSession, jobs: Jobs, database: Database, name: str, content: bytes, code: str
) -> None:
    folder, table = database.path / "t", f"{database}.t"
    folder.mkdir(parents=True)
    for number in range(3):
        (folder / f"{number}{name}").write_bytes(content)
    _create(spark, table, folder, "STORED AS TEXTFILE")
    before = data_files(folder)
    for verb in ("analyze", "compact"):
        (unit,) = only(jobs(verb, "--table", table))["units"]
        assert (unit["outcome"], unit["code"]) == ("skipped", code)
    assert data_files(folder) == before


def test_an_avro_file_that_is_cut_off_is_named(spark: SparkSession, jobs: Jobs, database: Database) -> None:
    """Its reader takes the cut for the end of the file."""
    folder, table = database.path / "t", f"{database}.t"
    _create(spark, table, folder, "STORED AS AVRO", "id BIGINT")
    for start in range(4):
        spark.sql(f"INSERT INTO {table} VALUES ({start})")
    cut = folder / min(data_files(folder))
    cut.write_bytes(cut.read_bytes()[:-7])
    # HDFS would have cut a file and its checksums alike.
    (folder / f".{cut.name}.crc").unlink()
    before = data_files(folder)
    (unit,) = only(jobs("compact", "--table", table))["units"]
    assert (unit["code"], data_files(folder)) == ("UNREADABLE", before)
    assert f"{cut.name} cannot be read: it is truncated" in unit["reason"]
