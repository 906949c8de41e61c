"""Sequence files: each record keeps its bytes, whatever the cluster's settings say."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from spark_jobs.core.values.model import FileListing
from tests.harness.fixtures import Database
from tests.harness.sampling import sampled
from tests.spark.toolbox import Jobs, cluster_settings, data_files, only

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Records are copied by the libraries of Avro and Hadoop.
pytestmark = pytest.mark.one_version

_IO = "org.apache.hadoop.io"
_CLASSES = {"TEXT": "Text", "BYTES": "BytesWritable", "DOUBLE": "DoubleWritable"}


def _sequence(
    spark: SparkSession,
    database: Database,
    packing: str,
    kind: str = "TEXT",
    files: int = 4,
    records: int = 300,
) -> Path:
    """Sequence files by Hadoop's own writer."""
    jvm, conf = spark._jvm, spark._jsc.hadoopConfiguration()
    folder = database.path / "t"
    folder.mkdir(parents=True)
    hadoop, writer_of = jvm.org.apache.hadoop, jvm.org.apache.hadoop.io.SequenceFile.Writer
    value_class = jvm.java.lang.Class.forName(f"{_IO}.{_CLASSES[kind]}")
    for number_of_file in range(files):
        options = spark.sparkContext._gateway.new_array(writer_of.Option, 4)
        options[0] = writer_of.file(hadoop.fs.Path(f"file:{folder}/{number_of_file}"))
        options[1] = writer_of.keyClass(jvm.java.lang.Class.forName(f"{_IO}.NullWritable"))
        options[2] = writer_of.valueClass(value_class)
        options[3] = writer_of.compression(
            getattr(jvm.org.apache.hadoop.io.SequenceFile.CompressionType, packing)
        )
        writer = jvm.org.apache.hadoop.io.SequenceFile.createWriter(conf, options)
        try:
            for n in range(records):
                value = getattr(hadoop.io, _CLASSES[kind])()
                _set(jvm, value, kind, b"%d,%s\xff\xfe" % (n, b"x" * (n % 50)))
                writer.append(hadoop.io.NullWritable.get(), value)
        finally:
            writer.close()
        (folder / f".{number_of_file}.crc").unlink(missing_ok=True)
    spark.sql(
        f"CREATE EXTERNAL TABLE {database}.t (v STRING) STORED AS SEQUENCEFILE LOCATION '{folder.as_uri()}'"
    )
    return folder


def _set(jvm: Any, value: Any, kind: str, content: bytes) -> None:
    if kind == "DOUBLE":
        value.set(jvm.java.lang.Double.longBitsToDouble(0x7FF00000000007A2))
    else:
        value.set(content, 0, len(content))


def _values(spark: SparkSession, folder: Path) -> Counter[bytes]:
    """The raw bytes of all values, by Hadoop's own reader."""
    jvm, conf = spark._jvm, spark._jsc.hadoopConfiguration()
    found: Counter[bytes] = Counter()
    for name in data_files(folder):
        reader_of = jvm.org.apache.hadoop.io.SequenceFile.Reader
        options = spark.sparkContext._gateway.new_array(reader_of.Option, 1)
        options[0] = reader_of.file(jvm.org.apache.hadoop.fs.Path(f"file:{folder}/{name}"))
        reader = reader_of(conf, options)
        key, raw = jvm.org.apache.hadoop.io.DataOutputBuffer(), reader.createValueBytes()
        while reader.nextRaw(key, raw) >= 0:
            out = jvm.java.io.ByteArrayOutputStream()
            raw.writeUncompressedBytes(jvm.java.io.DataOutputStream(out))
            found[bytes(out.toByteArray())] += 1
            key.reset()
        reader.close()
    return found


PACKINGS = ["NONE", "RECORD", "BLOCK"]


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("kind", sampled(["TEXT", "BYTES"], "BYTES"))
def test_sequences_keep_their_bytes(
    spark: SparkSession, jobs: Jobs, database: Database, kind: str, packing: str
) -> None:
    folder = _sequence(spark, database, packing, kind)
    before = _values(spark, folder)
    (unit,) = only(jobs("compact", "--table", f"{database}.t"))["units"]
    assert (unit["outcome"], unit["rows"]) == ("compacted", 1200), unit
    assert len(data_files(folder)) == 1
    assert _values(spark, folder) == before


def _older(content: bytes, version: int) -> bytes:
    """A sequence file as older releases of Hadoop wrote it; its records are the same."""
    place, names = 4, []
    for _ in range(2):
        length = content[place]
        names.append(content[place + 1 : place + 1 + length])
        place += 1 + length
    packed, blocks = content[place], content[place + 1]
    codec_end = place + 2 + (1 + content[place + 2] if packed else 0)
    codec = content[place + 2 : codec_end]
    found = b"SEQ" + bytes([version])
    for name in names:
        found += (len(name).to_bytes(2, "big") if version < 4 else bytes([len(name)])) + name
    found += bytes([packed, blocks][: max(0, version - 2)]) + (codec if version > 4 else b"")
    return found + content[codec_end + 4 :]


@pytest.mark.parametrize(
    "form", sampled([(2, "NONE"), (3, "NONE"), *((n, p) for n in (4, 5) for p in PACKINGS)], (4, "BLOCK"))
)
def test_sequences_of_older_versions_keep_their_bytes(
    spark: SparkSession, jobs: Jobs, database: Database, form: tuple[int, str]
) -> None:
    version, packing = form
    folder = _sequence(spark, database, packing)
    before = _values(spark, folder)
    for path in folder.iterdir():
        path.write_bytes(_older(path.read_bytes(), version))
    assert _values(spark, folder) == before
    (unit,) = only(jobs("compact", "--table", f"{database}.t"))["units"]
    assert (unit["outcome"], unit["rows"]) == ("compacted", 1200), unit
    assert _values(spark, folder) == before


@pytest.mark.full
@pytest.mark.parametrize("packing", ["NONE", "BLOCK"])
def test_a_nan_in_a_sequence_file_keeps_its_bits(
    spark: SparkSession, jobs: Jobs, database: Database, packing: str
) -> None:
    folder = _sequence(spark, database, packing, "DOUBLE", records=3)
    before = _values(spark, folder)
    (unit,) = only(jobs("compact", "--table", f"{database}.t"))["units"]
    assert unit["outcome"] == "compacted", unit
    assert _values(spark, folder) == before


@pytest.mark.parametrize("packing", sampled(PACKINGS, "RECORD"))
@pytest.mark.parametrize("lenient", sampled([True, False], True))
def test_a_damaged_stretch_of_a_sequence_file_is_never_left_out(
    spark: SparkSession, jobs: Jobs, database: Database, packing: str, lenient: bool
) -> None:
    folder = _sequence(spark, database, packing, records=2000)
    damaged = folder / "2"
    content = damaged.read_bytes()
    damaged.write_bytes(content[: len(content) // 2] + b"\xee" * 400 + content[len(content) // 2 + 400 :])
    before = data_files(folder)
    values = _values(spark, folder) if packing == "BLOCK" else None
    with cluster_settings(spark, {"io.skip.checksum.errors": str(lenient).lower()}):
        (unit,) = only(jobs("compact", "--table", f"{database}.t"))["units"]
    if values is not None:
        # Within a block Hadoop's reader does not see the damage. Each reader has the same values as before.
        assert (unit["rows"], _values(spark, folder)) == (8000, values), unit
        return
    assert (unit["code"], data_files(folder)) == ("UNREADABLE", before), unit
    # The reader says so, or what counts beside it, although the cluster allows to leave out the stretch.
    assert unit["reason"].startswith("2 cannot be read: ")


def test_records_that_the_reader_leaves_out_on_both_sides_fail_the_unit(
    spark: SparkSession, jobs: Jobs, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    from spark_jobs.adapters.spark.copying import Copier

    folder = _sequence(spark, database, "NONE", records=50)
    before, honest = data_files(folder), Copier.pairs

    def lenient(self: Copier, request: Any, paths: Any, *classes: str) -> Any:
        return honest(self, request, [path for path in paths if not path.endswith("/2")], *classes)

    monkeypatch.setattr(Copier, "pairs", lenient)
    (unit,) = only(jobs("compact", "--table", f"{database}.t"))["units"]
    assert (unit["outcome"], data_files(folder)) == ("failed", before)
    assert "200 records, but 150 were read" in unit["reason"]


#: By what lacks its jar: how values are packed, a class in the headers, and one that no jar has.
LACKING = {
    "class": ("NONE", b"org.apache.hadoop.io.Text", b"com.example.its.own.Value"),
    "codec": ("BLOCK", b"compress.DefaultCodec", b"compress.MissingCodec"),
}


@pytest.mark.parametrize("what", LACKING)
def test_what_no_jar_has_is_named(spark: SparkSession, jobs: Jobs, database: Database, what: str) -> None:
    kind, known, missing = LACKING[what]
    folder = _sequence(spark, database, kind, records=5)
    for path in folder.iterdir():
        path.write_bytes(path.read_bytes().replace(known, missing))
    before = data_files(folder)
    for verb in ("analyze", "compact"):
        (unit,) = only(jobs(verb, "--table", f"{database}.t"))["units"]
        assert (unit["outcome"], unit["code"]) == ("skipped", "CODEC"), unit
        assert missing.decode() in unit["reason"]
    assert data_files(folder) == before


def test_a_table_is_left_alone_where_readers_of_the_cluster_leave_out_files(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    """They would leave out what is written, or show rows that they have left out. This class cannot even be loaded."""
    folder = _sequence(spark, database, "NONE", records=5)
    before = data_files(folder)
    with cluster_settings(spark, {"mapreduce.input.pathFilter.class": "com.example.Filter"}):
        for verb in ("analyze", "compact"):
            report = only(jobs(verb, "--table", f"{database}.t"))
            assert (report["outcome"], report["code"]) == ("refused", "FILE_FILTER"), report
            assert "mapreduce.input.pathFilter.class=com.example.Filter" in report["reason"]
    assert data_files(folder) == before


def test_a_filter_that_these_jobs_set_to_nothing_is_not_asked(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    _sequence(spark, database, "NONE", records=5)
    with cluster_settings(spark, {"mapreduce.input.pathFilter.class": ""}):
        (unit,) = only(jobs("compact", "--table", f"{database}.t"))["units"]
    assert (unit["outcome"], unit["rows"]) == ("compacted", 20), unit


def test_records_that_were_not_written_fail_the_unit(
    spark: SparkSession, jobs: Jobs, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    from spark_jobs.adapters.spark.copying import Copier

    folder = _sequence(spark, database, "NONE", records=50)
    before, honest = data_files(folder), Copier.write

    def faulty(self: Copier, request: Any) -> None:
        honest(self, replace(request, inputs=FileListing.of(request.inputs.files[:-1])))

    monkeypatch.setattr(Copier, "write", faulty)
    (unit,) = only(jobs("compact", "--table", f"{database}.t"))["units"]
    assert (unit["outcome"], data_files(folder)) == ("failed", before)
    assert "what was written is not what was read" in unit["reason"]


def test_a_text_with_a_variable_is_no_setting(spark: SparkSession) -> None:
    from spark_jobs.adapters.spark.copying import Copier
    from spark_jobs.core.messages.errors import Refusal

    with pytest.raises(Refusal, match="has a variable"):
        Copier(spark, {})._conf({"name": "a ${env.HOME}"})
