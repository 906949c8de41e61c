"""What the heads of files say in formats without footers: Avro, sequence files, and text, which has none."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from pyspark.sql import SparkSession

from spark_jobs.adapters.hadoop.java_errors import java_errors
from spark_jobs.core.errors import Refusal
from spark_jobs.core.footers import Footer
from spark_jobs.core.formats import AVRO, SEQUENCE, TEXT
from spark_jobs.core.magic import binary_format
from spark_jobs.core.model import name_of
from spark_jobs.core.refusals import RefusalCode
from spark_jobs.protocol.ports import FileSystemError

#: A line of text, as Spark reads it.
LINE = json.dumps(
    {"type": "struct", "fields": [{"name": "value", "type": "string", "nullable": True, "metadata": {}}]}
)
#: Of UTF-8.
_BOM = b"\xef\xbb\xbf"
#: The length of an Avro file's mark.
_SYNC = 16
#: Enough of a file's beginning and end to tell the binary formats by.
_END = 8
#: Parts the classes of key and value, and compression and codec.
SEPARATOR = " "


class HeaderReader:
    """Reads heads by the formats' own Java readers."""

    def __init__(self, spark: SparkSession) -> None:
        self._jvm = spark._jvm
        self._conf = spark._jsc.hadoopConfiguration()
        self._readers: dict[str, Callable[[Any, int], Footer]] = {
            AVRO: self._avro,
            SEQUENCE: self._sequence,
            TEXT: self._text,
        }

    def read(self, file: str, file_format: str) -> Footer:
        """Raises OSError for a file that is none of this format, and Refusal for one that holds more than rows."""
        path = self._jvm.org.apache.hadoop.fs.Path(file)
        with java_errors(f"cannot read the head of {file}"):
            size = int(path.getFileSystem(self._conf).getFileStatus(path).getLen())
            return self._readers[file_format](path, size)

    def _avro(self, path: Any, size: int) -> Footer:
        avro = self._jvm.org.apache.avro
        source = avro.mapred.FsInput(path, self._conf)
        reader = avro.file.DataFileReader(source, avro.generic.GenericDatumReader())
        try:
            schema, codec = str(reader.getSchema().toString()), reader.getMetaString("avro.codec") or "null"
            head = int(reader.previousSync())
            notes = [str(key) for key in reader.getMetaKeys() if not str(key).startswith("avro.")]
        finally:
            reader.close()
        _no_notes(path, notes)
        self._check_end(path, head, size)
        return _head(path, {str(codec): size}, schema)

    def _check_end(self, path: Any, head: int, size: int) -> None:
        """Every block ends with the mark at the end of the file's head, or else the file is cut; its reader would take
        that for its end, and say nothing."""
        stream = path.getFileSystem(self._conf).open(path)
        try:
            marks = {self._bytes(stream, end - _SYNC, _SYNC) for end in (head, size)}
        finally:
            stream.close()
        if len(marks) > 1:
            raise FileSystemError(f"{path.toString()} is cut off: its last block has no end")

    def _sequence(self, path: Any, size: int) -> Footer:
        sequence = self._jvm.org.apache.hadoop.io.SequenceFile
        options = self._jvm.java.lang.reflect.Array.newInstance(sequence.Reader.Option._java_lang_class, 1)
        options[0] = sequence.Reader.file(path)
        reader = sequence.Reader(self._conf, options)
        try:
            classes = SEPARATOR.join([reader.getKeyClassName(), reader.getValueClassName()])
            kind = str(reader.getCompressionType().toString())
            codec = reader.getCompressionCodec()
            notes = list(reader.getMetadata().getMetadata().keySet())
        finally:
            reader.close()
        _no_notes(path, [str(note) for note in notes])
        name = SEPARATOR.join([kind, codec.getClass().getName() if codec is not None else ""]).strip()
        return _head(path, {name: size}, classes)

    def _text(self, path: Any, size: int) -> Footer:
        factory = self._jvm.org.apache.hadoop.io.compress.CompressionCodecFactory(self._conf)
        codec = factory.getCodec(path)
        name = str(codec.getClass().getName()) if codec is not None else "none"
        stream = path.getFileSystem(self._conf).open(path)
        try:
            head, tail = self._bytes(stream, 0, _END), self._bytes(stream, max(0, size - _END), _END)
            stream.seek(0)
            start = self._unpacked(codec, stream) if codec is not None else head
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
                RefusalCode.SERDE, f"{path.toString()} is a file of {kind}, and the table reads it as text"
            )
        return _head(path, {name: size}, "text", LINE)

    def _unpacked(self, codec: Any, stream: Any) -> bytes:
        """The first bytes behind the codec."""
        unpacked = codec.createInputStream(stream)
        try:
            return self._start(unpacked)
        finally:
            unpacked.close()

    def _bytes(self, stream: Any, start: int, length: int) -> bytes:
        stream.seek(start)
        return self._start(stream, length)

    def _start(self, stream: Any, length: int = len(_BOM)) -> bytes:
        """The next bytes of a stream, as many as there are."""
        buffer = self._jvm.java.io.ByteArrayOutputStream()
        io = self._jvm.org.apache.commons.io
        io.IOUtils.copyLarge(stream, buffer, 0, length)
        return bytes(buffer.toByteArray())


def _head(path: Any, codecs: dict[str, int], schema: str, struct: str | None = None) -> Footer:
    return Footer(name_of(str(path.toString())), None, codecs, {}, {}, schema, struct)


def _no_notes(path: Any, notes: list[str]) -> None:
    if notes:
        raise Refusal(
            RefusalCode.TYPE,
            f"{path.toString()} carries metadata of its own ({notes[0]}), which would be lost",
        )
