"""The physical types of a Parquet file, from its schema in the text form of parquet-java's `MessageType.toString`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType

from spark_jobs.core.messages.errors import Refusal
from spark_jobs.core.messages.refusals import RefusalCode

#: The annotations of parquet-java, the older ones too. Other words in parentheses belong to the name: `Total (USD)`.
_NOTE = (
    r"(?: \((?P<note>STRING|UTF8|ENUM|JSON|BSON|UUID|DATE|INTERVAL|FLOAT16|UNKNOWN|LIST|MAP|MAP_KEY_VALUE"
    r"|U?INT_(?:8|16|32|64)|TIME_(?:MILLIS|MICROS)|TIMESTAMP_(?:MILLIS|MICROS)"
    r"|(?:DECIMAL|INTEGER|TIME|TIMESTAMP|VARIANT|GEOMETRY|GEOGRAPHY)(?:\([^()]*\))?)\))?(?P<id> = \d+)?"
)
_GROUP = re.compile(rf"(?P<rep>required|optional|repeated) group (?P<name>.*?){_NOTE} \{{\Z")
_LEAF = re.compile(rf"(?P<rep>required|optional|repeated) (?P<kind>\w+(?:\(\d+\))?) (?P<name>.*?){_NOTE};\Z")
#: The `I` of a type's name in lower case, where the locale of the JVM is Turkish. No type has one of its own.
_DOTLESS = "\u0131"


@lru_cache(maxsize=256)
def parse_message(text: str) -> Mapping[str, str]:
    """Return the types of the leaves and groups of a Parquet message type, by lower-cased dotted path.

    Field ids are part of the type. A name with a dot is in backticks: `a.b` is another column than the field b of a.

    Raises:
        Refusal: SCHEMA_CONFLICT if two columns differ only in case.
    """
    path: list[str] = []
    types: dict[str, str] = {}
    seen: dict[str, str] = {}
    for line in (raw.strip() for raw in text.splitlines()[1:]):
        group, leaf = _GROUP.match(line), _LEAF.match(line)
        if group:
            path.append(group["name"])
            types[_new(seen, path)] = _type("group", group)
        elif leaf:
            types[_new(seen, [*path, leaf["name"]])] = _type(leaf["kind"].replace(_DOTLESS, "i"), leaf)
        elif line == "}" and path:
            path.pop()
    return MappingProxyType(types)


def unwritable(leaves: Mapping[str, str]) -> str | None:
    """Return why parquet-java writes files of these types otherwise than they were; None if it does not.

    It notes the logical type of an interval as that of a column without values. It does not believe this note when it
    reads the file, but Arrow does, and reads nulls.
    """
    for name, kind in leaves.items():
        if "(INTERVAL)" in kind:  # guard: intervals_refused
            return f"column '{name}' is an interval, which some readers would take for nulls"
    return None


def dotted(names: Sequence[str]) -> str:
    """Return a path as one text."""
    return ".".join(f"`{name}`" if "." in name else name for name in names)


def _new(seen: dict[str, str], names: Sequence[str]) -> str:
    """Return a path in lower case. Raise Refusal if there is such a path already."""
    path = dotted(names)
    key = path.lower()
    if key in seen:
        raise Refusal(
            RefusalCode.SCHEMA_CONFLICT,
            f"a file has the columns '{seen[key]}' and '{path}', which differ only in case; Hive ignores the case",
        )
    seen[key] = path
    return key


def _type(kind: str, match: re.Match[str]) -> str:
    repeated = "repeated " if match["rep"] == "repeated" else ""
    note = f" ({match['note']})" if match["note"] else ""
    return f"{repeated}{kind}{note}{match['id'] or ''}"
