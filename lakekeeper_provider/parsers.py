"""Typed values from what a user gave: a Python object, YAML, or text that a template rendered.

Every parser takes the name of the value for its message, and either returns the typed value or raises an
error that shows the offending one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from lakekeeper_provider.exceptions import UsageError, nearest

Parser = Callable[[str, Any], Any]


def absent(value: Any) -> bool:
    """
    Tell whether a value was not given; the template of an empty parameter renders as one of these texts.

    An empty list is given: "none of them" must not become "all of them".
    """
    return value is None or (isinstance(value, str) and value.strip() in ("", "None", "null"))


def given(value: Any) -> Any:
    """Return the value, or None where it was not given."""
    return None if absent(value) else value


def wrong(name: str, value: Any, expected: str) -> UsageError:
    """Return the error for a value that is not what was expected."""
    return UsageError(f"{name}: expected {expected}, got {value!r}")


def text(name: str, value: Any) -> str:
    """Accept a non-empty string."""
    if not isinstance(value, str) or not value.strip():
        raise wrong(name, value, "a text")
    return value.strip()


def boolean(name: str, value: Any) -> bool:
    """Accept true or false; a rendered template gives them as text, and ``bool("false")`` would be true."""
    if isinstance(value, bool):
        return value
    word = value.strip().lower() if isinstance(value, str) else None
    if word not in ("true", "false"):
        raise wrong(name, value, "true or false")
    return word == "true"


def number(minimum: float) -> Parser:
    """Make a parser of numbers from ``minimum`` up."""

    def parse(name: str, value: Any) -> float:
        expected = f"a number from {minimum}"
        try:
            result = float(value)
        except (TypeError, ValueError):
            raise wrong(name, value, expected) from None
        if isinstance(value, bool) or not minimum <= result < float("inf"):
            raise wrong(name, value, expected)
        return result

    return parse


def integer(minimum: int) -> Parser:
    """Make a parser of whole numbers from ``minimum`` up."""

    def parse(name: str, value: Any) -> int:
        expected = f"a whole number from {minimum}"
        try:
            result = int(value)
        except (TypeError, ValueError, OverflowError):
            raise wrong(name, value, expected) from None
        if isinstance(value, bool) or result < minimum or result != float(value):
            raise wrong(name, value, expected)
        return result

    return parse


def choice(*allowed: str, fold: Callable[[str], str] = str.lower) -> Parser:
    """Make a parser that accepts one of ``allowed``."""

    def parse(name: str, value: Any) -> str:
        word = fold(value.strip()) if isinstance(value, str) else value
        if word not in allowed:
            raise UsageError(
                f"{name}: expected one of {', '.join(allowed)}, got {value!r}{nearest(word, allowed)}"
            )
        return str(word)

    return parse


def pattern(regex: re.Pattern[str], example: str) -> Parser:
    """Make a parser of texts that match ``regex`` as a whole."""

    def parse(name: str, value: Any) -> str:
        word = str(value).strip()
        if isinstance(value, bool) or not regex.fullmatch(word):
            raise wrong(name, value, example)
        return word

    return parse


def from_json(name: str, value: Any) -> Any:
    """Return a list or mapping; text that looks like JSON is read as JSON."""
    if isinstance(value, str) and value.strip()[:1] in ("[", "{"):
        try:
            return json.loads(value)
        except ValueError as error:
            raise UsageError(f"{name}: not valid JSON ({error}): {value!r}") from None
    return value


def text_list(name: str, value: Any) -> list[str]:
    """Accept a list of texts, a JSON list, or texts separated by commas."""
    value = from_json(name, value)
    if isinstance(value, str):
        value = value.split(",")
    if isinstance(value, Mapping) or not isinstance(value, Iterable):
        raise wrong(name, value, "a list")
    items = [text(name, item) for item in value]
    if not items:
        raise wrong(name, value, "a list that is not empty")
    return items


def partition_list(name: str, value: Any) -> list[dict[str, str | None]]:
    """Accept a list of partition specs such as ``[{"date": "2026-02-23"}]``, or one spec alone."""
    value = from_json(name, value)
    specs = [value] if isinstance(value, Mapping) else value
    if isinstance(specs, str) or not isinstance(specs, Sequence) or not specs:
        raise wrong(name, value, 'a list of partitions such as [{"date": "2026-02-23"}]')
    return [_partition(name, spec) for spec in specs]


def _partition(name: str, spec: Any) -> dict[str, str | None]:
    if not isinstance(spec, Mapping) or not spec:
        raise wrong(name, spec, 'a partition such as {"date": "2026-02-23"}')
    return {text(name, key): _partition_value(name, value) for key, value in spec.items()}


def _partition_value(name: str, value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)  # JSON has no other way to write 2026; "01" must come as a text
    raise wrong(name, value, "a partition value as text")
