"""The types of an ORC file: what the text form of its schema says, in the grammar of `TypeDescription.toString`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from spark_jobs.core.errors import Refusal
from spark_jobs.core.refusals import RefusalCode

#: What Spark changes in files that are not its own: fractions below a microsecond, days that only the Julian calendar
#: has, and maps, whose keys it sorts and makes unique.
_CHANGED = re.compile(r"\b(timestamp|date|map<)")
#: What Hive 1 called the columns of every table.
_BY_POSITION = re.compile(r"_col\d+\Z")


def parse_struct(text: str) -> dict[str, str]:
    """The top-level fields of an ORC `struct<a:int,b:array<...>>`, by lower-cased name. Raises Refusal: SCHEMA_CONFLICT
    where two have one name to Hive, TYPE for a backtick in a name."""
    if "``" in text:
        raise Refusal(RefusalCode.TYPE, "a column's name holds a backtick, which would be lost")
    found: dict[str, str] = {}
    depth, start, quoted = 0, len("struct<"), False
    for index in range(start, len(text)):
        char = text[index]
        quoted ^= char == "`"
        if quoted:
            continue
        if (char == "," and depth == 0) or index == len(text) - 1:
            name, _, kind = (
                text[start:index].rpartition(":")
                if ":" not in text[start:index]
                else _split(text[start:index])
            )
            _add(found, name.strip("`").lower(), kind)
            start = index + 1
        depth += (char in "<(") - (char in ">)")
    return {name: kind for name, kind in found.items() if name}


def _add(found: dict[str, str], name: str, kind: str) -> None:
    if name in found:
        raise Refusal(
            RefusalCode.SCHEMA_CONFLICT,
            f"a file holds two columns that are '{name}' to Hive, which knows no case",
        )
    found[name] = kind


def _split(field: str) -> tuple[str, str, str]:
    end = field.index("`", 1) + 1 if field.startswith("`") else field.index(":")
    return field[:end], ":", field[end + 1 :]


def local_time(kind: str) -> bool:
    """Is there a timestamp in it that is not an instant?"""
    return "timestamp" in kind.replace("timestamp with local time zone", "")


def changed_by_spark(kind: str) -> bool:
    """Would Spark change values of this type, unless it wrote them itself?"""
    return _CHANGED.search(kind) is not None


def by_position(names: Iterable[str]) -> bool:
    """Do readers match a file of these columns to the table's by position, since their names say nothing?"""
    found = list(names)
    return bool(found) and all(_BY_POSITION.match(name) for name in found)
