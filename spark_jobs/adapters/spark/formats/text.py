"""Text: read and written by Spark line by line. All bytes within the lines are kept."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from spark_jobs.adapters.spark.formats.codecs import SETTING, Codecs, codec_factory
from spark_jobs.adapters.spark.formats.headers import HeaderFormat, header, refuse_missing_class
from spark_jobs.core.formats import bzip2, plain_text
from spark_jobs.core.formats.encoding import Encoding
from spark_jobs.core.formats.footers import Footer, Profile
from spark_jobs.core.formats.magic import binary_format, codec_extension
from spark_jobs.core.messages.errors import Refusal, Unreadable
from spark_jobs.core.messages.refusals import RefusalCode
from spark_jobs.core.values.model import name_of
from spark_jobs.core.values.once import once

#: A line, as Spark reads it.
_LINE = json.dumps(
    {"type": "struct", "fields": [{"name": "value", "type": "string", "nullable": True, "metadata": {}}]}
)
#: The byte order mark of UTF-8.
_BOM = b"\xef\xbb\xbf"
_LINE_FEED = b"\n"
#: The extension of files that Hadoop's codec for bzip2 reads.
_BZIP2 = ".bz2"
#: The number of bytes at both ends of a file by which binary formats are recognized.
_END = 8
#: A line ends at a line feed only, so that all other bytes are kept. No line is too long: Hadoop's reader would leave
#: it out without an error. Without a buffer, it finds no line at all; the size is Spark's own default.
_LINES = {  # guard: no_line_is_skipped
    "lineSep": "\n",
    "mapreduce.input.linerecordreader.line.maxlength": "2147483647",
    "io.file.buffer.size": "65536",
}


class TextFormat(HeaderFormat):
    """Text. Its files have no header; samples of their bytes show whether they are text."""

    @once
    def _codecs(self) -> Codecs:
        """Return Hadoop's codecs: only for tables of text."""
        return codec_factory(self._jvm, self._conf)

    @cached_property
    def options(self) -> Mapping[str, str]:  # type: ignore[override]
        # Executors look for the codec of a file in the same classes as the driver.
        codecs = self._codecs
        return {**_LINES, **({SETTING: codecs.conf.get(SETTING)} if codecs.missing else {})}

    @property
    def _without(self) -> str:
        missing = self._codecs.missing
        return f" ({SETTING} names {', '.join(missing)}, which cannot be loaded)" if missing else ""

    def _header(self, path: Any, size: int) -> Footer:
        codec = self._codecs.factory.getCodec(path)
        stream = path.getFileSystem(self._conf).open(path)
        try:
            if codec is not None:
                return self._compressed(path, size, codec, stream)
            return self._plain(path, size, stream)
        finally:
            stream.close()

    def _compressed(self, path: Any, size: int, codec: Any, stream: Any) -> Footer:
        if str(codec.getDefaultExtension()) == _BZIP2:
            self._check_end(path, size, stream)
        try:
            unpacked = codec.createInputStream(stream)
        except Exception as error:
            refuse_missing_class(path, error)
            raise
        try:
            _check_mark(path, self._next(unpacked, len(_BOM)))
        finally:
            unpacked.close()
        return header(path, {str(codec.getClass().getName()): size}, "text", _LINE)

    def _check_end(self, path: Any, size: int, stream: Any) -> None:
        """Raise Unreadable for a file of bzip2 that is cut off."""
        tail = self._bytes(stream, max(0, size - bzip2.TAIL), bzip2.TAIL)
        if size and not bzip2.is_complete(tail):  # guard: end_of_bzip2
            why = f"no bzip2 stream ends in its last {bzip2.TAIL} bytes: it is cut off, or other bytes follow"
            raise Unreadable(str(path.toString()), why)
        stream.seek(0)

    def _plain(self, path: Any, size: int, stream: Any) -> Footer:
        """Return the footer of a file that no codec of this cluster reads. Raise Refusal unless its bytes are text."""
        name, samples = name_of(str(path.toString())), self._samples(stream, size)
        extension = codec_extension(name)
        kind = binary_format(samples[0][:_END], samples[-1][-_END:]) if extension is None else None
        if kind:
            raise Refusal(RefusalCode.SERDE, f"{name} is a file of {kind}, but the table reads it as text")
        why = f"{extension} is the extension of a codec that this Spark lacks" if extension else None
        why = why or plain_text.why_not_text(samples)
        if why:  # guard: text_is_proved
            raise Refusal(RefusalCode.NOT_TEXT, f"{name} is not shown to be plain text: {why}{self._without}")
        _check_mark(path, samples[0])
        return replace(
            header(path, {"none": size}, "text", _LINE),
            not_utf8=plain_text.why_not_utf8(samples),
            unended=int(not samples[-1].endswith(_LINE_FEED)),
        )

    def _samples(self, stream: Any, size: int) -> list[bytes]:
        """Return the bytes at the beginning, in the middle and at the end of a file; all of a small one."""
        if size <= 3 * plain_text.SAMPLE:
            return [self._bytes(stream, 0, size)]
        places = (0, (size - plain_text.SAMPLE) // 2, size - plain_text.SAMPLE)
        return [self._bytes(stream, place, plain_text.SAMPLE) for place in places]

    def encoding(self, profile: Profile) -> Encoding:
        return Encoding()


def _check_mark(path: Any, start: bytes) -> None:
    if start.startswith(_BOM):
        raise Refusal(
            RefusalCode.ENCODING, f"{path.toString()} begins with a byte order mark, which readers leave out"
        )
