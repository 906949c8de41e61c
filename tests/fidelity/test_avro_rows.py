"""Avro files: each record keeps its bytes, each file its schema, whatever the cluster's settings say."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.fidelity.avro_container import container, double, number, text
from tests.harness.fixtures import Database
from tests.harness.sampling import sampled
from tests.spark.toolbox import Jobs, cluster_settings, data_files, only

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Records are copied by the libraries of Avro and Hadoop.
pytestmark = pytest.mark.one_version

_JAVA_STRING = {"type": "string", "avro.java.string": "String"}


def _record(kind: Any, **more: Any) -> dict[str, Any]:
    return {"type": "record", "name": "r", "namespace": "n", "fields": [{"name": "v", "type": kind, **more}]}


#: By name: a schema, and records that a decoder of values would change.
HARD = {
    "a String that is no UTF-8": (_record(_JAVA_STRING), [text(b"\xff\xfe\x00a"), text(b"ok")]),
    "a map with one key twice": (
        _record({"type": "map", "values": "long", "avro.java.string": "String"}),
        [number(2) + text(b"k") + number(1) + text(b"k") + number(2) + number(0)],
    ),
    "an array in counted pieces": (
        _record({"type": "array", "items": "long"}),
        [number(-2) + number(2) + number(1) + number(2) + number(1) + number(3) + number(0)],
    ),
    "a NaN of R": (_record("double"), [double(0x7FF00000000007A2)]),
    "a number in more bytes than needed": (_record("long"), [b"\x82\x00"]),
    "an unknown logical type": (_record({"type": "long", "logicalType": "moon-phase"}), [number(7)]),
    "a decimal": (
        _record({"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}),
        [text(b"\x00\x00\x01")],
    ),
    "an enum with an alias and a default": (
        _record({"type": "enum", "name": "e", "symbols": ["A", "B"], "default": "A", "aliases": ["f"]}),
        [number(1)],
    ),
    "a variable in the documentation": (
        _record("long", doc="${env.HOME} ${fs.s3a.secret.key} ${user.name}"),
        [number(1)],
    ),
    "many variables": (_record("long", doc="${a}" * 50), [number(1)]),
    "a default of another type": (_record("int", default="none"), [number(1)]),
    "symbols that are no names": (
        _record({"type": "enum", "name": "e", "symbols": ["a-b", "c d"]}),
        [number(1)],
    ),
    # Avro's library leaves them out of a schema that it writes.
    "attributes that the specification does not have": (
        _record({"type": "array", "items": {"type": "long", "name": "n"}, "doc": "a list"}),
        [number(1) + number(7) + number(0)],
    ),
    "a default with a variable": (_record("string", default="${env.HOME}"), [text(b"${env.HOME}")]),
}


def _avro(spark: SparkSession, database: Database, files: dict[str, bytes], kind: str = "STRING") -> Path:
    folder = database.path / "t"
    folder.mkdir(parents=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    spark.sql(f"CREATE EXTERNAL TABLE {database}.t (v {kind}) STORED AS AVRO LOCATION '{folder.as_uri()}'")
    return folder


def _blocks(content: bytes) -> list[bytes]:
    """What stands between the sync markers."""
    return content.split(content[-16:])[1:-1]


def _schema(spark: SparkSession, path: Path) -> str:
    """By Avro's own reader."""
    avro = spark._jvm.org.apache.avro
    reader = avro.file.DataFileReader(spark._jvm.java.io.File(str(path)), avro.generic.GenericDatumReader())
    try:
        return str(reader.getSchema().toString())
    finally:
        reader.close()


@pytest.mark.parametrize("key", sampled(["avro.tool", "tool"], "avro.tool"))
def test_an_avro_file_with_metadata_that_no_copy_carries_is_left_alone(
    spark: SparkSession, jobs: Jobs, database: Database, key: str
) -> None:
    content = container(_record("long"), [[number(1)]], metadata={key: b"x"})
    folder = _avro(spark, database, {f"{n}.avro": content for n in range(3)})
    before = data_files(folder)
    (unit,) = only(jobs("compact", "--table", f"{database}.t"))["units"]
    assert (unit["outcome"], unit["code"]) == ("skipped", "TYPE"), unit
    assert key in unit["reason"]
    assert data_files(folder) == before


@pytest.mark.parametrize("codec", sampled(["null", "deflate"], "deflate"))
@pytest.mark.parametrize(
    "case",
    sampled(
        HARD,
        "a String that is no UTF-8",
        "a variable in the documentation",
        "attributes that the specification does not have",
    ),
)
def test_records_keep_their_bytes_and_files_their_schema(
    spark: SparkSession,
    jobs: Jobs,
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
    case: str,
    codec: str,
) -> None:
    schema, records = HARD[case]
    content = container(schema, [records, records], codec)
    folder = _avro(spark, database, {f"{n}.avro": content for n in range(3)})
    before = _schema(spark, folder / "0.avro")
    with cluster_settings(spark, {"fs.s3a.secret.key": "the-secret", "a": "b"}):
        (unit,) = only(jobs("compact", "--table", f"{database}.t"))["units"]
    assert (unit["outcome"], unit["rows"]) == ("compacted", 6 * len(records)), unit
    (name,) = data_files(folder)
    written = (folder / name).read_bytes()
    assert _blocks(written) == _blocks(content) * 3
    assert _schema(spark, folder / name) == before
    assert written[4:].startswith(number(2) + text(b"avro.schema") + text(json.dumps(schema).encode()))
    assert b"the-secret" not in written
    assert os.environ["HOME"].encode() not in written


def test_files_of_two_versions_of_a_schema_become_one_file_each(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    schemas = [_record("long"), _record("long", doc="now with a comment")]
    files = {f"{n}.avro": container(schemas[n % 2], [[number(n)]]) for n in range(6)}
    folder = _avro(spark, database, files, "BIGINT")
    before = {_schema(spark, folder / name) for name in files}
    (unit,) = only(jobs("compact", "--table", f"{database}.t"))["units"]
    assert (unit["outcome"], unit["rows"]) == ("compacted", 6), unit
    assert {_schema(spark, folder / name) for name in data_files(folder)} == before
    assert len(data_files(folder)) == 2
    (unit,) = only(jobs("compact", "--table", f"{database}.t", "--run-id", "again"))["units"]
    assert unit["outcome"] == "healthy", unit


def test_schemas_that_differ_in_attributes_only_become_one_file_each(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    """For Avro's library they are equal."""
    schemas = [_record({"type": "array", "items": "long", "doc": doc}) for doc in "ab"]
    files = {f"{n}.avro": container(schemas[n % 2], [[number(0)]]) for n in range(6)}
    folder = _avro(spark, database, files)
    (unit,) = only(jobs("compact", "--table", f"{database}.t"))["units"]
    assert (unit["outcome"], unit["rows"]) == ("compacted", 6), unit
    written = [(folder / name).read_bytes() for name in data_files(folder)]
    assert sorted(json.dumps(schema).encode() in content for content in written for schema in schemas) == [
        *(False, False),
        *(True, True),
    ]


def test_files_of_two_codecs_become_one_file_each(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    records = [[number(n)] for n in range(20)]
    files = {f"{n}.avro": container(_record("long"), records, ("null", "deflate")[n % 2]) for n in range(6)}
    folder = _avro(spark, database, files, "BIGINT")
    (unit,) = only(jobs("compact", "--table", f"{database}.t"))["units"]
    assert (unit["outcome"], unit["rows"]) == ("compacted", 120), unit
    assert len(data_files(folder)) == 2
    assert spark.table(f"{database}.t").count() == 120


@pytest.mark.parametrize("codec", sampled(["lzo", "vendor-codec"], "lzo"))
def test_a_codec_that_avro_lacks_is_named(
    spark: SparkSession, jobs: Jobs, database: Database, codec: str
) -> None:
    files = {f"{n}.avro": container(_record("long"), [[number(n)]], codec) for n in range(3)}
    folder = _avro(spark, database, files, "BIGINT")
    before = data_files(folder)
    for verb in ("analyze", "compact"):
        (unit,) = only(jobs(verb, "--table", f"{database}.t"))["units"]
        assert (unit["outcome"], unit["code"]) == ("skipped", "CODEC"), unit
        assert codec in unit["reason"]
    assert data_files(folder) == before


def test_a_damaged_avro_file_is_named(spark: SparkSession, jobs: Jobs, database: Database) -> None:
    content = container(_record("long"), [[number(n)] for n in range(9)])
    files = {f"{n}.avro": content for n in range(4)}
    files["2.avro"] = content[:-60] + b"\xee" * 20 + content[-40:]
    folder = _avro(spark, database, files, "BIGINT")
    before = data_files(folder)
    (unit,) = only(jobs("compact", "--table", f"{database}.t"))["units"]
    assert (unit["code"], data_files(folder)) == ("UNREADABLE", before)
    assert "2.avro" in unit["reason"]


def test_a_block_that_is_lost_on_the_way_fails_the_unit(
    spark: SparkSession, jobs: Jobs, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a faulty library would: it has written one file less, and says nothing."""
    from spark_jobs.adapters.spark.appending import AvroAppender

    folder = _avro(
        spark, database, {f"{n}.avro": container(_record("long"), [[number(n)]]) for n in range(4)}, "BIGINT"
    )
    before, honest = data_files(folder), AvroAppender._append
    monkeypatch.setattr(
        AvroAppender,
        "_append",
        lambda self, request, files, target: honest(self, request, files[:-1], target),
    )
    (unit,) = only(jobs("compact", "--table", f"{database}.t"))["units"]
    assert (unit["outcome"], data_files(folder)) == ("failed", before)
    assert "does not have the blocks" in unit["reason"]
