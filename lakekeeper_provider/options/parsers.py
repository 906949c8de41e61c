"""Typed values from what a user gave: a Python object, YAML, or text that a template rendered.

Every parser takes the name of the value for its message, and either returns the typed value or raises an
error that shows the offending one. Its ``schema`` tells an editor the same about the YAML file (JSON Schema). The
bounds of options must equal the jobs' (``spark_jobs/core/options/parsers.py``), and a contract test compares both.
"""

from __future__ import annotations

import json
import re
import reprlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from lakekeeper_provider.exceptions import UsageError, nearest


@dataclass(frozen=True)
class Parser:
    """A parser of one kind of values.

    Args:
        parse: takes the name and the value; raises UsageError
        schema: the values that it accepts in a YAML file, as JSON Schema
        bounds: the least and the greatest value, or the longest one, as the documentation shows them
    """

    parse: Callable[[str, Any], Any]
    schema: Mapping[str, Any]
    bounds: str = ""

    def __call__(self, name: str, value: Any) -> Any:
        return self.parse(name, value)


def parser(bounds: str = "", **schema: Any) -> Callable[[Callable[[str, Any], Any]], Parser]:
    return lambda parse: Parser(parse, schema, bounds)


def absent(value: Any) -> bool:
    """Tell whether a value was not given; the template of an empty parameter renders as one of these texts.

    An empty list is given: "none of them" must not become "all of them".
    """
    return value is None or (isinstance(value, str) and value.strip() in ("", "None", "null"))


def is_template(value: Any) -> bool:
    """Tell whether an argument, or a part of it, is known only when it is rendered."""
    return "{{" in str(value)


def given(value: Any) -> Any:
    """Return the value, or None where it was not given."""
    return None if absent(value) else value


def shown(value: Any) -> str:
    """Return a value for a message: shortened, and with control characters escaped."""
    short = reprlib.Repr()
    short.maxstring = short.maxother = short.maxlong = 100
    try:
        return short.repr(value)
    except ValueError:  # Python writes no number with thousands of digits.
        return f"a value of the type {type(value).__name__}"


class WrongValue(UsageError):
    """An unexpected value. Its text shows the value; the text ``unshown`` only says its kind."""

    def __init__(self, name: str, value: Any, expected: str) -> None:
        super().__init__(f"{name}: expected {expected}, got {shown(value)}")
        self.unshown = f"{name}: expected {expected}, got {_kind(value)}"


def wrong(name: str, value: Any, expected: str) -> WrongValue:
    """Return the error for a value that is not what was expected."""
    return WrongValue(name, value, expected)


def _kind(value: Any) -> str:
    """Return what a value is, in the words of YAML."""
    if isinstance(value, str):
        return f"a text of {len(value)} characters"
    kinds = ((bool, "true or false"), ((int, float), "a number"), (Mapping, "a mapping"), (list, "a list"))
    return next((name for kind, name in kinds if isinstance(value, kind)), type(value).__name__)


LONGEST_LIST, LONGEST_ITEM, LONGEST_TEXT = 1_000, 1_000, 10_000


def plain(name: str, value: Any, longest: int, expected: str = "a string") -> str:
    """Accept text that is not empty, is not too long, and is Unicode that another program reads."""
    if not isinstance(value, str) or not value.strip():
        raise wrong(name, value, expected)
    return sendable(name, value.strip(), longest)


def sendable(name: str, value: str, longest: int) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise wrong(name, value, "text that is valid Unicode") from None  # guard: valid_unicode_only
    if len(value) > longest:  # guard: texts_have_bounds
        raise wrong(name, value, f"at most {longest} characters")
    return value


@parser(f"1 to {LONGEST_TEXT} characters", type="string", minLength=1, maxLength=LONGEST_TEXT)
def text(name: str, value: Any) -> str:
    """Accept a non-empty string."""
    return plain(name, value, LONGEST_TEXT)


@parser(type="boolean")
def boolean(name: str, value: Any) -> bool:
    """Accept true or false; a rendered template gives them as text, and ``bool("false")`` would be true."""
    if isinstance(value, bool):
        return value
    word = value.strip().lower() if isinstance(value, str) else None
    if word not in ("true", "false"):
        raise wrong(name, value, "true or false")
    return word == "true"


#: Digits are those of ASCII: others are likely a mistake, and not each program that reads the value knows them.
_NUMBER = re.compile(r"[+-]?[0-9]{1,19}(\.[0-9]{1,19})?([eE][+-]?[0-9]{1,3})?")
_INTEGER = re.compile(r"[+-]?[0-9]{1,19}")
MOST = 1_000_000_000


def number(minimum: float, maximum: float) -> Parser:
    """Make a parser of numbers between two bounds."""

    @parser(f"{minimum} to {maximum}", type="number", minimum=minimum, maximum=maximum)
    def parse(name: str, value: Any) -> float:
        result = _number(value, _NUMBER, float)
        if result is None or not minimum <= result <= maximum:  # guard: numbers_have_bounds
            raise wrong(name, value, f"a number from {minimum} to {maximum}")
        return float(result)

    return parse


def integer(minimum: int, maximum: int = MOST) -> Parser:
    """Make a parser of whole numbers between two bounds."""

    @parser(f"{minimum} to {maximum}", type="integer", minimum=minimum, maximum=maximum)
    def parse(name: str, value: Any) -> int:
        whole = isinstance(value, float) and value.is_integer()
        result = _number(int(value) if whole else value, _INTEGER, int)
        if result is None or not minimum <= result <= maximum:  # guard: whole_numbers_have_bounds
            raise wrong(name, value, f"a whole number from {minimum} to {maximum}")
        return int(result)

    return parse


def _number(value: Any, form: re.Pattern[str], kind: type) -> Any:
    """Return a number, or None where the value is none."""
    try:
        word = str(value).strip()
    except ValueError:  # Python writes no number with thousands of digits.
        return None
    return None if isinstance(value, bool) or not form.fullmatch(word) else kind(word)


def choice(*allowed: str, fold: Callable[[str], str] = str.lower) -> Parser:
    """Make a parser that accepts one of ``allowed``."""

    @parser(enum=list(allowed))
    def parse(name: str, value: Any) -> str:
        word = fold(value.strip()) if isinstance(value, str) else value
        if word not in allowed:
            raise UsageError(
                f"{name}: expected one of {', '.join(allowed)}, got {shown(value)}{nearest(shown(word), allowed)}"
            )
        return str(word)

    return parse


def pattern(
    regex: re.Pattern[str], example: str, bounds: str = "", within: Callable[[str], bool] = bool
) -> Parser:
    """Make a parser of texts that match ``regex`` as a whole.

    Args:
        within: tells whether a text that matches is within the bounds
    """

    @parser(bounds, type=["string", "integer"], pattern=f"^({regex.pattern})$")
    def parse(name: str, value: Any) -> str:
        try:
            word = str(value).strip()
        except ValueError:
            raise wrong(name, value, example) from None
        # guard: forms_have_bounds
        if isinstance(value, bool) or not regex.fullmatch(word) or not within(word):
            raise wrong(name, value, f"{example}, from {bounds}" if bounds else example)
        return word

    return parse


_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_DURATION = re.compile(r"[0-9]{1,12}\s*[smhdw]", re.IGNORECASE)
#: A century: longer times leave the calendar.
LONGEST = "36500d"


def duration(example: str, least: str = "0s", most: str = LONGEST) -> Parser:
    """Make a parser of durations between two bounds; its message shows the example."""
    lowest, highest = seconds(least), seconds(most)
    return pattern(
        _DURATION,
        f"a duration such as {example}",
        f"{least} to {most}",
        lambda word: lowest <= seconds(word) <= highest,
    )


def seconds(value: str) -> int:
    """Return how long a duration such as ``7d`` is."""
    text = value.strip().lower()
    return int(text[:-1]) * _SECONDS[text[-1]]


@parser(type="object")
def mapping(name: str, value: Any) -> Mapping[str, Any]:
    """Accept keys and values; nothing means none."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        # It may be any part of a file, also one with secrets.
        raise UsageError(wrong(name, value, "a mapping").unshown)
    return value


def from_json(name: str, value: Any) -> Any:
    """Return a list or mapping; text that looks like JSON is read as JSON."""
    if isinstance(value, str) and value.strip()[:1] in ("[", "{"):
        try:
            return json.loads(value)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{name}: not valid JSON ({error}): {shown(value)}") from None
    return value


def texts(most: int) -> Parser:
    """Make a parser of lists of texts."""

    @parser(
        f"up to {most} items",
        type=["array", "string"],
        items={"type": "string", "maxLength": LONGEST_ITEM},
        minItems=1,
        maxItems=most,
        minLength=1,
    )
    def parse(name: str, value: Any) -> list[str]:
        value = from_json(name, value)
        if isinstance(value, str):
            value = value.split(",")
        if isinstance(value, Mapping) or not isinstance(value, Iterable):
            raise wrong(name, value, "a list")
        items = [plain(name, each, LONGEST_ITEM) for each in value]
        if not 1 <= len(items) <= most:  # guard: lists_have_bounds
            raise wrong(name, value, f"a list that is not empty, of at most {most} items")
        return items

    return parse


#: A list of texts, a JSON list, or texts separated by commas: of any number, and as the value of an option.
text_list, option_list = texts(100_000), texts(LONGEST_LIST)


def words(*allowed: str) -> Parser:
    """Make a parser of lists of some of these words; the list may be empty."""

    @parser(type=["array", "string"], items={"enum": list(allowed)})
    def parse(name: str, value: Any) -> list[str]:
        found = [] if value == [] else option_list(name, value)
        for each in found:
            if each not in allowed:  # guard: known_words_in_lists
                raise wrong(name, each, f"some of {', '.join(allowed)}{nearest(each, allowed)}")
        return list(found)

    return parse
