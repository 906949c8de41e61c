"""Compressed and binary files are told from text by their first bytes."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib

import pytest

from spark_jobs.core.formats.magic import binary_format

TEXT = b"1,one\n2,two\n" * 50


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (gzip.compress(TEXT), "gzip"),
        (bz2.compress(TEXT), "bzip2"),
        (lzma.compress(TEXT), "XZ"),
        *((zlib.compress(TEXT, level), "zlib") for level in (1, 6, 9)),
        (b"\x89LZO\x00\r\n\x1a\n" + TEXT, "lzop"),
        (b"\x04\x22\x4d\x18\x64\x40\xa7" + TEXT, "LZ4"),
        (b"\x28\xb5\x2f\xfd\x04\x00" + TEXT, "Zstandard"),
    ],
)
def test_a_compressed_file_is_named(data: bytes, name: str) -> None:
    assert binary_format(data[:16], data[-16:]) == name


@pytest.mark.parametrize("data", [TEXT, b"x^2,1\n", b"x\n", b"", "xä\n".encode(), "x\u9c00\n".encode()])
def test_text_is_text(data: bytes) -> None:
    assert binary_format(data[:16], data[-16:]) is None
