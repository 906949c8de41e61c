"""Avro files with metadata: what Spark notes in its files is carried, and files with any other metadata are refused."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.harness.fixtures import Database
from tests.spark.toolbox import Jobs, data_files, only

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Records and metadata are copied by Avro's own classes, as bytes.
pytestmark = pytest.mark.one_version

SAMPLES = Path(__file__).parent / "spark_avro"
COLUMNS = {
    "plain": "id BIGINT, v STRING, d DATE, t TIMESTAMP, m DECIMAL(9,2)",
    "legacy": "id BIGINT, d DATE, t TIMESTAMP",
}
VERSION = "org.apache.spark.version"


def _table(spark: SparkSession, database: Database, kind: str) -> tuple[str, Path]:
    """An Avro table over a copy of Spark's files."""
    folder, table = database.path / "t", f"{database}.t"
    folder.mkdir(parents=True)
    for sample in SAMPLES.glob(f"{kind}-*.avro"):
        shutil.copy(sample, folder)
    spark.sql(f"CREATE EXTERNAL TABLE {table} ({COLUMNS[kind]}) STORED AS AVRO LOCATION '{folder.as_uri()}'")
    return table, folder


def _contents(spark: SparkSession, folder: Path) -> tuple[list[str], list[dict[str, str]], set[str]]:
    """The records of all files as text, the metadata of each file, and the schemas, by Avro's own reader."""
    avro = spark._jvm.org.apache.avro
    records, metadata, schemas = [], [], set()
    for name in data_files(folder):
        reader = avro.file.DataFileReader(
            spark._jvm.java.io.File(str(folder / name)), avro.generic.GenericDatumReader()
        )
        metadata.append(
            {key: reader.getMetaString(key) for key in reader.getMetaKeys() if key[:5] != "avro."}
        )
        schemas.add(reader.getSchema().toString())
        while reader.hasNext():
            records.append(reader.next().toString())
        reader.close()
    return sorted(records), metadata, schemas


def _with_metadata(spark: SparkSession, file: Path, metadata: dict[str, str]) -> None:
    """Write a file again with more metadata; Avro appends no key to a header."""
    avro, java = spark._jvm.org.apache.avro, spark._jvm.java
    reader = avro.file.DataFileReader(java.io.File(str(file)), avro.generic.GenericDatumReader())
    writer: Any = avro.file.DataFileWriter(avro.generic.GenericDatumWriter())
    kept = {key: reader.getMetaString(key) for key in reader.getMetaKeys() if key[:5] != "avro."}
    for key, value in {**kept, **metadata}.items():
        writer.setMeta(key, value)
    writer.setCodec(avro.file.CodecFactory.fromString(reader.getMetaString("avro.codec")))
    again = file.with_suffix(".again")
    writer.create(reader.getSchema(), java.io.File(str(again)))
    writer.appendAllFrom(reader, False)
    writer.close()
    reader.close()
    again.replace(file)


@pytest.mark.parametrize("kind", COLUMNS)
def test_files_of_spark_keep_their_records_and_their_metadata(
    spark: SparkSession, jobs: Jobs, database: Database, kind: str
) -> None:
    table, folder = _table(spark, database, kind)
    records, metadata, schemas = _contents(spark, folder)

    (unit,) = only(jobs("compact", "--table", table))["units"]

    assert (unit["outcome"], unit["rows"]) == ("compacted", len(records)), unit
    assert VERSION in metadata[0]
    assert _contents(spark, folder) == (records, [metadata[0]], schemas)


def test_of_several_versions_of_spark_the_oldest_is_noted(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    table, folder = _table(spark, database, "plain")
    _with_metadata(spark, folder / "plain-1.avro", {VERSION: "3.10.0"})
    _with_metadata(spark, folder / "plain-2.avro", {VERSION: "3.3.1"})
    (unit,) = only(jobs("compact", "--table", table))["units"]
    assert unit["outcome"] == "compacted", unit
    assert _contents(spark, folder)[1] == [{VERSION: "3.3.1"}]


@pytest.mark.parametrize(
    "metadata",
    [
        {"checksum": "1"},
        {"org.apache.spark.legacyDateTime": "", "org.apache.spark.timeZone": "UTC"},
        {VERSION: "2.4.8"},
    ],
    ids=["custom", "another calendar", "a version of another calendar"],
)
def test_other_metadata_is_refused(
    spark: SparkSession, jobs: Jobs, database: Database, metadata: dict[str, str]
) -> None:
    table, folder = _table(spark, database, "plain")
    _with_metadata(spark, folder / "plain-1.avro", metadata)
    before = data_files(folder)
    (unit,) = only(jobs("compact", "--table", table))["units"]
    assert (unit["outcome"], unit["code"]) == ("skipped", "TYPE")
    assert data_files(folder) == before


@pytest.mark.parametrize("stored", ["AVRO", "SEQUENCEFILE"])
def test_the_files_of_a_copy_have_fresh_names(
    spark: SparkSession, jobs: Jobs, database: Database, stored: str
) -> None:
    """A file that is moved to where such a file was, or a reader that remembers it, must not take it for that file."""
    folder, table = database.path / "t", f"{database}.t"
    spark.sql(f"CREATE EXTERNAL TABLE {table} (id BIGINT) STORED AS {stored} LOCATION '{folder.as_uri()}'")
    names: list[str] = []
    for _ in range(2):
        for start in range(3):
            spark.sql(f"INSERT INTO {table} VALUES ({start})")
        (unit,) = only(jobs("compact", "--table", table))["units"]
        assert unit["outcome"] == "compacted", unit
        names += data_files(folder)
    assert len(set(names)) == 2, names
