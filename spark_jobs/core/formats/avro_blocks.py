"""The header and the blocks of Avro's object container files, without a decoder of values.

Source: the Avro specification, "Object Container Files". A file is a header (magic bytes, metadata as a map of bytes, a
sync marker of 16 bytes), then blocks. A block is the number of its records, the length of its data, the data
(compressed by the file's codec), and the sync marker. A block that is copied to another file keeps its data, byte for
byte; only the marker is another one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from spark_jobs.core.formats.file_bytes import Damaged, FileBytes

_MAGIC = b"Obj\x01"
_SYNC = 16
#: A number has at most ten bytes of seven bits each.
_NUMBER = 10
#: Two numbers begin a block.
_HEAD = 2 * _NUMBER
#: The header is read by this many bytes; schemas of hundreds of kilobytes exist.
_PIECE = 1 << 16


class Block(NamedTuple):
    """A block: the number of its records, and the length and the digest of its data."""

    records: int
    length: int
    digest: str


def header(metadata: Mapping[str, bytes], marker: bytes) -> bytes:
    """Return the header of a file with this metadata, and with this sync marker of 16 bytes."""
    entries = b"".join(_text(key.encode()) + _text(value) for key, value in metadata.items())
    return _MAGIC + _encoded(len(metadata)) + entries + _encoded(0) + marker


def _text(value: bytes) -> bytes:
    return _encoded(len(value)) + value


def _encoded(number: int) -> bytes:
    """Return a number that is not negative in Avro's zigzag encoding."""
    rest, encoded = number << 1, b""
    while rest > 0x7F:
        encoded, rest = encoded + bytes([rest & 0x7F | 0x80]), rest >> 7
    return encoded + bytes([rest])


def blocks(file: FileBytes) -> Iterator[Block]:
    """Return the blocks of a file. Raise Damaged for a file that is no sequence of whole blocks up to its end."""
    place = _header(file)
    marker, head = file.at(place, _SYNC), file.at(place + _SYNC, _HEAD)
    if len(marker) < _SYNC:
        raise Damaged(file, place, "it ends within its header")
    place += _SYNC
    while head:
        records, length, data = _begun(file, place, head)
        end = data + length
        # The marker at the end of a block is read together with the head of the next one.
        tail = file.at(end, _SYNC + _HEAD)
        if tail[:_SYNC] != marker:  # guard: blocks_end_with_the_marker
            raise Damaged(file, end, "the sync marker of the file does not follow the block")
        yield Block(records, length, file.digest(data, length))
        place, head = end + _SYNC, tail[_SYNC:]


def _begun(file: FileBytes, place: int, head: bytes) -> tuple[int, int, int]:
    """Return the number of records of a block, the length of its data, and their place."""
    cursor = _AvroCursor(file, place, head)
    records, length = cursor.number(), cursor.number()
    if records < 0 or length < 0 or cursor.place + length > file.size:
        raise Damaged(file, place, f"a block of {records} records and {length} bytes")
    return records, length, cursor.place


def _header(file: FileBytes) -> int:
    """Return the place of the header's sync marker."""
    if file.at(0, len(_MAGIC)) != _MAGIC:
        raise Damaged(file, 0, "it does not begin with Avro's magic bytes")
    cursor = _AvroCursor(file, len(_MAGIC), file.at(len(_MAGIC), _PIECE))
    entries = cursor.number()
    while entries:
        if entries < 0:
            entries = -entries
            cursor.number()  # the bytes of these entries
        for _ in range(2 * entries):
            cursor.skip(cursor.number())
        entries = cursor.number()
    return cursor.place


class _AvroCursor:
    """Reads numbers from a place on."""

    def __init__(self, file: FileBytes, place: int, data: bytes) -> None:
        self._file = file
        self._start = self.place = place
        self._data = data

    def number(self) -> int:
        """Return a long in Avro's zigzag encoding."""
        value = 0
        for position in range(_NUMBER):
            byte = self._byte()
            value |= (byte & 0x7F) << (7 * position)
            if byte < 0x80:
                return (value >> 1) ^ -(value & 1)
        raise Damaged(self._file, self.place, "a number of more than ten bytes")

    def skip(self, length: int) -> None:
        if length < 0 or self.place + length > self._file.size:
            raise Damaged(self._file, self.place, f"{length} bytes do not follow")
        self.place += length

    def _byte(self) -> int:
        if not 0 <= self.place - self._start < len(self._data):
            self._start, self._data = self.place, self._file.at(self.place, _PIECE)
            if not self._data:
                raise Damaged(self._file, self.place, "it ends within a number")
        self.place += 1
        return self._data[self.place - 1 - self._start]
