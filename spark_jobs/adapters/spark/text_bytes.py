"""Counts the bytes of text, independently of the readers that split it into lines.

Files of text do not count their lines. What a lenient reader left out would be missing on both sides of a comparison by
the same reader. So each byte is accounted for: the bytes of a file are those of its lines and one line feed for each
of them, but for the last line, which may lack it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from spark_jobs.adapters.hadoop.file_bytes import file_sizes
from spark_jobs.adapters.spark.catalyst import RowCalls
from spark_jobs.adapters.spark.data_configuration import data_configuration
from spark_jobs.adapters.spark.formats.codecs import codec_factory
from spark_jobs.core.errors import VerificationFailed
from spark_jobs.protocol.ports import RewriteRequest

_COMMONS = "org.apache.commons"


class TextBytes:
    """The bytes of text files, after decompression."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._jvm: Any = spark._jvm
        self._codecs, _, self._conf = codec_factory(self._jvm, data_configuration(spark))

    def check(self, request: RewriteRequest, rows: int, line_bytes: int) -> None:
        """Compare the bytes of the files that were read, and of those that were written, with those of the lines.

        Args:
            rows: the number of lines that were read.
            line_bytes: the sum of their bytes, without line feeds.

        Raises:
            VerificationFailed: a byte belongs to no line, or a line to no bytes.
        """
        expected = rows + line_bytes
        for what, found in (("read", self._read(request)), ("written", self._written(request))):
            if found != expected:  # guard: each_byte_counted
                raise VerificationFailed(
                    f"the files that were {what} hold {found} bytes with all line ends, but their {rows} lines have"
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
        found = file_sizes(self._jvm, self._conf, request.target)
        return sum((found if request.profile.codec == "none" else self._sizes(list(found))).values())

    def _sizes(self, paths: Sequence[str]) -> dict[str, int]:
        """Return the bytes of each file after decompression."""
        found = [
            row
            for packed, part in self._parts(paths)
            for row in self._files([[path] for path in part], packed).sizes()
        ]
        return {str(path): int(size) for path, size in found}

    def _unended(self, sizes: Mapping[str, int]) -> int:
        """Return how many of these files, none of which is empty, do not end with a line feed."""
        unended = 0
        for packed, part in self._parts(list(sizes)):
            files = self._files([[path, sizes[path] - 1] for path in part], packed)
            unended += sum(whole != ended for whole, ended in files.digests())
        return unended

    def _parts(self, paths: Sequence[str]) -> list[tuple[bool, list[str]]]:
        """Return the files with a codec, and those without one."""
        parts: dict[bool, list[str]] = {}
        for path in paths:
            codec = self._codecs.getCodec(self._jvm.org.apache.hadoop.fs.Path(path))
            parts.setdefault(codec is not None, []).append(path)
        return list(parts.items())

    def _files(self, rows: Sequence[Sequence[object]], packed: bool) -> _Files:
        return _Files(self._spark, rows, self._conf, packed)


class _Files(RowCalls):
    """Streams of files, as the path and all bytes but one in a row. All streams are closed at their ends."""

    def __init__(
        self, spark: SparkSession, rows: Sequence[Sequence[object]], conf: Any, packed: bool
    ) -> None:
        self._packed = packed
        last = {"before_last": F.col("v1").cast("long")} if len(rows[0]) > 1 else {}
        more = {"yes": F.lit(True), "no": F.lit(False), "line_feed": F.lit("\n").cast("binary")}
        super().__init__(spark, rows, {"path": F.col("v0"), **last, **more}, conf)

    def sizes(self) -> list[tuple[Any, ...]]:
        """Return the path and the bytes of each file."""
        nothing = self.new("org.apache.hadoop.io.IOUtils$NullOutputStream")
        yes, no = self.column("yes"), self.column("no")
        size = self.static(
            "org.apache.spark.util.Utils", "copyStream", "long", self._unpacked(), nothing, yes, no
        )
        return self.evaluate(self.column("path"), size)

    def digests(self) -> list[tuple[Any, ...]]:
        """Return two digests of each file: of its bytes; and of the same with a line feed as the last one."""
        part = self.new(
            f"{_COMMONS}.io.input.BoundedInputStream", self._unpacked(), self.column("before_last")
        )
        feed = self.new("java.io.ByteArrayInputStream", self.column("line_feed"))
        ended = self.new("java.io.SequenceInputStream", part, feed)
        whole = self.new(f"{_COMMONS}.io.input.AutoCloseInputStream", self._unpacked())
        return self.evaluate(self._digest(whole), self._digest(ended))

    def _digest(self, stream: Any) -> Any:
        text = self.static(f"{_COMMONS}.codec.digest.DigestUtils", "sha256Hex", "java.lang.String", stream)
        return self.static("org.apache.spark.unsafe.types.UTF8String", "fromString", "string", text)

    def _unpacked(self) -> Any:
        """Return the stream of a file, after decompression by the codec that Hadoop chooses by its extension."""
        opened = self.opened("path")
        if not self._packed:
            return opened
        factory = self.new("org.apache.hadoop.io.compress.CompressionCodecFactory", self.conf())
        codec = self.invoke(
            factory, "getCodec", "org.apache.hadoop.io.compress.CompressionCodec", self.path("path")
        )
        return self.invoke(codec, "createInputStream", "java.io.InputStream", opened)
