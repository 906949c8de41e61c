"""The parsers of option values, which come as strings, from JSON or from YAML.

Each parser returns the typed value, or raises ValueError with the expected form.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any

MB = 1024 * 1024
_DURATION = re.compile(r"\s*(\d+)\s*([smhdw])\s*\Z")
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(b|kb|mb|gb|tb)?\s*\Z", re.IGNORECASE)
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_BYTES = {"b": 1, "kb": 1024, "mb": MB, "gb": 1024 * MB, "tb": 1024 * 1024 * MB}


def parse_duration(text: Any) -> timedelta:
    """Parse a duration such as `7d`, `168h`, `30m`, `60s` or `2w`."""
    match = _DURATION.match(str(text))
    if not match:
        raise ValueError("write it like 7d, 168h, 30m or 60s")
    return timedelta(seconds=int(match[1]) * _SECONDS[match[2]])


def parse_size(text: Any) -> int:
    """Return the bytes of a size such as `512mb`, `1gb`, or a plain number of bytes."""
    match = _SIZE.match(str(text))
    if not match:
        raise ValueError("write it like 512mb or 1gb")
    return int(float(match[1]) * _BYTES[(match[2] or "b").lower()])


def parse_instant(text: Any) -> datetime:
    """Parse an ISO 8601 time. It must have a UTC offset, because otherwise a deadline could be wrong by hours."""
    instant = datetime.fromisoformat(str(text).replace("Z", "+00:00"))
    if instant.tzinfo is None:
        raise ValueError("it needs a UTC offset, like 2026-02-24T05:00:00+00:00")
    return instant.astimezone(timezone.utc)


def parse_bool(value: Any) -> bool:
    known = {"true": True, "false": False}
    parsed = value if isinstance(value, bool) else known.get(str(value).strip().lower())
    if parsed is None:
        raise ValueError("it must be true or false")
    return parsed


def parse_list(value: Any) -> tuple[str, ...]:
    """Parse a list, its JSON, or a string of comma-separated items."""
    if isinstance(value, str):
        value = json.loads(value) if value.strip().startswith("[") else value.split(",")
    if not isinstance(value, (list, tuple)):
        raise ValueError("it must be a list")
    return tuple(str(item).strip() for item in value if str(item).strip())


def number(kind: type, least: float) -> Callable[[Any], Any]:
    def parse(value: Any) -> Any:
        number = kind(str(value))
        if isinstance(value, bool) or not number >= least:
            raise ValueError(f"it must be at least {least}")
        return number

    return parse


def one_of(*allowed: str) -> Callable[[Any], str]:
    def parse(value: Any) -> str:
        if str(value) not in allowed:
            raise ValueError(f"it must be one of {', '.join(allowed)}")
        return str(value)

    return parse


def parse_identifier(value: Any) -> str:
    if not re.match(r"\w+\Z", str(value)):
        raise ValueError("it must consist of letters, digits and _")
    return str(value).lower()
