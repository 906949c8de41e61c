"""The physical types of a Parquet file: what the text form of its schema says. Its grammar is that of parquet-java's
`MessageType.toString`."""

from __future__ import annotations

import re

_GROUP = re.compile(
    r"(?P<rep>required|optional|repeated) group (?P<name>.*?)(?: \((?P<note>[A-Z_]+)\))?(?: = \d+)? \{\Z"
)
_LEAF = re.compile(
    r"(?P<rep>required|optional|repeated) (?P<kind>\w+(?:\(\d+\))?) (?P<name>.*?)"
    r"(?: \((?P<note>[A-Z0-9_]+(?:\(.*\))?)\))?(?: = \d+)?;\Z"
)


def parse_message(text: str) -> dict[str, str]:
    """The leaves and groups of a Parquet message type in its text form, by lower-cased dotted path."""
    path: list[str] = []
    found: dict[str, str] = {}
    for line in (raw.strip() for raw in text.splitlines()[1:]):
        group, leaf = _GROUP.match(line), _LEAF.match(line)
        if group:
            path.append(group["name"].lower())
            found[".".join(path)] = _type("group", group["rep"], group["note"])
        elif leaf:
            found[".".join([*path, leaf["name"].lower()])] = _type(leaf["kind"], leaf["rep"], leaf["note"])
        elif line == "}" and path:
            path.pop()
    return found


def _type(kind: str, repetition: str, note: str | None) -> str:
    repeated = "repeated " if repetition == "repeated" else ""
    return f"{repeated}{kind} ({note})" if note else f"{repeated}{kind}"
