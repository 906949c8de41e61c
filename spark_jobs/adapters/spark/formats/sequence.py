"""Hadoop's sequence files: copied record by record, with the classes of their headers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spark_jobs.adapters.spark.formats.headers import RecordFormat, header, refuse_metadata
from spark_jobs.adapters.spark.formats.spark_format import RecordClasses
from spark_jobs.core.formats.footers import Footer
from spark_jobs.protocol.ports import RewriteRequest

_COMPRESS = "mapreduce.output.fileoutputformat.compress"
_LIB = "org.apache.hadoop.mapreduce.lib"
#: Separates the classes of key and value, and compression type and codec.
_SEPARATOR = " "


class SequenceFormat(RecordFormat):
    """Sequence files, with headers by Hadoop's own reader."""

    calls_of_a_file = 3  # its status, twice, and an open

    def _header(self, path: Any, size: int) -> Footer:
        sequence = self._jvm.org.apache.hadoop.io.SequenceFile
        options = self._jvm.java.lang.reflect.Array.newInstance(sequence.Reader.Option._java_lang_class, 1)
        options[0] = sequence.Reader.file(path)
        reader = sequence.Reader(self._conf, options)
        try:
            classes = _SEPARATOR.join([reader.getKeyClassName(), reader.getValueClassName()])
            kind = str(reader.getCompressionType().toString())
            codec = reader.getCompressionCodec()
            notes = list(reader.getMetadata().getMetadata().keySet())
        finally:
            reader.close()
        refuse_metadata(path, [str(note) for note in notes])
        name = _SEPARATOR.join([kind, codec.getClass().getName() if codec is not None else ""]).strip()
        return header(path, {name: size}, classes)

    def record_classes(self, request: RewriteRequest) -> RecordClasses:
        key, value = request.profile.schemas[0].split(_SEPARATOR)
        return RecordClasses(
            f"{_LIB}.input.SequenceFileInputFormat", f"{_LIB}.output.SequenceFileOutputFormat", key, value
        )

    def record_settings(self, request: RewriteRequest) -> Mapping[str, str]:
        kind, _, name = request.profile.codec.partition(_SEPARATOR)
        if not name:
            return {_COMPRESS: "false"}
        return {_COMPRESS: "true", f"{_COMPRESS}.type": kind, f"{_COMPRESS}.codec": name}
