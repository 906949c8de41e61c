"""Avro container files: copied record by record, with the schema of their headers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from spark_jobs.adapters.spark.formats.headers import RecordFormat, header
from spark_jobs.adapters.spark.formats.spark_format import RecordClasses
from spark_jobs.core.formats.avro_metadata import check_keys
from spark_jobs.core.formats.footers import Footer
from spark_jobs.protocol.file_system import FileSystemError
from spark_jobs.protocol.ports import RewriteRequest

#: The length of a file's sync marker, in bytes (Avro specification, object container files).
_SYNC = 16


class AvroFormat(RecordFormat):
    """Avro, with headers by Avro's own reader."""

    calls_of_a_file = 4  # its status, twice, and two opens: for the schema and for the last sync marker

    def _header(self, path: Any, size: int) -> Footer:
        avro = self._jvm.org.apache.avro
        source = avro.mapred.FsInput(path, self._conf)
        reader = avro.file.DataFileReader(source, avro.generic.GenericDatumReader())
        try:
            schema, codec = str(reader.getSchema().toString()), reader.getMetaString("avro.codec") or "null"
            start = int(reader.previousSync())
            keys = [str(key) for key in reader.getMetaKeys() if not str(key).startswith("avro.")]
            metadata = {key: str(reader.getMetaString(key)) for key in keys}
        finally:
            reader.close()
        check_keys(str(path.toString()), keys)
        self._check_end(path, start, size)
        return replace(header(path, {str(codec): size}, schema), metadata=metadata)

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

    def record_classes(self, request: RewriteRequest) -> RecordClasses:
        """Return Avro's classes. Of its two output formats, only that of Hadoop's old interface writes metadata."""
        return RecordClasses(
            "org.apache.avro.mapreduce.AvroKeyInputFormat",
            "org.apache.avro.mapred.AvroOutputFormat",
            "org.apache.avro.mapred.AvroKey",
            "org.apache.hadoop.io.NullWritable",
            old_output=True,
        )

    def record_settings(self, request: RewriteRequest) -> Mapping[str, str]:
        (schema,), codec = request.profile.schemas, request.profile.codec
        return {
            "avro.schema.input.key": schema,
            "avro.output.schema": schema,
            "avro.serialization.data.model": "org.apache.avro.generic.GenericData",
            "avro.output.codec": codec,
            "mapreduce.output.fileoutputformat.compress": str(codec != "null").lower(),
            **{f"avro.meta.text.{key}": value for key, value in request.profile.metadata.items()},
        }
