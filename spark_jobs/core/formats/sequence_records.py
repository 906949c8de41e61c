"""The number of records in Hadoop's sequence files, without a decoder of values.

Source: Hadoop's `SequenceFile.java`, format versions 2 to 6. A file is a header (magic bytes, the classes of key
and value, two flags, the codec, metadata, a sync marker of 16 bytes), then records or blocks of records. A length of -1
announces a marker. A record is its length, the length of its key, and this many bytes. A block, which follows a marker,
is the number of its records and four compressed parts, each with its length before it.

Old versions lack parts of the header: the flag of compression came with version 3, that of blocks, and names in the
encoding of `Text`, with version 4, the codec with version 5, and metadata with version 6.
"""

from __future__ import annotations

import struct

from spark_jobs.core.formats.file_bytes import Damaged, FileBytes

_MAGIC = b"SEQ"
_VERSIONS = range(2, 7)
#: The versions that brought parts of the header.
_PACKED, _BLOCKS, _CODEC, _METADATA = 3, 4, 5, 6
_SYNC = 16
_ESCAPE = -1
#: The bytes that are read together: of many small records, and of the heads of blocks, whose data are skipped.
_RECORDS, _HEADS = 1 << 20, 1 << 12
_PARTS = 4


def count(file: FileBytes) -> int:
    """Return the number of records. Raise Damaged for a file that is no sequence of whole records up to its end."""
    cursor = _SequenceCursor(file, _HEADS)
    blocks = _header(cursor)
    marker = cursor.take(_SYNC)
    if blocks:
        return _count_blocks(cursor, marker)
    cursor.ahead = _RECORDS
    return _count_records(cursor, marker)


def _header(cursor: _SequenceCursor) -> bool:
    """Read up to the sync marker. Return whether records are compressed in blocks."""
    magic, version = cursor.take(3), cursor.take(1)[0]
    if magic != _MAGIC or version not in _VERSIONS:
        raise Damaged(cursor.file, 0, f"{magic!r}, version {version}, is no sequence file of a known version")
    for _ in range(2):  # the classes of key and value
        cursor.skip(cursor.vint() if version >= _BLOCKS else cursor.uint16())
    packed = version >= _PACKED and cursor.take(1) != b"\0"
    blocks = version >= _BLOCKS and cursor.take(1) != b"\0"
    if packed and version >= _CODEC:
        cursor.skip(cursor.vint())
    if version >= _METADATA:
        for _ in range(2 * cursor.int32()):  # names and values
            cursor.skip(cursor.vint())
    return blocks


def _count_records(cursor: _SequenceCursor, marker: bytes) -> int:
    records = 0
    while not cursor.at_end:
        length = cursor.int32()
        if length == _ESCAPE:
            cursor.expect(marker)
            continue
        if not 0 <= cursor.int32() <= length:
            raise Damaged(cursor.file, cursor.place, f"a record of {length} bytes with a longer key")
        cursor.skip(length)
        records += 1
    return records


def _count_blocks(cursor: _SequenceCursor, marker: bytes) -> int:
    records = 0
    while not cursor.at_end:
        if cursor.int32() != _ESCAPE:
            raise Damaged(cursor.file, cursor.place, "a block without a sync marker")
        cursor.expect(marker)
        if cursor.at_end:
            break
        records += cursor.vint()
        for _ in range(_PARTS):
            cursor.skip(cursor.vint())
    return records


class _SequenceCursor:
    """Reads a file from its beginning on, `ahead` bytes at a time."""

    def __init__(self, file: FileBytes, ahead: int) -> None:
        self.file = file
        self.ahead = ahead
        self.place = 0
        self._start, self._data = 0, b""

    @property
    def at_end(self) -> bool:
        return self.place >= self.file.size

    def take(self, length: int) -> bytes:
        """Return the next bytes."""
        begin = self.place - self._start
        if not 0 <= begin <= len(self._data) - length:
            self._start, begin = self.place, 0
            self._data = self.file.at(self.place, max(length, self.ahead))
        if len(self._data) < begin + length:
            raise Damaged(self.file, self.place, f"{length} bytes do not follow")
        self.place += length
        return self._data[begin : begin + length]

    def skip(self, length: int) -> None:
        if length < 0 or self.place + length > self.file.size:
            raise Damaged(self.file, self.place, f"{length} bytes do not follow")
        self.place += length

    def expect(self, marker: bytes) -> None:
        if self.take(_SYNC) != marker:  # guard: markers_are_the_files
            raise Damaged(self.file, self.place - _SYNC, "a sync marker of another file")

    def uint16(self) -> int:
        return int.from_bytes(self.take(2), "big")

    def int32(self) -> int:
        (number,) = struct.unpack(">i", self.take(4))
        return int(number)

    def vint(self) -> int:
        """Return a number in the encoding of Hadoop's `WritableUtils.readVLong`."""
        (first,) = struct.unpack("b", self.take(1))
        if first >= -112:
            return int(first)
        negative = first < -120
        number = int.from_bytes(self.take(-(first + 120) if negative else -(first + 112)), "big")
        return ~number if negative else number
