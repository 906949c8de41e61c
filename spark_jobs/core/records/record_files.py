"""Files that other programs may have written: how much of them is read, and how they are decoded.

Whoever may write into a table's directory can put a file there that fills the memory of the driver when it is
decompressed, or is nested so deeply that a parser fails. Then one table would end the job of a whole database.
"""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cache
from typing import Any, TypeVar

from spark_jobs import __version__
from spark_jobs.core.messages.errors import OtherVersion
from spark_jobs.core.messages.printable import shown

#: The version of every record's schema. It changes with each change that an earlier version would misread. Version 0.1
#: gave its records the same number.
SCHEMA_VERSION = 1
#: The largest record, as it is on the file system and after decompression. A wave of a million files takes half.
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


def check_readable(data: bytes) -> None:
    """Raise ValueError for a text that `parsed` refuses for its size."""
    check_length(len(data))
    _check_values(data)


def parsed(data: bytes) -> Any:
    """Parse JSON. Raise one of `DECODING_ERRORS`."""
    check_readable(data)
    return json.loads(data)


def decompressed(data: bytes) -> bytes:
    """Return the content of a gzip file. Raise one of `DECODING_ERRORS`."""
    check_length(len(data))
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
        body = stream.read(MOST_BYTES + 1)  # guard: bounded_decompression
    check_length(len(body))
    _check_values(body)
    return body


def stamped(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the body of a record with the schema and the version that has written it."""
    return {"schema_version": SCHEMA_VERSION, "version": __version__, **body}


def unstamped(body: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return the body of the record `name` without its schema.

    Raises:
        OtherVersion: it has another schema.
        Exception: one of `DECODING_ERRORS`, if it is no record.
    """
    schema, version = body["schema_version"], body["version"]
    if type(schema) is not int:
        raise TypeError(f"schema_version is {shown(schema)}")
    if schema != SCHEMA_VERSION or str(version).startswith("0.1."):  # guard: schema_of_other_version
        raise OtherVersion(name, f"version {shown(version)} with schema {schema}", f"schema {SCHEMA_VERSION}")
    return {key: value for key, value in body.items() if key not in ("schema_version", "version")}


def packed(body: Mapping[str, Any]) -> bytes:
    """Return the content of a gzip file of a record."""
    return gzip.compress(json.dumps(stamped(body)).encode(), mtime=0)


def unpacked(data: bytes, name: str) -> dict[str, Any]:
    """Return the body of the gzip file `name`. Raise the errors of `unstamped`."""
    return unstamped(parsed(decompressed(data)), name)


def built(cls: Callable[..., T], row: Any) -> T:
    """Return an object of a dataclass from its fields. Raise one of `DECODING_ERRORS` for a value of another type."""
    for name, types in _typed_fields(cls):
        if name in row and type(row[name]) not in types:  # guard: record_types
            raise TypeError(f"{name} is {str(row[name])[:80]!r}")
    return cls(**row)


@cache
def _typed_fields(cls: Any) -> list[tuple[str, tuple[type, ...]]]:
    """Return the fields of plain types, which are known by the text of their annotations."""
    typed = ((field.name, _TYPES.get(str(field.type))) for field in fields(cls))
    return [(name, types) for name, types in typed if types]
