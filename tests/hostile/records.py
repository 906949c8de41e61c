"""Texts in the records of runs: a record is what the jobs have written, with one of its texts replaced."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def put_text(home: Path, text: str, number: int) -> None:
    """Put a text into a record below a home: which record, and which of its texts, is chosen by the number."""
    records = [path for path in sorted(home.rglob("*")) if path.is_file() and _read(path) is not None]
    path = records[number % len(records)]
    content = _read(path)
    places = list(_texts(content))
    holder, key = places[number * 7 % len(places)]
    holder[key] = text
    data = json.dumps(content).encode()
    # Hadoop's local file system would notice that the file is another one.
    path.with_name(f".{path.name}.crc").unlink(missing_ok=True)
    path.write_bytes(gzip.compress(data) if path.read_bytes()[:2] == b"\x1f\x8b" else data)


def _read(path: Path) -> Any:
    """Return the JSON object of a file; None if it has none with a text."""
    data = path.read_bytes()
    try:
        found = json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    except ValueError:
        return None
    return found if any(_texts(found)) else None


def _texts(content: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each place of a text: what holds it, and by which key or position."""
    items = (
        content.items()
        if isinstance(content, dict)
        else enumerate(content)
        if isinstance(content, list)
        else ()
    )
    for key, value in list(items):
        if isinstance(value, str):
            yield content, key
        else:
            yield from _texts(value)
