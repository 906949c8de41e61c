"""The parsers that only options of the jobs need; see ``parsers.py``."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

from lakekeeper_provider.options.parsers import (
    Parser,
    from_json,
    option_list,
    parser,
    pattern,
    plain,
    sendable,
    wrong,
)

_BYTES = {"b": 1, "kb": 1024, "mb": 1024**2, "gb": 1024**3, "tb": 1024**4}
_SIZE = re.compile(r"([0-9]{1,19})(\.[0-9]{1,9})?\s*([kmgtKMGT]?[bB])?")


def size(least: str, most: str) -> Parser:
    """Make a parser of sizes between two bounds."""
    lowest, highest = bytes_of(least), bytes_of(most)
    bounds = f"{least} to {most}"
    return pattern(_SIZE, "a size such as 512mb", bounds, lambda word: lowest <= bytes_of(word) <= highest)


def bytes_of(word: str) -> float:
    """Return the bytes of a size such as ``512mb``, which a parser of sizes has accepted."""
    match = _SIZE.fullmatch(word)
    assert match  # noqa: S101 - for mypy: only words that match come here
    return (int(match[1]) + float(match[2] or 0)) * _BYTES[(match[3] or "b").lower()]


def identifier(longest: int) -> Parser:
    """Make a parser of names of the metastore."""
    bounds = f"1 to {longest} characters"
    name = re.compile(rf"[A-Za-z0-9_]{{1,{longest}}}")
    parse = pattern(name, f"a name of {bounds}: letters, digits and _")
    return Parser(parse.parse, parse.schema, bounds)


#: ISO 8601 as each version of Python reads it.
_INSTANT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{3}([0-9]{3})?)?)?(Z|[+-][0-9]{2}:[0-9]{2})"
)
_YEARS = range(2000, 9999)


@parser(type="string", format="date-time")
def instant(name: str, value: Any) -> str:
    """Accept an ISO 8601 time with its UTC offset."""
    word = value.strip() if isinstance(value, str) else ""
    try:
        if _INSTANT.fullmatch(word) and _year(word) in _YEARS:
            return word
    except (ValueError, OverflowError):
        pass
    raise wrong(
        name, value, "an ISO 8601 time with its UTC offset, like 2026-02-24T05:00:00+00:00, from 2000 to 9998"
    )


def _year(word: str) -> int:
    moment = datetime.fromisoformat(word.replace("Z", "+00:00"))
    return moment.year if moment.astimezone(timezone.utc) else 0


@parser(option_list.bounds, type="string", minLength=1)
def globs(name: str, value: Any) -> str:
    """Accept shell globs, separated by commas."""
    if not isinstance(value, str):
        raise wrong(name, value, "a string")
    for glob in option_list(name, value):
        try:
            re.compile(fnmatch.translate(glob))
        except re.error:
            raise wrong(name, glob, "a shell glob") from None
    return value.strip()


#: This many partition specs may be given, with this many characters in all of them, and in one key or value.
MOST_SPECS, _LONGEST_SPECS, _LONGEST_VALUE = 100_000, 10_000_000, 10_000


@parser(f"1 to {MOST_SPECS} partitions", type=["array", "object"], minItems=1, maxItems=MOST_SPECS)
def partition_list(name: str, value: Any) -> list[dict[str, str | None]]:
    """Accept a list of partition specs such as ``[{"date": "2026-02-23"}]``, or one spec alone."""
    value = from_json(name, sendable(name, value, _LONGEST_SPECS) if isinstance(value, str) else value)
    specs = [value] if isinstance(value, Mapping) else value
    if isinstance(specs, str) or not isinstance(specs, Sequence) or not 1 <= len(specs) <= MOST_SPECS:
        raise wrong(name, value, 'a list of partitions such as [{"date": "2026-02-23"}]')
    return [_partition(name, spec) for spec in specs]


def _partition(name: str, spec: Any) -> dict[str, str | None]:
    if not isinstance(spec, Mapping) or not spec:
        raise wrong(name, spec, 'a partition such as {"date": "2026-02-23"}')
    return {plain(name, key, _LONGEST_VALUE): _partition_value(name, value) for key, value in spec.items()}


def _partition_value(name: str, value: Any) -> str | None:
    if value is None:
        return None
    try:
        if isinstance(value, (str, int)) and not isinstance(value, bool):
            # JSON has no other way to write 2026; "01" must come as a text.
            return sendable(name, str(value), _LONGEST_VALUE)
    except ValueError:
        pass
    raise wrong(name, value, "a partition value as a string")
