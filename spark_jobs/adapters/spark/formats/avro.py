"""Avro container files: appended block by block, with the schema and the metadata of their headers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from spark_jobs.adapters.spark.formats.headers import HeaderFormat, header, refuse_missing_class
from spark_jobs.core.formats.avro_metadata import check_keys
from spark_jobs.core.formats.avro_schemas import dropped
from spark_jobs.core.formats.encoding import Encoding, Engine
from spark_jobs.core.formats.footers import Footer, Profile
from spark_jobs.protocol.file_system import FileSystemError

#: The length of a file's sync marker, in bytes (Avro specification, object container files).
_SYNC = 16
#: The keys that each Avro file has. Avro's writer takes no other key that begins like them.
_OWN_KEYS = ("avro.schema", "avro.codec")


class AvroFormat(HeaderFormat):
    """Avro, with headers by Avro's own reader."""

    calls_of_a_file = 4  # its status, twice, and two opens: for the schema and for the last sync marker

    def _header(self, path: Any, size: int) -> Footer:
        reader = self._reader(path)
        try:
            schema, codec = (
                str(reader.getSchema().toString()),
                str(reader.getMetaString("avro.codec") or "null"),
            )
            lost = dropped(str(reader.getMetaString("avro.schema")), schema)
            start = int(reader.previousSync())
            keys = [str(key) for key in reader.getMetaKeys() if str(key) not in _OWN_KEYS]
            metadata = {key: str(reader.getMetaString(key)) for key in keys}
        finally:
            reader.close()
        check_keys(str(path.toString()), keys)
        self._check_end(path, start, size)
        # Blocks are appended as they are, so that files of other codecs are written by themselves.
        found = replace(header(path, {codec: size}, schema), metadata=metadata, header=repr((schema, codec)))
        return replace(found, writer=dict.fromkeys(lost, ""))  # guard: lost_attributes_named

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
        """Raise FileSystemError for a truncated file.

        Every block ends with the sync marker of the header. Avro's reader takes a missing one for the end of the file,
        so the rows of the last block would be lost.
        """
        stream = path.getFileSystem(self._conf).open(path)
        try:
            marks = {self._bytes(stream, end - _SYNC, _SYNC) for end in (start, size)}
        finally:
            stream.close()
        if len(marks) > 1:
            raise FileSystemError(
                f"{path.toString()} is truncated: its last block does not end with the sync marker. Replace the file,"
                " or remove it from the table"
            )

    def encoding(self, profile: Profile) -> Encoding:
        return Encoding(Engine.COPY)
