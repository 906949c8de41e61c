"""The walk through sequence files counts each record, and finds any damage to their structure."""

from __future__ import annotations

import struct

import pytest

from spark_jobs.core.formats.file_bytes import Damaged, Whole
from spark_jobs.core.formats.sequence_records import count

MARKER = bytes(range(16))
SYNC = struct.pack(">i", -1) + MARKER
_TEXT = b"org.apache.hadoop.io.Text"


def vint(value: int) -> bytes:
    """As Hadoop's `WritableUtils.writeVLong` writes it."""
    if -112 <= value <= 127:
        return struct.pack("b", value)
    magnitude = ~value if value < 0 else value
    size = (magnitude.bit_length() + 7) // 8
    return struct.pack("b", (-120 if value < 0 else -112) - size) + magnitude.to_bytes(size, "big")


def _header(packed: bool = False, blocks: bool = False, version: int = 6, metadata: int = 0) -> bytes:
    name = vint(len(_TEXT)) if version > 3 else struct.pack(">H", len(_TEXT))
    flags = bytes([packed, blocks][: max(0, version - 2)])
    codec = b"org.apache.hadoop.io.compress.DefaultCodec"
    codec = vint(len(codec)) + codec if packed and version > 4 else b""
    notes = struct.pack(">i", metadata) + (vint(1) + b"k" + vint(200) + b"v" * 200) * metadata
    words = b"SEQ" + bytes([version]) + 2 * (name + _TEXT) + flags
    return words + codec + (notes if version == 6 else b"") + MARKER


def _record(key: bytes, value: bytes) -> bytes:
    return struct.pack(">ii", len(key) + len(value), len(key)) + key + value


def _block(records: int, sizes: tuple[int, ...] = (3, 300, 70_000, 5)) -> bytes:
    return SYNC + vint(records) + b"".join(vint(size) + b"\xaa" * size for size in sizes)


RECORDS = b"".join(_record(b"k" * (n % 3), b"v" * n) + (SYNC if n % 10 == 9 else b"") for n in range(205))


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize(("version", "metadata"), [(6, 0), (6, 3), (5, 0), (4, 0), (3, 0), (2, 0)])
def test_each_record_is_counted(packed: bool, version: int, metadata: int) -> None:
    assert count(Whole("a", _header(packed, version=version, metadata=metadata) + RECORDS)) == 205
    assert count(Whole("a", _header(packed, version=version, metadata=metadata))) == 0


def test_many_records_need_several_reads() -> None:
    assert count(Whole("a", _header() + _record(b"", b"x" * 999) * 5000)) == 5000


def test_the_records_of_each_block_are_counted() -> None:
    data = _header(True, True) + _block(7) + _block(1_000_000) + _block(0)
    assert count(Whole("a", data)) == 1_000_007
    assert count(Whole("a", data + SYNC)) == 1_000_007


def test_blocks_of_an_older_version_are_counted() -> None:
    assert count(Whole("a", _header(True, True, version=4) + _block(7))) == 7


@pytest.mark.parametrize("cut", range(1, 16))
def test_a_file_that_is_cut_off_is_damaged(cut: int) -> None:
    for data in (_header() + _record(b"key", b"a long value"), _header(True, True) + _block(7)):
        with pytest.raises(Damaged, match="a cannot be read: it is damaged at byte"):
            count(Whole("a", data[:-cut]))


@pytest.mark.parametrize("packed", [True, False])
def test_a_marker_of_another_file_is_damage(packed: bool) -> None:
    record = _block(1) if packed else SYNC + _record(b"k", b"v")
    data = _header(packed, packed) + record
    assert count(Whole("a", data)) == 1
    with pytest.raises(Damaged, match="marker of another file"):
        count(Whole("a", data + record.replace(MARKER, b"M" * 16)))


@pytest.mark.parametrize(
    "data", [b"", b"SEQ", b"SEQ\x01" + b"x" * 100, b"SEQ\x07" + b"x" * 100, b"ORC" + b"x" * 100]
)
def test_another_format_or_version_is_named(data: bytes) -> None:
    with pytest.raises(Damaged):
        count(Whole("a", data))
