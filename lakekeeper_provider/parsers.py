"""Typed values from what a user gave: a Python object, YAML, or text that a template rendered.

Every parser takes the name of the value for its message, and either returns the typed value or raises an
error that shows the offending one. Its ``schema`` tells an editor the same about the YAML file (JSON Schema).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lakekeeper_provider.exceptions import UsageError, nearest


@dataclass(frozen=True)
class Parser:
    """
    A parser of one kind of values.

    :param parse: takes the name and the value; raises UsageError
    :param schema: the values that it accepts in a YAML file, as JSON Schema
    """

    parse: Callable[[str, Any], Any]
    schema: Mapping[str, Any]

    def __call__(self, name: str, value: Any) -> Any:
        return self.parse(name, value)


def _parser(**schema: Any) -> Callable[[Callable[[str, Any], Any]], Parser]:
    return lambda parse: Parser(parse, schema)


def absent(value: Any) -> bool:
    """
    Tell whether a value was not given; the template of an empty parameter renders as one of these texts.

    An empty list is given: "none of them" must not become "all of them".
    """
    return value is None or (isinstance(value, str) and value.strip() in ("", "None", "null"))


def is_template(value: Any) -> bool:
    """Tell whether an argument, or a part of it, is known only when it is rendered."""
    return "{{" in str(value)


def given(value: Any) -> Any:
    """Return the value, or None where it was not given."""
    return None if absent(value) else value


def wrong(name: str, value: Any, expected: str) -> UsageError:
    """Return the error for a value that is not what was expected."""
    return UsageError(f"{name}: expected {expected}, got {value!r}")


@_parser(type="string", minLength=1)
def text(name: str, value: Any) -> str:
    """Accept a non-empty string."""
    if not isinstance(value, str) or not value.strip():
        raise wrong(name, value, "a string")
    return value.strip()


@_parser(type="boolean")
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

    @_parser(type="number", minimum=minimum)
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

    @_parser(type="integer", minimum=minimum)
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

    @_parser(enum=list(allowed))
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

    @_parser(type=["string", "integer"], pattern=f"^({regex.pattern})$")
    def parse(name: str, value: Any) -> str:
        word = str(value).strip()
        if isinstance(value, bool) or not regex.fullmatch(word):
            raise wrong(name, value, example)
        return word

    return parse


size = pattern(re.compile(r"\d+(\.\d+)?\s*([kmgtKMGT]?[bB])?"), "a size such as 512mb")
identifier = pattern(re.compile(r"\w+"), "a name of letters, digits and _")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}


def duration(example: str) -> Parser:
    """Make a parser of durations; its message shows the example."""
    return pattern(re.compile(r"\d+\s*[smhdw]"), f"a duration such as {example}")


def seconds(value: str) -> int:
    """Return how long a duration such as ``7d`` is."""
    return int(value.rstrip("smhdw ")) * _SECONDS[value.strip()[-1]]


@_parser(type="object")
def mapping(name: str, value: Any) -> Mapping[str, Any]:
    """Accept keys and values; nothing means none."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise UsageError(f"{name}: expected a mapping, got {value!r}")
    return value


def from_json(name: str, value: Any) -> Any:
    """Return a list or mapping; text that looks like JSON is read as JSON."""
    if isinstance(value, str) and value.strip()[:1] in ("[", "{"):
        try:
            return json.loads(value)
        except ValueError as error:
            raise UsageError(f"{name}: not valid JSON ({error}): {value!r}") from None
    return value


@_parser(type=["array", "string"], items={"type": "string"}, minItems=1, minLength=1)
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


@_parser(type=["array", "object"], minItems=1)
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
    raise wrong(name, value, "a partition value as a string")
