"""Counts the bytes of text, independently of the readers that split it into lines.

Files of text do not count their lines. What a lenient reader left out would be missing on both sides of a comparison by
the same reader. So each byte is accounted for: the bytes of a file are those of its lines and one line feed for each
of them, but for the last line, which may lack it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from spark_jobs.adapters.hadoop.file_bytes import file_sizes
from spark_jobs.adapters.spark.catalyst import RowCalls, text
from spark_jobs.adapters.spark.data_configuration import data_configuration
from spark_jobs.adapters.spark.formats.codecs import SETTING
from spark_jobs.adapters.spark.formats.spark_format import SparkFormat
from spark_jobs.core.formats.registry import TEXT
from spark_jobs.core.messages.errors import VerificationFailed
from spark_jobs.protocol.ports import RewriteRequest

_COMMONS = "org.apache.commons"
_STRING = "java.lang.String"
_LINE_FEED = "\n"


class TextBytes:
    """The bytes of text files, after decompression."""

    def __init__(self, spark: SparkSession, formats: Mapping[str, SparkFormat]) -> None:
        self._spark = spark
        self._jvm: Any = spark._jvm
        self._formats = formats

    @cached_property
    def _conf(self) -> Any:
        """Return Hadoop's configuration, with the codecs by which Spark's reader decompresses."""
        conf, codecs = data_configuration(self._spark), self._formats[TEXT].options.get(SETTING)
        if codecs is not None:
            conf.set(SETTING, codecs)
        return conf

    def check(self, request: RewriteRequest, rows: int, line_bytes: int) -> None:
        """Compare the bytes of the files that were read, and of those that were written, with those of the lines.

        Args:
            rows: the number of lines that were read.
            line_bytes: the sum of their bytes, without line feeds.

        Raises:
            VerificationFailed: a byte belongs to no line, or a line to no bytes.
        """
        expected = rows + line_bytes
        for what, sizes in (("read", self._read(request)), ("written", self._written(request))):
            if sizes != expected:  # guard: each_byte_counted
                raise VerificationFailed(
                    f"the files that were {what} hold {sizes} bytes with all line ends, but their {rows} lines have"
                    f" {expected}: lines were left out"
                )

    def _read(self, request: RewriteRequest) -> int:
        """Return the bytes of the files that were read, and of a line feed for each last line that lacks it."""
        if request.profile.unended is not None:
            return request.inputs.bytes + request.profile.unended
        sizes = self._sizes(request.files)
        return sum(sizes.values()) + self._unended({path: size for path, size in sizes.items() if size})

    def _written(self, request: RewriteRequest) -> int:
        """Return the bytes of the files that were written. Spark ends each line with a line feed."""
        sizes = file_sizes(self._jvm, self._conf, request.target)
        return sum((sizes if request.profile.codec == "none" else self._sizes(list(sizes))).values())

    def _sizes(self, paths: Sequence[str]) -> dict[str, int]:
        """Return the bytes of each file after decompression."""
        sizes = self._files.sizes(paths) if paths else []
        return {str(path): int(size) for path, size in sizes}

    def _unended(self, sizes: Mapping[str, int]) -> int:
        """Return how many of these files, none of which is empty, do not end with a line feed."""
        return sum(last != _LINE_FEED for (last,) in self._files.last(sizes)) if sizes else 0

    @cached_property
    def _files(self) -> _Files:
        return _Files(self._spark, self._conf)


class _Files(RowCalls):
    """Streams of files, with (path, all bytes but one) in a row. All streams are closed at their ends."""

    def __init__(self, spark: SparkSession, conf: Any) -> None:
        typed = {"path": text(0), "before_last": text(1).cast("long")}
        more = {"yes": F.lit(True), "no": F.lit(False), "latin": F.lit("ISO-8859-1")}
        super().__init__(spark, {**typed, **more}, conf)

    def sizes(self, paths: Sequence[str]) -> list[tuple[Any, ...]]:
        """Return the path and the bytes of each file."""
        return self.evaluate([(path, 0) for path in paths], self._sizes)

    def last(self, sizes: Mapping[str, int]) -> list[tuple[Any, ...]]:
        """Return what follows all bytes but one of each file, each byte as the character of its number."""
        return self.evaluate([(path, size - 1) for path, size in sizes.items()], self._last)

    @cached_property
    def _sizes(self) -> Any:
        nothing = self.new("org.apache.hadoop.io.IOUtils$NullOutputStream")
        yes, no = self.column("yes"), self.column("no")
        size = self.static(
            "org.apache.spark.util.Utils", "copyStream", "long", self._unpacked(), nothing, yes, no
        )
        return self.answers(self.column("path"), size)

    @cached_property
    def _last(self) -> Any:
        rest = self.after(self._unpacked(), "skip", self.column("before_last"))
        closing = self.new(f"{_COMMONS}.io.input.AutoCloseInputStream", rest)
        text = self.static(f"{_COMMONS}.io.IOUtils", "toString", _STRING, closing, self._latin())
        return self.answers(
            self.static("org.apache.spark.unsafe.types.UTF8String", "fromString", "string", text)
        )

    def _latin(self) -> Any:
        """Return the name of the encoding in which each byte is a character."""
        return self.invoke(self.column("latin"), "toString", _STRING)

    def _unpacked(self) -> Any:
        """Return the stream of a file, decompressed by the codec that Hadoop chooses by its extension, if any."""
        factory = self.new("org.apache.hadoop.io.compress.CompressionCodecFactory", self.conf())
        codec = self.invoke(
            factory, "getCodec", "org.apache.hadoop.io.compress.CompressionCodec", self.path("path")
        )
        unpacked = self.invoke(codec, "createInputStream", "java.io.InputStream", self.opened("path"))
        return self.first(unpacked, self.opened("path"))
