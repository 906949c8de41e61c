"""The walk through Avro's blocks finds each block of a file, and any damage to its structure."""

from __future__ import annotations

import hashlib

import pytest

from spark_jobs.core.formats.avro_blocks import Block, blocks, header
from spark_jobs.core.formats.file_bytes import Damaged, Whole
from tests.fidelity.avro_container import container, number, text

SCHEMA = {"type": "record", "name": "r", "fields": [{"name": "s", "type": "string", "doc": "x" * 300}]}
RECORDS = [[text(b"one"), text(b"")], [text(b"x" * 70_000)], [text(bytes([n])) for n in range(200)]]


def _found(data: bytes) -> list[Block]:
    return list(blocks(Whole("a.avro", data)))


def test_each_block_has_its_records_and_its_bytes() -> None:
    expected = [
        Block(len(each), len(b"".join(each)), hashlib.sha256(b"".join(each)).hexdigest()) for each in RECORDS
    ]
    assert _found(container(SCHEMA, RECORDS)) == expected


def test_a_file_without_blocks_is_whole() -> None:
    assert _found(container(SCHEMA, [])) == []


def test_a_header_longer_than_what_is_read_at_once() -> None:
    assert len(_found(container(SCHEMA, RECORDS, metadata={"k": b"v" * 200_000, "l": b"w"}))) == 3


@pytest.mark.parametrize("length", [0, 1, 63, 64, 8_191, 8_192, 200_000])
def test_a_header_is_as_that_of_other_writers(length: int) -> None:
    metadata = {"avro.schema": b'"string"', "avro.codec": b"null", "é": b"v" * length}
    data = container('"string"', RECORDS, metadata={"é": metadata["é"]})
    marker = data[-16:]
    assert data[: data.index(marker) + 16] == header(metadata, marker)


def test_metadata_may_be_in_counted_pieces() -> None:
    entry = text(b"avro.schema") + text(b'"long"')
    head = b"Obj\x01" + number(-1) + number(len(entry)) + entry + number(0) + b"M" * 16
    assert _found(head + number(1) + number(1) + b"\x02" + b"M" * 16)[0].records == 1


#: The bytes of a block with two words, and its marker.
_BLOCK = 2 + 11 + 16


@pytest.mark.parametrize("cut", [cut for cut in range(1, 60) if cut != _BLOCK])
def test_a_file_that_is_cut_off_is_damaged(cut: int) -> None:
    data = container(SCHEMA, [[text(b"some"), text(b"words")]])
    assert _found(data[:-_BLOCK]) == []
    with pytest.raises(Damaged, match=r"a\.avro cannot be read: it is damaged at byte"):
        _found(data[:-cut])


def test_blocks_of_another_file_are_damage() -> None:
    """As where two files were put one after the other."""
    data = container(SCHEMA, RECORDS)
    with pytest.raises(Damaged):
        _found(data + container(SCHEMA, RECORDS[:1]))
    with pytest.raises(Damaged):
        _found(data + b"\0")


def test_a_block_is_told_from_another_of_the_same_length() -> None:
    one, other = (_found(container(SCHEMA, [[text(word)]])) for word in (b"one", b"two"))
    assert one != other
