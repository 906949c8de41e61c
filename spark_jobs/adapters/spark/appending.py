"""Appends the blocks of Avro files to few files, on the driver, and compares the blocks of both.

No block is decoded: bytes that are no text, maps with two equal keys, NaNs stay as they are. The blocks stay as small
as they were.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from pyspark.sql import SparkSession

from spark_jobs.adapters.hadoop.content_errors import content_errors
from spark_jobs.adapters.hadoop.file_bytes import file_bytes
from spark_jobs.adapters.spark.data_configuration import data_configuration
from spark_jobs.core.formats.avro_blocks import Block, blocks, header
from spark_jobs.core.formats.verification import written_files
from spark_jobs.core.messages.errors import VerificationFailed
from spark_jobs.core.values.model import FileEntry
from spark_jobs.protocol.ports import RewriteRequest


class AvroAppender:
    """Appends Avro files with Avro's own writer."""

    def __init__(self, spark: SparkSession) -> None:
        self._jvm: Any = spark._jvm
        self._spark = spark

    @cached_property
    def _conf(self) -> Any:
        return data_configuration(self._spark)

    def write(self, request: RewriteRequest) -> int:
        """Write the files into the target directory. Return the number of records.

        Raises:
            VerificationFailed: a block was not written as it is.
            Damaged: a file has not the structure of its format.
        """
        name, records = uuid.uuid4(), 0
        for number, files in enumerate(request.shares()):
            target = f"{request.target}/part-{number:05}-{name}.avro"
            # Before Avro's reader: it takes a damaged length for one, and ends the JVM for lack of memory.
            read = [
                block
                for file in files
                for block in self._blocks(f"{request.directory}/{file.name}", file.length)
            ]
            self._append(request, files, target)
            self._compare(read, target)
            records += sum(block.records for block in read)
        return records

    def _append(self, request: RewriteRequest, files: Sequence[FileEntry], target: str) -> None:
        avro = self._jvm.org.apache.avro
        writer = avro.file.DataFileWriter(avro.generic.GenericDatumWriter())
        try:
            for number, file in enumerate(files):
                uri = f"{request.directory}/{file.name}"
                with content_errors(f"cannot append {uri}", uri), self._opened(uri) as reader:
                    if not number:
                        self._begin(writer, reader, request, target)
                    writer.appendAllFrom(reader, False)
        finally:
            writer.close()

    @contextmanager
    def _opened(self, uri: str) -> Iterator[Any]:
        avro, path = self._jvm.org.apache.avro, self._jvm.org.apache.hadoop.fs.Path(uri)
        reader = avro.file.DataFileReader(
            avro.mapred.FsInput(path, self._conf), avro.generic.GenericDatumReader()
        )
        try:
            yield reader
        finally:
            reader.close()

    def _begin(self, writer: Any, reader: Any, request: RewriteRequest, target: str) -> None:
        """Create the target file with the schema, the codec and the metadata of the originals.

        Avro's library writes a schema without the attributes that the specification does not have. So the header is
        written here, and the library appends to it.
        """
        schema = bytes(reader.getMeta("avro.schema"))  # guard: schema_as_it_is
        metadata = {
            "avro.schema": schema,
            "avro.codec": request.profile.codec.encode(),
            **{key: value.encode() for key, value in request.profile.metadata.items()},
        }
        head = bytearray(header(metadata, uuid.uuid4().bytes))
        stream = self._created(request, target)
        stream.write(head)
        writer.appendTo(self._jvm.org.apache.avro.file.SeekableByteArrayInput(head), stream)

    def _created(self, request: RewriteRequest, target: str) -> Any:
        path = self._jvm.org.apache.hadoop.fs.Path(target)
        fs = path.getFileSystem(self._conf)
        if request.replication is None:
            return fs.create(path, False)
        buffer = self._conf.getInt("io.file.buffer.size", 4096)
        return fs.create(path, False, buffer, request.replication, fs.getDefaultBlockSize(path))

    def _compare(self, read: Sequence[Block], target: str) -> None:
        """Raise VerificationFailed if the target has other blocks than the files that were read.

        The blocks are found and compared without Avro's library, which has copied them.
        """
        path = self._jvm.org.apache.hadoop.fs.Path(target)
        size = int(path.getFileSystem(self._conf).getFileStatus(path).getLen())
        with written_files():
            written = self._blocks(target, size)
        if written != read:  # guard: blocks_compared
            raise VerificationFailed(f"{target} does not have the blocks of the files that it was made of")

    def _blocks(self, uri: str, size: int) -> list[Block]:
        with file_bytes(self._jvm, self._conf, uri, size) as file:
            return list(blocks(file))
