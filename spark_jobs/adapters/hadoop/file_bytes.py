"""The bytes of files of Hadoop's file systems, counted and read by the driver."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from spark_jobs.adapters.hadoop.java_answers import java_bytes
from spark_jobs.adapters.hadoop.java_errors import java_errors
from spark_jobs.core.formats.file_bytes import FileBytes, Whole

#: A file of at most this many bytes is read as a whole.
_SMALL = 1 << 18


@contextmanager
def file_bytes(jvm: Any, conf: Any, uri: str, size: int) -> Iterator[FileBytes]:
    """Open a file until the end of the block.

    Args:
        size: the length of the file, as it is listed.

    Raises:
        OSError: the file cannot be read.
    """
    path = jvm.org.apache.hadoop.fs.Path(uri)
    with java_errors(f"cannot read {uri}"):
        stream = path.getFileSystem(conf).open(path)
        try:
            opened = _Opened(jvm, stream, uri, size)
            yield Whole(uri, opened.at(0, size)) if size <= _SMALL else opened
        finally:
            stream.close()


def file_sizes(jvm: Any, conf: Any, directory: str) -> dict[str, int]:
    """Return the bytes of each file of a directory, by its URI."""
    place = jvm.org.apache.hadoop.fs.Path(directory)
    statuses = place.getFileSystem(conf).listStatus(place)
    return {str(status.getPath().toString()): int(status.getLen()) for status in statuses}


class _Opened:
    """The bytes of an open file."""

    def __init__(self, jvm: Any, stream: Any, name: str, size: int) -> None:
        self.name = name
        self.size = size
        self._stream = stream
        self._io = jvm.org.apache.commons.io.IOUtils
        self._bounded = jvm.org.apache.commons.io.input.BoundedInputStream
        self._sha256 = jvm.org.apache.commons.codec.digest.DigestUtils.sha256Hex

    def at(self, start: int, length: int) -> bytes:
        return java_bytes(self._io, self._part(start, length))

    def digest(self, start: int, length: int) -> str:
        """Return the SHA-256 of these bytes; they stay in the JVM."""
        return str(self._sha256(self._part(start, length)))

    def _part(self, start: int, length: int) -> Any:
        self._stream.seek(start)
        return self._bounded(self._stream, length)
