"""Compression codecs that the cluster names and this driver cannot load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from spark_jobs.adapters.spark.formats.codecs import SETTING, codec_factory

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_GZIP, _BZIP2 = "org.apache.hadoop.io.compress.GzipCodec", "org.apache.hadoop.io.compress.BZip2Codec"
_LZO, _LZOP = "com.hadoop.compression.lzo.LzoCodec", "com.hadoop.compression.lzo.LzopCodec"


def _configured(spark: SparkSession, value: str | None) -> tuple[Any, Any]:
    jvm: Any = spark._jvm
    conf = jvm.org.apache.hadoop.conf.Configuration(spark._jsc.hadoopConfiguration())  # type: ignore[attr-defined]
    if value is not None:
        conf.set(SETTING, value)
    return jvm, conf


@pytest.mark.parametrize(
    ("value", "missing"),
    [
        (f"{_GZIP},{_LZO},{_BZIP2},{_LZOP}", [_LZO, _LZOP]),
        (f"\n  {_LZO} ,\n  {_GZIP}\n", [_LZO]),
        (_LZO, [_LZO]),
        ("java.lang.String", ["java.lang.String"]),
        (
            "org.apache.hadoop.io.compress.CompressionCodec",
            ["org.apache.hadoop.io.compress.CompressionCodec"],
        ),
        (f"{_GZIP}, {_BZIP2}", []),
        ("", []),
        (None, []),
    ],
)
def test_what_cannot_be_loaded_is_left_out_and_named(
    spark: SparkSession, value: str | None, missing: list[str]
) -> None:
    jvm, conf = _configured(spark, value)
    before = conf.get(SETTING)
    factory, left_out, _ = codec_factory(jvm, conf)
    assert left_out == missing
    assert conf.get(SETTING) == before
    path = jvm.org.apache.hadoop.fs.Path
    assert factory.getCodec(path("/t/a.txt")) is None
    assert factory.getCodec(path("/t/a.lzo")) is None
    assert factory.getCodec(path("/t/a.gz")).getClass().getName() == _GZIP
