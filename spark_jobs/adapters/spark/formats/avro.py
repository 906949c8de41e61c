"""Avro container files: copied record by record, with the schema of their headers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spark_jobs.adapters.spark.formats.headers import RecordFormat, header, refuse_metadata
from spark_jobs.adapters.spark.formats.spark_format import RecordClasses
from spark_jobs.core.formats.footers import Footer
from spark_jobs.protocol.file_system import FileSystemError
from spark_jobs.protocol.ports import RewriteRequest

#: The length of a file's sync marker, in bytes (Avro specification, object container files).
_SYNC = 16


class AvroFormat(RecordFormat):
    """Avro, with headers by Avro's own reader."""

    def _header(self, path: Any, size: int) -> Footer:
        avro = self._jvm.org.apache.avro
        source = avro.mapred.FsInput(path, self._conf)
        reader = avro.file.DataFileReader(source, avro.generic.GenericDatumReader())
        try:
            schema, codec = str(reader.getSchema().toString()), reader.getMetaString("avro.codec") or "null"
            start = int(reader.previousSync())
            notes = [str(key) for key in reader.getMetaKeys() if not str(key).startswith("avro.")]
        finally:
            reader.close()
        refuse_metadata(path, notes)
        self._check_end(path, start, size)
        return header(path, {str(codec): size}, schema)

    def _check_end(self, path: Any, start: int, size: int) -> None:
        """Raise Refusal for a truncated file.

        Every block ends with the sync marker of the header. Avro's reader takes a missing one for the end of the file.
        """
        stream = path.getFileSystem(self._conf).open(path)
        try:
            marks = {self._bytes(stream, end - _SYNC, _SYNC) for end in (start, size)}
        finally:
            stream.close()
        if len(marks) > 1:
            raise FileSystemError(f"{path.toString()} is cut off: its last block has no end")

    def record_classes(self, request: RewriteRequest) -> RecordClasses:
        return RecordClasses(
            "org.apache.avro.mapreduce.AvroKeyInputFormat",
            "org.apache.avro.mapreduce.AvroKeyOutputFormat",
            "org.apache.avro.mapred.AvroKey",
            "org.apache.hadoop.io.NullWritable",
        )

    def record_settings(self, request: RewriteRequest) -> Mapping[str, str]:
        (schema,), codec = request.profile.schemas, request.profile.codec
        return {
            "avro.schema.input.key": schema,
            "avro.schema.output.key": schema,
            "avro.serialization.data.model": "org.apache.avro.generic.GenericData",
            "avro.output.codec": codec,
            "mapreduce.output.fileoutputformat.compress": str(codec != "null").lower(),
        }
