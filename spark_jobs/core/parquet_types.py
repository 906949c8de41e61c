"""The physical types of a Parquet file: what the text form of its schema says. Its grammar is that of parquet-java's
`MessageType.toString`."""

from __future__ import annotations

import re

from spark_jobs.core.errors import Refusal
from spark_jobs.core.refusals import RefusalCode

_GROUP = re.compile(
    r"(?P<rep>required|optional|repeated) group (?P<name>.*?)(?: \((?P<note>[A-Z_]+)\))?(?P<id> = \d+)? \{\Z"
)
_LEAF = re.compile(
    r"(?P<rep>required|optional|repeated) (?P<kind>\w+(?:\(\d+\))?) (?P<name>.*?)"
    r"(?: \((?P<note>[A-Z0-9_]+(?:\(.*\))?)\))?(?P<id> = \d+)?;\Z"
)


def parse_message(text: str) -> dict[str, str]:
    """The leaves and groups of a Parquet message type in its text form, by lower-cased dotted path; field ids are part
    of the type. Raises Refusal SCHEMA_CONFLICT where two columns have one name to Hive."""
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
    return found


def _add(found: dict[str, str], path: list[str], kind: str) -> None:
    name = ".".join(path)
    if name in found:
        raise Refusal(
            RefusalCode.SCHEMA_CONFLICT,
            f"a file holds two columns that are '{name}' to Hive, which knows no case",
        )
    found[name] = kind


def _type(kind: str, match: re.Match[str]) -> str:
    repeated = "repeated " if match["rep"] == "repeated" else ""
    note = f" ({match['note']})" if match["note"] else ""
    return f"{repeated}{kind}{note}{match['id'] or ''}"
