"""Records as the pages show them: with the types that docs/wire.md says, whoever has written them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lakekeeper_provider.report.health import Record

_TEXTS = ("table", "outcome", "code", "reason", "run_id", "held_since", "deferred_since", "backup_table")
_NUMBERS = (
    *("files", "bytes", "rows", "partitions", "seconds", "files_per_day", "left_files"),
    *("flagged", "flagged_files", "flagged_bytes", "target_files"),
    *("held_bytes", "held_runs", "freed_bytes", "trashed_bytes"),
)
#: Above it, not each whole number is one of floating point.
_MOST = 2**53
_COUNTS = ("outcomes", "warning_codes", "skipped", "rewritten")
_FIGURE = (int, float)
_OF_UNIT: Mapping[str, type | tuple[type, ...]] = {
    **{"unit": dict, "files": _FIGURE, "bytes": _FIGURE},
    **{"outcome": str, "code": str, "reason": str},
}
_OF_WRITER: Mapping[str, type | tuple[type, ...]] = {
    **{"owner": str, "pattern": str, "newest": str},
    **{"files": _FIGURE, "bytes": _FIGURE},
}


def sound(record: Mapping[str, Any]) -> Record:
    """Return a record without what is not of its type."""
    checks: dict[str, Callable[[Any], Any]] = {
        **dict.fromkeys(_TEXTS, _text),
        **dict.fromkeys(_NUMBERS, figure),
        **dict.fromkeys(_COUNTS, counts),
        **dict.fromkeys(("left", "flagged_units"), lambda value: _mappings(value, _OF_UNIT)),
        "writers": lambda value: _mappings(value, _OF_WRITER),
        "warnings": lambda value: [each for each in _list(value) if isinstance(each, str)],
        **dict.fromkeys(("open", "open_refused"), _open),
    }
    found = {key: check(record[key]) for key, check in checks.items() if record.get(key) is not None}
    known = {key: value for key, value in found.items() if value is not None}
    return {"table": "", "outcome": "unknown", **known}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def figure(value: Any) -> float | None:
    """Return a figure; None for what is none."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return None
    return value if -_MOST < value < _MOST else None  # also none that is no number, or infinite


def number(value: Any) -> float:
    """Return a figure; 0 for what is none."""
    return figure(value) or 0


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def counts(value: Any) -> dict[str, float] | None:
    """Return the figures of a mapping; None for what is no mapping."""
    if not isinstance(value, dict):
        return None
    return {key: each for key, each in value.items() if figure(each) is not None}


def _mappings(value: Any, known: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [_typed(each, known) for each in _list(value) if isinstance(each, dict)]


def _typed(value: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    """Return all keys that are known; None for one that is missing, or of another type."""
    return {key: _of_type(value.get(key), types) for key, types in known.items()}


def _of_type(value: Any, types: Any) -> Any:
    if types == _FIGURE:
        return figure(value)
    return value if isinstance(value, types) else None


def _open(value: Any) -> dict[str, str] | None:
    since = value.get("since") if isinstance(value, dict) else None
    return {"since": since} if isinstance(since, str) else None
