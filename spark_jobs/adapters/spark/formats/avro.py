"""Avro container files: appended block by block, with the schema and the metadata of their headers."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cached_property
from typing import Any

from spark_jobs.adapters.spark.formats.headers import HeaderFormat, header, refuse_missing_class
from spark_jobs.core.formats.avro_metadata import check_keys, schema_key
from spark_jobs.core.formats.encoding import Encoding, Engine
from spark_jobs.core.formats.footers import Footer, Profile
from spark_jobs.core.messages.errors import Unreadable

#: The length of a file's sync marker, in bytes (Avro specification, object container files).
_SYNC = 16


class AvroFormat(HeaderFormat):
    """Avro, with headers by Avro's own reader."""

    calls_of_a_file = 4  # its status, twice, and two opens: for the schema and for the last sync marker

    def _header(self, path: Any, size: int) -> Footer:
        reader = self._reader(path)
        try:
            schema = schema_key(str(reader.getMetaString("avro.schema")))
            codec = str(reader.getMetaString("avro.codec") or "null")
            start = int(reader.previousSync())
            entries = json.loads(self._mapper.writeValueAsString(reader.getMetaKeys()))
            keys = check_keys(str(path.toString()), entries)
            metadata = {key: str(reader.getMetaString(key)) for key in keys}
        finally:
            reader.close()
        self._check_end(path, start, size)
        # Blocks are appended as they are, so that files of other codecs are written by themselves.
        return replace(header(path, {codec: size}, schema), metadata=metadata, header=repr((schema, codec)))

    @cached_property
    def _mapper(self) -> Any:
        """Return a Jackson mapper: py4j takes several calls for each element of a list."""
        return self._jvm.com.fasterxml.jackson.databind.ObjectMapper()

    def _reader(self, path: Any) -> Any:
        avro = self._jvm.org.apache.avro
        source = avro.mapred.FsInput(path, self._conf)
        try:
            return avro.file.DataFileReader(source, avro.generic.GenericDatumReader())
        except Exception as error:
            source.close()
            refuse_missing_class(path, error)
            raise

    def _check_end(self, path: Any, start: int, size: int) -> None:
        """Raise Unreadable for a truncated file, and for one to which another file was appended.

        Every block ends with the sync marker of the header. Avro's reader takes a missing one for the end of the file,
        so the rows of the last block would be lost.
        """
        stream = path.getFileSystem(self._conf).open(path)
        try:
            marks = {self._bytes(stream, end - _SYNC, _SYNC) for end in (start, size)}
        finally:
            stream.close()
        if len(marks) > 1:
            raise Unreadable(
                str(path.toString()),
                "it is truncated, or another file was appended to it: it does not end with its own sync marker",
            )

    def encoding(self, profile: Profile) -> Encoding:
        return Encoding(Engine.COPY)
