"""Hadoop's sequence files: copied record by record, with the classes of their headers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

from spark_jobs.adapters.spark.formats.headers import (
    RecordFormat,
    header,
    refuse_metadata,
    refuse_missing_class,
)
from spark_jobs.adapters.spark.formats.spark_format import RecordClasses
from spark_jobs.core.formats.footers import Footer
from spark_jobs.protocol.ports import RewriteRequest

_COMPRESS = "mapreduce.output.fileoutputformat.compress"
_BINARY = "mapreduce.output.seqbinaryoutputformat"
_BYTES = "org.apache.hadoop.io.BytesWritable"
#: Hadoop's name for values that are compressed one by one.
_EACH_VALUE = "RECORD"
_LIB = "org.apache.hadoop.mapreduce.lib"
#: Separates the classes of key and value, and compression type and codec.
_SEPARATOR = " "


class _Readers(NamedTuple):
    """The class of Hadoop's reader, its method that makes an option of a path, and the class of options."""

    kind: Any
    of_file: Any
    option: Any


class SequenceFormat(RecordFormat):
    """Sequence files, with headers by Hadoop's own reader."""

    calls_of_a_file = 3  # its status, twice, and an open

    def _header(self, path: Any, size: int) -> Footer:
        readers = self._readers
        options = self._jvm.java.lang.reflect.Array.newInstance(readers.option, 1)
        options[0] = readers.of_file(path)
        try:
            reader = readers.kind(self._conf, options)
        except Exception as error:
            refuse_missing_class(path, error)
            raise
        try:
            classes = _SEPARATOR.join([reader.getKeyClassName(), reader.getValueClassName()])
            kind = str(reader.getCompressionType().toString())
            codec = reader.getCompressionCodec()
            notes = list(reader.getMetadata().getMetadata().keySet())
        finally:
            reader.close()
        refuse_metadata(path, [str(note) for note in notes])
        name = _SEPARATOR.join([kind, codec.getClass().getName() if codec is not None else ""]).strip()
        return replace(header(path, {name: size}, classes), header=classes)

    @cached_property
    def _readers(self) -> _Readers:
        """Return the classes of Hadoop's reader, which py4j would look up anew for each file: they are nested."""
        reader = self._jvm.org.apache.hadoop.io.SequenceFile.Reader
        return _Readers(reader, reader.file, reader.Option._java_lang_class)

    def record_classes(self, request: RewriteRequest) -> RecordClasses:
        """Return the classes that copy keys and values as bytes.

        Hadoop has none for values that are compressed one by one. These are copied as objects of their own classes, and
        their bytes are compared like all others.
        """
        if request.profile.codec.startswith(_EACH_VALUE):
            key, value = request.profile.schemas[0].split(_SEPARATOR)
            return RecordClasses(
                f"{_LIB}.input.SequenceFileInputFormat", f"{_LIB}.output.SequenceFileOutputFormat", key, value
            )
        return RecordClasses(
            f"{_LIB}.input.SequenceFileAsBinaryInputFormat",
            f"{_LIB}.output.SequenceFileAsBinaryOutputFormat",
            _BYTES,
            _BYTES,
        )

    def record_settings(self, request: RewriteRequest) -> Mapping[str, str]:
        key, value = request.profile.schemas[0].split(_SEPARATOR)
        classes = {f"{_BINARY}.key.class": key, f"{_BINARY}.value.class": value}
        kind, _, name = request.profile.codec.partition(_SEPARATOR)
        if not name:
            return {**classes, _COMPRESS: "false"}
        return {**classes, _COMPRESS: "true", f"{_COMPRESS}.type": kind, f"{_COMPRESS}.codec": name}
