"""Writes Avro's object container files without Avro's library (source: the Avro specification)."""

from __future__ import annotations

import hashlib
import json
import struct
import zlib
from collections.abc import Sequence
from typing import Any


def number(value: int) -> bytes:
    """A long in zigzag encoding."""
    rest, found = (value << 1) ^ (value >> 63), b""
    while rest > 0x7F:
        found, rest = found + bytes([rest & 0x7F | 0x80]), rest >> 7
    return found + bytes([rest])


def text(value: bytes) -> bytes:
    return number(len(value)) + value


def double(bits: int) -> bytes:
    return struct.pack("<Q", bits)


def container(
    schema: Any,
    blocks: Sequence[Sequence[bytes]],
    codec: str = "null",
    metadata: dict[str, bytes] | None = None,
) -> bytes:
    """A file with these records, which are encoded already, in blocks.

    Args:
        schema: as JSON's values, or as the exact text.
    """
    words = schema if isinstance(schema, str) else json.dumps(schema)
    entries = {"avro.schema": words.encode(), "avro.codec": codec.encode(), **(metadata or {})}
    marker = hashlib.md5(repr((words, blocks)).encode()).digest()
    header = b"".join(text(key.encode()) + text(value) for key, value in entries.items())
    found = b"Obj\x01" + number(len(entries)) + header + number(0) + marker
    for records in blocks:
        data = b"".join(records)
        if codec == "deflate":
            packed = zlib.compressobj(wbits=-15)
            data = packed.compress(data) + packed.flush()
        found += number(len(records)) + number(len(data)) + data + marker
    return found
