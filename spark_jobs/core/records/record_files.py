"""Files that other programs may have written: how much of them is read, and how they are decoded.

Whoever may write into a table's directory can put a file there that fills the memory of the driver when it is
decompressed, or is nested so deeply that a parser fails. Then one table would end the job of a whole database.
"""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Callable
from dataclasses import fields
from functools import cache
from typing import Any, TypeVar

#: The largest record, as it is on the file system and after decompression. That of a wave of a million files has half.
MOST_BYTES = 256 << 20
#: The most values and lines in a record. A file of a listing has five, so that the largest records have as many. What
#: has three bytes in JSON is an object of sixty in Python.
MOST_VALUES = 10_000_000
_STARTS = (b"[", b"{", b",", b"\n")
#: What the decoding of a file of others raises.
DECODING_ERRORS = (
    *(ValueError, KeyError, TypeError, AttributeError, IndexError, ArithmeticError, RecursionError),
    *(EOFError, gzip.BadGzipFile, zlib.error),
)
T = TypeVar("T")
_TYPES: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "str": (str,),
    "bool": (bool,),
    "int | None": (int, type(None)),
    "str | None": (str, type(None)),
    "float | None": (int, float, type(None)),
}


def check_length(length: int, most: int | None = None) -> None:
    """Raise ValueError for a file that is larger than any that the jobs write."""
    most = MOST_BYTES if most is None else most
    if length > most:  # guard: record_length
        raise ValueError(f"it has more than {most} bytes")


def _check_values(data: bytes) -> None:
    """Raise ValueError for a text of more values than any record of the jobs has: each would become an object."""
    if len(data) > MOST_VALUES and sum(map(data.count, _STARTS)) > MOST_VALUES:  # guard: record_values
        raise ValueError(f"it has more than {MOST_VALUES} values")


def parsed(data: bytes) -> Any:
    """Parse JSON. Raise one of `DECODING_ERRORS`."""
    check_length(len(data))
    _check_values(data)
    return json.loads(data)


def decompressed(data: bytes) -> bytes:
    """Return the content of a gzip file. Raise one of `DECODING_ERRORS`."""
    check_length(len(data))
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
        found = stream.read(MOST_BYTES + 1)  # guard: bounded_decompression
    check_length(len(found))
    _check_values(found)
    return found


def built(cls: Callable[..., T], row: Any) -> T:
    """Return an object of a dataclass from its fields. Raise one of `DECODING_ERRORS` for a value of another type."""
    for name, types in _typed_fields(cls):
        if name in row and type(row[name]) not in types:  # guard: record_types
            raise TypeError(f"{name} is {str(row[name])[:80]!r}")
    return cls(**row)


@cache
def _typed_fields(cls: Any) -> list[tuple[str, tuple[type, ...]]]:
    """Return the fields of plain types, which are known by the text of their annotations."""
    found = ((field.name, _TYPES.get(str(field.type))) for field in fields(cls))
    return [(name, types) for name, types in found if types]
