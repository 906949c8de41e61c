"""The physical types of a Parquet file, from its schema in the text form of parquet-java's `MessageType.toString`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

from spark_jobs.core.errors import Refusal
from spark_jobs.core.refusals import RefusalCode

_GROUP = re.compile(
    r"(?P<rep>required|optional|repeated) group (?P<name>.*?)(?: \((?P<note>[A-Z_]+)\))?(?P<id> = \d+)? \{\Z"
)
_LEAF = re.compile(
    r"(?P<rep>required|optional|repeated) (?P<kind>\w+(?:\(\d+\))?) (?P<name>.*?)"
    r"(?: \((?P<note>[A-Z0-9_]+(?:\(.*\))?)\))?(?P<id> = \d+)?;\Z"
)


@lru_cache(maxsize=256)
def parse_message(text: str) -> Mapping[str, str]:
    """Return the types of the leaves and groups of a Parquet message type, by lower-cased dotted path.

    Field ids are part of the type.

    Raises:
        Refusal: SCHEMA_CONFLICT if two columns differ only in case.
    """
    path: list[str] = []
    found: dict[str, str] = {}
    for line in (raw.strip() for raw in text.splitlines()[1:]):
        group, leaf = _GROUP.match(line), _LEAF.match(line)
        if group:
            path.append(group["name"].lower())
            _add(found, path, _type("group", group))
        elif leaf:
            _add(found, [*path, leaf["name"].lower()], _type(leaf["kind"], leaf))
        elif line == "}" and path:
            path.pop()
    return MappingProxyType(found)


def _add(found: dict[str, str], path: list[str], kind: str) -> None:
    name = ".".join(path)
    if name in found:
        raise Refusal(
            RefusalCode.SCHEMA_CONFLICT,
            f"a file has two columns '{name}' that differ only in case, which Hive ignores",
        )
    found[name] = kind


def _type(kind: str, match: re.Match[str]) -> str:
    repeated = "repeated " if match["rep"] == "repeated" else ""
    note = f" ({match['note']})" if match["note"] else ""
    return f"{repeated}{kind}{note}{match['id'] or ''}"
