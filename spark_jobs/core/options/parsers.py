"""The parsers of option values, which come as strings, from JSON or from YAML, and the bounds of the values.

Each parser returns the typed value, or raises ValueError with the values that are allowed. The bounds keep a value from
what no clock, counter, memory or NameNode stands: the provider has the same ones, and a contract test compares both.
"""

from __future__ import annotations

import fnmatch
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from typing import Any

from spark_jobs.core.messages.errors import UsageError

MB = 1024 * 1024
#: Digits are those of ASCII: others are likely a mistake, and not each program that reads the value knows them.
_DURATION = re.compile(r"\s*([0-9]{1,12})\s*([smhdw])\s*\Z")
_SIZE = re.compile(r"\s*([0-9]{1,19})(\.[0-9]{1,9})?\s*(b|kb|mb|gb|tb)?\s*\Z", re.IGNORECASE)
_NUMBERS = {
    int: re.compile(r"[+-]?[0-9]{1,19}\Z"),
    float: re.compile(r"[+-]?[0-9]{1,19}(\.[0-9]{1,19})?([eE][+-]?[0-9]{1,3})?\Z"),
}
#: ISO 8601 as each version of Python reads it.
_INSTANT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{3}([0-9]{3})?)?)?(Z|[+-][0-9]{2}:[0-9]{2})\Z"
)
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_BYTES = {"b": 1, "kb": 1024, "mb": MB, "gb": 1024 * MB, "tb": 1024 * 1024 * MB}
#: No deadline is in another year: what is added to it and taken from it stays in the calendar.
_YEARS = range(2000, 9999)
LONGEST_LIST, LONGEST_ITEM, LONGEST_TEXT = 1_000, 1_000, 10_000


@dataclass(frozen=True)
class Parser:
    """The parser of one kind of values.

    Attributes:
        read: returns the typed value. Any error that it raises means that the value is not allowed.
        allowed: the values that are allowed, behind "it must be".
        bounds: the least and the greatest value, or the longest one, as the documentation shows them.
        kind: the name of the kind and its bounds, by which the provider makes its own parser.
    """

    read: Callable[[Any], Any]
    allowed: str
    bounds: str = ""
    kind: tuple[Any, ...] = ()

    def __call__(self, value: Any) -> Any:
        """Raise ValueError for a value that is not allowed."""
        try:
            return self.read(value)
        except UsageError:
            raise  # It says what is wrong in which part of the value.
        except (ValueError, TypeError, OverflowError, RecursionError, re.error):
            raise ValueError(f"it must be {self.allowed}") from None


def check(value: Any, least: Any, most: Any) -> Any:
    """Return a value that is within its bounds. Raise ValueError for another one."""
    if not least <= value <= most:  # guard: values_within_bounds
        raise ValueError
    return value


def duration(least: str, most: str) -> Parser:
    """Return the parser of durations such as `7d`, `168h`, `30m`, `60s` or `2w`."""
    bounds = f"{least} to {most}"
    lowest, highest = _seconds(least), _seconds(most)
    return Parser(
        lambda value: timedelta(seconds=check(_seconds(value), lowest, highest)),
        f"from {bounds}, like 7d, 168h, 30m or 60s",
        bounds,
        ("duration", least, most),
    )


def _seconds(value: Any) -> int:
    match = _DURATION.match(str(value).lower())
    if not match:
        raise ValueError
    return int(match[1]) * _SECONDS[match[2]]


def size(least: str, most: str) -> Parser:
    """Return the parser of sizes such as `512mb`, `1gb`, or a plain number of bytes."""
    bounds = f"{least} to {most}"
    lowest, highest = _bytes(least), _bytes(most)
    return Parser(
        lambda value: check(_bytes(value), lowest, highest),
        f"from {bounds}, like 512mb or 1gb",
        bounds,
        ("size", least, most),
    )


def _bytes(value: Any) -> int:
    match = _SIZE.match(str(value))
    if not match:
        raise ValueError
    of_unit = _BYTES[(match[3] or "b").lower()]
    return int(match[1]) * of_unit + int(float(match[2] or 0) * of_unit)


def number(kind: type, least: float, most: float) -> Parser:
    """Return the parser of numbers: `kind` is int or float."""

    def read(value: Any) -> Any:
        whole = kind is int and isinstance(value, float) and value.is_integer()
        text = str(int(value) if whole else value).strip()
        if isinstance(value, bool) or not _NUMBERS[kind].match(text):  # guard: numbers_in_digits
            raise ValueError
        return check(kind(text), least, most)

    return Parser(
        read,
        f"a {'whole ' if kind is int else ''}number from {least} to {most}",
        f"{least} to {most}",
        ("integer" if kind is int else "number", least, most),
    )


def one_of(*allowed: str, fold: Callable[[str], str] = str) -> Parser:
    def read(value: Any) -> str:
        if fold(str(value)) not in allowed:  # guard: known_words_only
            raise ValueError
        return fold(str(value))

    return Parser(read, f"one of {', '.join(allowed)}", kind=("choice", *allowed))


def identifier(longest: int) -> Parser:
    """Return the parser of names of the metastore, which are in lower case there."""

    def read(value: Any) -> str:
        if not re.match(rf"[A-Za-z0-9_]{{1,{longest}}}\Z", str(value)):  # guard: names_within_bounds
            raise ValueError
        return str(value).lower()

    bounds = f"1 to {longest} characters"
    return Parser(read, f"a name of {bounds}: letters, digits and _", bounds, ("identifier", longest))


def plain(value: Any, longest: int) -> str:
    """Return a text that is not empty. Raise ValueError for anything else."""
    if not isinstance(value, str) or not value.strip():
        raise ValueError
    return sendable(value, longest)


def sendable(text: str, longest: int) -> str:
    """Return a text. Raise ValueError if it is too long, or is no Unicode that another program reads."""
    check(len(text), 0, longest)  # guard: texts_within_bounds
    text.encode()  # guard: texts_are_unicode
    return text


def texts(*, fewest: int = 1, read_item: Callable[[str], object] = str) -> Parser:
    """Return the parser of a list, its JSON, or a string of comma-separated items.

    Args:
        read_item: raises an error for an item that is not allowed.
    """

    def read(value: Any) -> tuple[str, ...]:
        words = _items(value)
        items = tuple(plain(item, LONGEST_ITEM).strip() for item in map(_item, words) if item.strip())
        for item in items:
            read_item(item)
        # An empty text is likely a variable that is not set, and not a list without items.
        # guard: lists_within_bounds
        check(len(items), 1 if isinstance(value, str) and not value.strip() else fewest, LONGEST_LIST)
        return items

    bounds = f"up to {LONGEST_LIST} items"
    kind = "list" if read_item is str else "globs"
    return Parser(read, f"a list of {bounds}, each of 1 to {LONGEST_ITEM} characters", bounds, (kind,))


def words(*choices: str) -> Parser:
    """Return the parser of a list of some of these words, its JSON, or a string of comma-separated ones."""

    def read_item(item: str) -> None:
        if item not in choices:  # guard: known_words_in_list_only
            raise ValueError

    allowed = f"a list of some of {', '.join(choices)}"
    return replace(texts(fewest=0, read_item=read_item), allowed=allowed, bounds="", kind=("words", *choices))


def _items(value: Any) -> Any:
    if isinstance(value, str):
        value = json.loads(value) if value.strip().startswith("[") else value.split(",")
    if not isinstance(value, (list, tuple)):
        raise ValueError
    return value


def _item(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int)):  # guard: items_are_texts
        raise ValueError
    return str(value)


#: Shell globs of tables. Python compiles them, and some of them are not valid.
GLOBS = texts(read_item=lambda item: re.compile(fnmatch.translate(item)))


def _condition(value: Any) -> str:
    return plain(value, LONGEST_TEXT)


_LONG = f"1 to {LONGEST_TEXT} characters"
CONDITION = Parser(_condition, f"a condition of {_LONG}", _LONG, ("text",))


def parse_instant(value: Any) -> datetime:
    """Parse an ISO 8601 time. It must have a UTC offset, because otherwise a deadline could be wrong by hours."""
    if not _INSTANT.match(str(value)):  # guard: instants_with_offset
        raise ValueError
    instant = datetime.fromisoformat(str(value).replace("Z", "+00:00"))
    check(instant.year, _YEARS[0], _YEARS[-1])  # guard: years_within_bounds
    return instant.astimezone(timezone.utc)


INSTANT = Parser(
    parse_instant,
    "an ISO 8601 time with its UTC offset, like 2026-02-24T05:00:00+00:00, from 2000 to 9998",
    kind=("instant",),
)


def parse_bool(value: Any) -> bool:
    known = {"true": True, "false": False}
    parsed = value if isinstance(value, bool) else known.get(str(value).strip().lower())
    if parsed is None:
        raise ValueError
    return parsed


SWITCH = Parser(parse_bool, "true or false", kind=("boolean",))
