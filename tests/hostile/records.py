"""Texts in the records of runs: a record is what the jobs have written, with one of its texts replaced."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from spark_jobs.core.records.open_units import Attempt, decode, encode


def put_text(home: Path, text: str, number: int) -> None:
    """Put a text into a record below a home: which record, and which of its texts, is chosen by the number."""
    records = [path for path in sorted(home.rglob("*")) if path.is_file() and _read(path) is not None]
    path = records[number % len(records)]
    content = _read(path)
    places = list(_texts(content))
    holder, key = places[number * 7 % len(places)]
    holder[key] = text
    data = json.dumps(content).encode()
    _write(path, gzip.compress(data) if path.read_bytes()[:2] == b"\x1f\x8b" else data)


def put_text_into_open_units(data: Path, text: str) -> None:
    """Put a text into what is noted of the units that stay open, and let them be open for two days.

    On the first day no report says that a unit is open.
    """
    earlier = (datetime.now(timezone.utc) - timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    for path in data.rglob("open-*"):
        attempts = (Attempt(text, text, text, text),)
        units = {
            key: replace(unit, since=earlier, last=earlier[:10], attempts=attempts)
            for key, unit in decode(path.read_bytes(), str(path)).items()
        }
        _write(path, encode(units))


def _read(path: Path) -> Any:
    """Return the JSON object of a file; None if it has none with a text."""
    data = path.read_bytes()
    try:
        found = json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    except ValueError:
        return None
    return found if any(_texts(found)) else None


def _write(path: Path, data: bytes) -> None:
    # Hadoop's local file system would notice that the file is another one.
    path.with_name(f".{path.name}.crc").unlink(missing_ok=True)
    path.write_bytes(data)


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
