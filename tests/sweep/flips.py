"""Other values of a setting, by its value: of a boolean the other one, of a number small, negative and large ones."""

from __future__ import annotations

import re
from collections.abc import Sequence

_NUMBER = re.compile(r"-?\d+(\.\d+)?\Z")
_SIZE = re.compile(r"-?\d+(b|k|kb|m|mb|g|gb|t|tb|s|ms|min|h|d)\Z", re.IGNORECASE)
_CLASS = re.compile(r"([a-z_$][\w$]*\.)+[A-Z][\w$]*\Z")
_LARGE = str(2**31 - 1)
#: Values for a setting without one: nothing tells of which kind it is.
_ANY = ("true", "false", "0", "-1", "1", _LARGE, "x")


_COMPRESSIONS = ("NONE", "SNAPPY", "ZLIB", "LZ4", "ZSTD")
#: Words and classes that some settings of Hadoop take: nothing in their values tells.
_KNOWN: dict[str, Sequence[str]] = {
    "fs.AbstractFileSystem.file.impl": ("org.apache.hadoop.fs.local.RawLocalFs",),
    "hive.exec.orc.default.compress": _COMPRESSIONS,
    "hive.exec.orc.encoding.strategy": ("SPEED", "COMPRESSION"),
    "hive.exec.orc.write.format": ("0.11", "0.12"),
    "io.compression.codecs": (
        "org.apache.hadoop.io.compress.BZip2Codec",
        "org.apache.hadoop.io.compress.DefaultCodec,org.apache.hadoop.io.compress.GzipCodec",
    ),
    "io.serializations": ("org.apache.hadoop.io.serializer.JavaSerialization",),
    "mapreduce.input.pathFilter.class": (
        "org.apache.hadoop.mapred.Utils$OutputFileUtils$OutputFilesFilter",
        "org.apache.hadoop.mapred.Utils$OutputFileUtils$OutputLogFilter",
    ),
    "mapreduce.job.outputformat.class": ("org.apache.hadoop.mapreduce.lib.output.NullOutputFormat",),
    "mapreduce.output.fileoutputformat.compress.codec": (
        "org.apache.hadoop.io.compress.GzipCodec",
        "org.apache.hadoop.io.compress.BZip2Codec",
    ),
    "mapreduce.output.fileoutputformat.compress.type": ("NONE", "RECORD", "BLOCK"),
    "mapreduce.outputcommitter.factory.class": (
        "org.apache.hadoop.mapreduce.lib.output.NamedCommitterFactory",
        "org.apache.hadoop.mapreduce.lib.output.BindingPathOutputCommitter",
    ),
    "orc.compress": _COMPRESSIONS,
    "orc.encoding.strategy": ("SPEED", "COMPRESSION"),
    "orc.include.columns": ("0", "1"),
    "orc.write.format": ("0.11", "0.12"),
    "parquet.compression": ("UNCOMPRESSED", "SNAPPY", "GZIP", "ZSTD"),
    "parquet.crypto.factory.class": ("org.apache.parquet.crypto.keytools.PropertiesDrivenCryptoFactory",),
    "parquet.writer.version": ("PARQUET_1_0", "PARQUET_2_0", "v2"),
    "spark.sql.parquet.output.committer.class": (
        "org.apache.hadoop.mapreduce.lib.output.PartialFileOutputCommitter",
    ),
    "spark.sql.sources.commitProtocolClass": (
        "org.apache.spark.internal.io.HadoopMapReduceCommitProtocol",
        "org.apache.spark.sql.execution.streaming.ManifestFileCommitProtocol",
    ),
    "spark.sql.sources.outputCommitterClass": (
        "org.apache.hadoop.mapreduce.lib.output.PartialFileOutputCommitter",
    ),
}


def flips(name: str, value: str | None, words: Sequence[str] = ()) -> list[str]:
    """Return the values to try.

    Args:
        value: the value that the setting has, or its default.
        words: what it may be, if that is known.
    """
    more = [word for word in (*_KNOWN.get(name, ()), *words) if word != value]
    return [*more, *(each for each in _by_value(value) if each not in more)]


def _by_value(value: str | None) -> list[str]:
    if value is None or not value.strip():
        return list(_ANY)
    text = value.strip()
    if text.lower() in ("true", "false"):
        return ["false" if text.lower() == "true" else "true"]
    if _NUMBER.match(text):
        return [each for each in ("0", "1", "-1", _LARGE) if each != text]
    if _SIZE.match(text):
        unit = text.lstrip("-0123456789.")
        return [f"{each}{unit}" for each in ("0", "1", "-1", "100000") if f"{each}{unit}" != text]
    if _CLASS.match(text):
        return ["com.example.Missing", "java.lang.Object"]
    return ["x", ""]
