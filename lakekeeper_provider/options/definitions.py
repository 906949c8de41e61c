"""The options of the jobs: the table ``options.json``, which the jobs' own table is written to (``make docs``).

The command line, the checks of the YAML file, its template, its JSON Schema and README's table are derived from it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from lakekeeper_provider.options.option import Flag, Option
from lakekeeper_provider.options.option_parsers import globs, identifier, instant, partition_list, size
from lakekeeper_provider.options.parsers import (
    Parser,
    boolean,
    choice,
    duration,
    integer,
    number,
    option_list,
    text,
)

_TABLE = json.loads(Path(__file__).with_name("options.json").read_text())
#: The titles of the sections of the YAML template, in its order.
SECTIONS: tuple[str, ...] = tuple(_TABLE["sections"])
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
