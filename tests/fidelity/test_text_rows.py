"""Text: each byte is accounted for, whatever the cluster's settings say, and what is not plain text is left alone."""

from __future__ import annotations

import bz2
import gzip
import random
import struct
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.harness.fixtures import Database
from tests.harness.sampling import sampled
from tests.spark.toolbox import Jobs, cluster_settings, data_files, only

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Lines are read by Hadoop's own classes.
pytestmark = pytest.mark.one_version

LINES = [b"%d,%s" % (number, b"x" * (number * 7 % 90)) for number in range(200)]
TEXT = b"\n".join(LINES) + b"\n"


def _table(spark: SparkSession, database: Database, files: dict[str, bytes], properties: str = "") -> str:
    folder = database.path / "t"
    folder.mkdir(parents=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    spark.sql(
        f"CREATE EXTERNAL TABLE {database}.t (a STRING) STORED AS TEXTFILE LOCATION '{folder.as_uri()}' {properties}"
    )
    return f"{database}.t"


def _blocks(content: bytes) -> bytes:
    """A file as Hadoop's block codecs write it (lzo_deflate, snappy, lz4): two lengths, then a packed block."""
    packed = content.replace(b"xxxxxxxx", b"\x2f\x00\x01")
    return struct.pack(">II", len(content), len(packed)) + packed


#: By name: the name and the content of a file that is no plain text, however the table is declared.
NOT_TEXT = {
    "a codec that Spark lacks": ("000000_0.lzo_deflate", _blocks(TEXT)),
    "the extension of a codec, and bytes like text": ("000000_0.lzo", TEXT),
    "an encrypted file": ("000000_0.gpg", TEXT),
    "blocks without an extension": ("000000_0", _blocks(TEXT)),
    "an unknown extension, blocks": ("000000_0.vendor", _blocks(TEXT)),
    "random bytes": ("000000_0", random.Random(1).randbytes(5000)),
    "a few random bytes": ("000000_0", random.Random(2).randbytes(24)),
    "text first, then random bytes": ("000000_0", TEXT[:2000] + random.Random(3).randbytes(9000)),
    "random bytes in the middle": ("000000_0", TEXT[:3000] + random.Random(4).randbytes(9000) + TEXT[:3000]),
    "random bytes at the end": ("000000_0", TEXT * 3 + random.Random(5).randbytes(2000)),
    "two bytes for each character": ("000000_0", TEXT.decode().encode("utf-16-le")),
    "an old compressor": ("000000_0.Z", b"\x1f\x9d\x90" + TEXT),
}


@pytest.mark.parametrize("case", sampled(NOT_TEXT, "a codec that Spark lacks", "random bytes at the end"))
def test_a_file_that_is_not_shown_to_be_plain_text_is_left_alone(
    spark: SparkSession, jobs: Jobs, database: Database, case: str
) -> None:
    name, content = NOT_TEXT[case]
    table = _table(spark, database, {f"{number}-{name}": content for number in range(3)})
    before = data_files(database.path / "t")
    for verb in ("analyze", "compact"):
        (unit,) = only(jobs(verb, "--table", table))["units"]
        assert unit["outcome"] == "skipped", unit
        assert unit["code"] in ("NOT_TEXT", "SERDE"), unit
        assert name in unit["reason"], unit
    assert data_files(database.path / "t") == before


#: By name: contents that are plain text, with odd bytes as people have them.
PLAIN = {
    "no line ends": b"one line",
    "one byte": b"7",
    "Hive's separators": b"\x01".join([b"a", b"b\x02c", b"d\x03e\x04f", b"\\N"]) + b"\n",
    "German, Latin-1": "Grüße aus Köln, 12 Straßen\n".encode("latin-1") * 40,
    "Japanese": "東京都千代田区\t日本語\n".encode() * 200,
    "emoji": "😀 ok\n".encode() * 300,
    "a zero byte now and then": (
        b"value \x00 with a zero byte in a hundred bytes of text, as old programs write. " * 2
    )
    + b"\n",
    "empty lines": b"\n" * 50,
    "form feeds": b"page one\x0cpage two\r\n" * 9,
}


@pytest.mark.parametrize("case", sampled(PLAIN, "Hive's separators"))
def test_plain_text_is_compacted(spark: SparkSession, jobs: Jobs, database: Database, case: str) -> None:
    table = _table(spark, database, {f"00000{number}_0": PLAIN[case] for number in range(3)})
    (unit,) = only(jobs("compact", "--table", table))["units"]
    assert unit["outcome"] == "compacted", unit
    (name,) = data_files(database.path / "t")
    ended = PLAIN[case] if PLAIN[case].endswith(b"\n") else PLAIN[case] + b"\n"
    assert (database.path / "t" / name).read_bytes() == ended * 3


def test_another_encoding_is_text_where_the_table_declares_it(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    content = "Москва, улица Ленина\n".encode("koi8-r") * 30
    table = _table(spark, database, {f"{number}": content for number in range(3)})
    (unit,) = only(jobs("compact", "--table", table))["units"]
    assert (unit["outcome"], unit["code"]) == ("skipped", "NOT_TEXT"), unit
    assert "serialization.encoding" in unit["reason"]
    spark.sql(f"ALTER TABLE {table} SET SERDEPROPERTIES ('serialization.encoding'='KOI8-R')")
    (unit,) = only(jobs("compact", "--table", table))["units"]
    assert unit["outcome"] == "compacted", unit


PACKED = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress}
UNPACK = {"": bytes, ".gz": gzip.decompress, ".bz2": bz2.decompress}


@pytest.mark.parametrize("suffix", sampled(PACKED, ""))
@pytest.mark.parametrize(
    "settings",
    [
        {"mapreduce.input.linerecordreader.line.maxlength": "50"},
        {"mapred.linerecordreader.maxlength": "50"},
        {"textinputformat.record.delimiter": "\n"},
        {"io.file.buffer.size": "0"},
    ],
    ids=lambda each: next(iter(each)),
)
def test_settings_of_the_cluster_do_not_skip_lines(
    spark: SparkSession, jobs: Jobs, database: Database, settings: dict[str, str], suffix: str
) -> None:
    content = PACKED[suffix](TEXT)
    table = _table(spark, database, {f"{number}{suffix}": content for number in range(4)})
    with cluster_settings(spark, settings):
        (unit,) = only(jobs("compact", "--table", table))["units"]
    assert (unit["outcome"], unit["rows"]) == ("compacted", 4 * len(LINES)), unit
    (name,) = data_files(database.path / "t")
    written = UNPACK[suffix]((database.path / "t" / name).read_bytes())
    assert written == TEXT * 4


@pytest.mark.parametrize("suffix", sampled(PACKED, "", ".gz"))
@pytest.mark.parametrize("ended", sampled([True, False], False))
@pytest.mark.parametrize("lost", sampled(["long lines", "empty lines"], "empty lines"))
def test_lines_that_the_reader_leaves_out_on_both_sides_fail_the_unit(
    spark: SparkSession,
    jobs: Jobs,
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
    lost: str,
    ended: bool,
    suffix: str,
) -> None:
    """As a lenient reader would: the written files hold what it has read, and it reads the same of them again."""
    from pyspark.sql import functions as F

    from spark_jobs.adapters.spark.rewriter import Rewriter

    content = (TEXT + b"\n\n" + TEXT)[: None if ended else -1]
    table = _table(spark, database, {f"{number}{suffix}": PACKED[suffix](content) for number in range(4)})
    before, honest = data_files(database.path / "t"), Rewriter._inputs
    kept = F.length("value") < 60 if lost == "long lines" else F.length("value") > 0
    monkeypatch.setattr(Rewriter, "_inputs", lambda self, request: honest(self, request).where(kept))
    (unit,) = only(jobs("compact", "--table", table))["units"]
    assert (unit["outcome"], data_files(database.path / "t")) == ("failed", before)
    assert "bytes" in unit["reason"]


#: As every cluster with LZO has it, also where the driver lacks the jar.
_WITH_LZO = {
    "io.compression.codecs": "org.apache.hadoop.io.compress.GzipCodec,com.hadoop.compression.lzo.LzopCodec"
}


@pytest.mark.parametrize("suffix", sampled(PACKED, ""))
def test_text_without_lzo_is_compacted_where_the_cluster_has_it(
    spark: SparkSession, jobs: Jobs, database: Database, suffix: str
) -> None:
    table = _table(spark, database, {f"{number}{suffix}": PACKED[suffix](TEXT) for number in range(3)})
    with cluster_settings(spark, _WITH_LZO):
        (unit,) = only(jobs("compact", "--table", table))["units"]
    assert (unit["outcome"], unit["rows"]) == ("compacted", 3 * len(LINES)), unit


def test_a_codec_that_cannot_be_loaded_is_named(spark: SparkSession, jobs: Jobs, database: Database) -> None:
    table = _table(spark, database, {f"{number}.lzo": b"\x89LZO?" + TEXT for number in range(3)})
    with cluster_settings(spark, _WITH_LZO):
        (unit,) = only(jobs("analyze", "--table", table))["units"]
    assert (unit["outcome"], unit["code"]) == ("skipped", "NOT_TEXT"), unit
    assert "io.compression.codecs names com.hadoop.compression.lzo.LzopCodec" in unit["reason"]


#: What becomes of a packed file: the end is gone, or something is behind it that is no whole member.
ENDS: dict[str, Callable[[bytes], bytes]] = {
    "cut off": lambda content: content[:-900],
    "zeros": lambda content: content + bytes(512),
    "other bytes": lambda content: content + b"\xee" * 40,
    "half of a header": lambda content: content + content[:5],
    "a header": lambda content: content + content[:10],
    "half of a member": lambda content: content + content[: len(content) // 2],
}
#: Not the beginning of a member.
NO_MEMBER = ("zeros", "other bytes")


@pytest.mark.parametrize("suffix", sampled([".gz", ".bz2"], ".gz"))
@pytest.mark.parametrize("end", sampled(ENDS, "cut off", "zeros", "half of a member"))
def test_a_packed_file_with_another_end_is_named(
    spark: SparkSession, jobs: Jobs, database: Database, end: str, suffix: str
) -> None:
    content = PACKED[suffix](random.Random(6).randbytes(3000).hex().encode())
    files = {f"{number}{suffix}": content for number in range(5)}
    table = _table(spark, database, {**files, f"3{suffix}": ENDS[end](content)})
    before = data_files(database.path / "t")
    (unit,) = only(jobs("compact", "--table", table))["units"]
    if suffix == ".bz2" and end in NO_MEMBER:
        # To each reader of bzip2, Python's too, the file ends before them.
        assert (unit["outcome"], unit["rows"]) == ("compacted", 5), unit
        return
    assert (unit["code"], data_files(database.path / "t")) == ("UNREADABLE", before), unit
    assert f"3{suffix}" in unit["reason"]


@pytest.mark.parametrize("suffix", sampled([".gz", ".bz2"], ".gz"))
def test_all_members_of_a_packed_file_are_kept(
    spark: SparkSession, jobs: Jobs, database: Database, suffix: str
) -> None:
    member = PACKED[suffix](TEXT)
    table = _table(spark, database, {f"{number}{suffix}": member * (number + 1) for number in range(3)})
    (unit,) = only(jobs("compact", "--table", table))["units"]
    assert (unit["outcome"], unit["rows"]) == ("compacted", 6 * len(LINES)), unit
    (name,) = data_files(database.path / "t")
    assert UNPACK[suffix]((database.path / "t" / name).read_bytes()) == TEXT * 6


def _block_starts(packed: bytes) -> list[int]:
    """Return the bytes in which the blocks of a bzip2 stream begin. A block begins anywhere in a byte."""
    bits, mark = f"{int.from_bytes(packed, 'big'):0{len(packed) * 8}b}", f"{0x314159265359:048b}"
    starts = [at // 8 for at in range(len(bits)) if bits.startswith(mark, at)]
    assert len(starts) > 2
    return starts


@pytest.mark.parametrize("streams", [1, 2])
@pytest.mark.parametrize("beyond", [0, 1, 5])
def test_a_file_of_bzip2_that_is_cut_off_between_two_blocks_is_refused(
    spark: SparkSession, jobs: Jobs, database: Database, beyond: int, streams: int
) -> None:
    """Hadoop's reader takes what is there for the whole file, and a rewrite would make that final."""
    lines = b"".join(b"%d %s\n" % (n, random.Random(n).randbytes(30).hex().encode()) for n in range(4500))
    packed = bz2.compress(lines, 1)
    cut = packed[: _block_starts(packed)[1] + beyond]
    if streams == 2:
        equal = bz2.compress(b"equal\n" * 120_000, 1)
        cut = bz2.compress(b"x\n") + equal[: _block_starts(equal)[3] + beyond]
    small = {f"{name}.bz2": bz2.compress(b"x\n") for name in "bc"}
    table = _table(spark, database, {"a.bz2": cut, **small})
    before = data_files(database.path / "t")
    report = jobs("compact", "--table", table)
    (unit,) = only(report)["units"]
    assert (report["exit_code"], unit["outcome"], unit["code"]) == (0, "skipped", "UNREADABLE"), unit
    assert unit["reason"].startswith("a.bz2 cannot be read: ")
    assert data_files(database.path / "t") == before
