"""The options of the jobs: the table ``options.json``, which the jobs' own table is written to (``make docs``).

The command line, the checks of the YAML file, its template, its JSON Schema and README's table are derived from it.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from lakekeeper_provider.exceptions import UsageError
from lakekeeper_provider.options.option import Flag, Option
from lakekeeper_provider.options.option_parsers import globs, identifier, instant, partition_list, size
from lakekeeper_provider.options.parsers import (
    Parser,
    absent,
    boolean,
    choice,
    duration,
    integer,
    number,
    option_list,
    shown,
    text,
    words,
    wrong,
)

_TABLE = json.loads(Path(__file__).with_name("options.json").read_text())
#: The levels of options: who needs them every day comes first.
LEVELS: tuple[str, ...] = tuple(_TABLE["levels"])

_PARSERS: Mapping[str, Parser] = {
    "boolean": boolean,
    "globs": globs,
    "instant": instant,
    "list": option_list,
    "partitions": partition_list,
    "text": text,
}
_WITH_BOUNDS: Mapping[str, Callable[..., Parser]] = {
    "identifier": identifier,
    "integer": integer,
    "number": number,
    "size": size,
    "words": words,
}


def _parser(row: Mapping[str, Any]) -> Parser:
    kind, *bounds = row["kind"]
    if kind == "duration":
        return duration(row["example"] or row["default"] or row["metavar"], *bounds)
    if kind == "choice":
        return choice(*bounds, fold=str.upper if bounds[0].isupper() else str.lower)
    return _WITH_BOUNDS[kind](*bounds) if bounds else _PARSERS[kind]


def _option(row: Mapping[str, Any]) -> Option:
    flag = Flag(row["flag"], tuple(row["verbs"]), row["metavar"], row["off"]) if row["flag"] else None
    told = {name: row[name] for name in ("key", "help", "default", "level", "section", "note", "example")}
    layers, explicit = tuple(row["layers"]), row["limits_deletion"]
    return Option(**told, parse=_parser(row), layers=layers, flag=flag, explicit=explicit)


OPTIONS: Mapping[str, Option] = {row["key"]: _option(row) for row in _TABLE["options"]}


Operator = TypeVar("Operator")
_ARGS = "\n\nArgs:\n"


def documented(operator: type[Operator]) -> type[Operator]:
    """Add the options that are arguments of this class to its docstring; its bases document theirs."""
    inherited = {key for base in operator.__mro__[1:] for key in getattr(base, "option_keys", ())}
    own = [OPTIONS[key] for key in getattr(operator, "option_keys", ()) if key not in inherited]
    lines = "".join(f"    {option.key}: {_text(option)}\n" for option in own)
    said = inspect.cleandoc(operator.__doc__ or "")
    before, found, after = said.partition(_ARGS)
    operator.__doc__ = f"{before}{_ARGS}{lines}{after}\n" if found else f"{said}{_ARGS}{lines}"
    return operator


def _text(option: Option) -> str:
    return option.help if option.default in (None, False) else f"{option.help} (default: {option.default})"


#: The options that select units. Only one of them can be given.
SELECTIONS = ("partitions", "where", "idle_for")
_ANY_AGE = re.compile(r"\s*0+\s*[smhdw]\s*")
#: What a plan tells, and a compaction takes from the table.
_TOLD = ("readers",)


def parse_options(given: Mapping[str, Any], where: str = "") -> dict[str, Any]:
    """Return the typed options by key; one that is None was not given, and is left out.

    Args:
        where: prefix of the keys in messages

    Raises:
        UsageError: a value is wrong, or two options exclude each other
    """
    for key, value in given.items():
        if OPTIONS[key].explicit and isinstance(value, str) and absent(value):  # guard: no_empty_limit
            raise wrong(f"{where}{key}", value, "a value: without one, all originals would be deleted")
    parsed = {k: OPTIONS[k].parse(f"{where}{k}", v) for k, v in given.items() if not absent(v)}
    check_selections(parsed)
    return parsed


def options_of_plan(where: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that a compaction takes from a plan, as the plan has them.

    Args:
        where: prefix of the keys in messages

    Raises:
        UsageError: an option is not one that chooses or sizes work, or its value is wrong
    """
    taken = {key: value for key, value in given.items() if key not in _TOLD}
    for key, value in taken.items():
        if key not in OPTIONS or not OPTIONS[key].planned:  # guard: plans_set_what_they_may
            may = ", ".join(each for each, option in OPTIONS.items() if option.planned)
            raise UsageError(f"{where}a plan cannot set {shown(key)}, but only {may}")
        if value != []:  # a table without columns to sort by
            OPTIONS[key].parse(f"{where}{key}", value)
    return taken


def check_selections(given: Mapping[str, Any]) -> None:
    """Check that units are selected in one way; ``idle_for="0s"`` selects none.

    Args:
        given: the options that are given, by key

    Raises:
        UsageError: two of them are given
    """
    selections = [key for key in SELECTIONS if key in given and not _ANY_AGE.fullmatch(str(given[key]))]
    if len(selections) > 1:
        raise UsageError(f"{' and '.join(selections)} are mutually exclusive: give one of them")
