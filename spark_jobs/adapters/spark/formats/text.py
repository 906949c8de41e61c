"""Text: read and written by Spark line by line. All bytes within the lines are kept."""

from __future__ import annotations

import json
from typing import Any

from spark_jobs.adapters.spark.formats.headers import HeaderFormat, header
from spark_jobs.core.errors import Refusal
from spark_jobs.core.formats.encoding import Encoding
from spark_jobs.core.formats.footers import Footer, Profile
from spark_jobs.core.formats.magic import binary_format
from spark_jobs.core.refusals import RefusalCode

#: A line, as Spark reads it.
_LINE = json.dumps(
    {"type": "struct", "fields": [{"name": "value", "type": "string", "nullable": True, "metadata": {}}]}
)
#: The byte order mark of UTF-8.
_BOM = b"\xef\xbb\xbf"
#: The number of bytes at both ends of a file by which binary formats are recognized.
_END = 8


class TextFormat(HeaderFormat):
    """Text. Its files have no header; their first and last bytes show binary files in a text table."""

    #: A line ends at a line feed only, so that all other bytes are kept.
    options = {"lineSep": "\n"}

    def _header(self, path: Any, size: int) -> Footer:
        factory = self._jvm.org.apache.hadoop.io.compress.CompressionCodecFactory(self._conf)
        codec = factory.getCodec(path)
        name = str(codec.getClass().getName()) if codec is not None else "none"
        stream = path.getFileSystem(self._conf).open(path)
        try:
            head, tail = self._bytes(stream, 0, _END), self._bytes(stream, max(0, size - _END), _END)
            stream.seek(0)
            start = self._decompressed(codec, stream) if codec is not None else head
        finally:
            stream.close()
        if start.startswith(_BOM):
            raise Refusal(
                RefusalCode.ENCODING,
                f"{path.toString()} begins with a byte order mark, which readers leave out",
            )
        kind = binary_format(head, tail) if codec is None else None
        if kind:
            raise Refusal(
                RefusalCode.SERDE, f"{path.toString()} is a file of {kind}, but the table reads it as text"
            )
        return header(path, {name: size}, "text", _LINE)

    def _decompressed(self, codec: Any, stream: Any) -> bytes:
        """Return the first bytes of a file after decompression."""
        unpacked = codec.createInputStream(stream)
        try:
            return self._next(unpacked, len(_BOM))
        finally:
            unpacked.close()

    def encoding(self, profile: Profile) -> Encoding:
        return Encoding()
