"""The types of an ORC file, from its schema in the text form of `TypeDescription.toString`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from spark_jobs.core.messages.errors import Refusal
from spark_jobs.core.messages.refusals import RefusalCode

#: Types whose values Spark changes in files of other writers: timestamps (fractions below a microsecond), dates (days
#: that only the Julian calendar has), and maps (Spark sorts keys and removes duplicates).
_CHANGED = re.compile(r"\b(timestamp|date|map<)")
#: Types whose values depend on a calendar.
_DAYS = re.compile(r"\b(timestamp|date)\b")
#: A quoted name that needs no quotes.
_QUOTED = re.compile(r"`(\w+)`")
#: The column names that Hive 1 wrote to the files of every table.
_BY_POSITION = re.compile(r"_col\d+\Z")


def parse_struct(text: str) -> dict[str, str]:
    """Return the types of the top-level fields of an ORC `struct<a:int,b:array<...>>`, by lower-cased name.

    Names in the types are in lower case too: they are matched without regard to case, like those of columns. Spark
    quotes all of them, ORC only those that need it.

    Raises:
        Refusal: SCHEMA_CONFLICT if two names differ only in case, TYPE if a name has a backtick.
    """
    if "``" in text:
        raise Refusal(RefusalCode.TYPE, "the name of a column has a backtick, which a rewrite would lose")
    types: dict[str, str] = {}
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
            _add(types, name.strip("`").lower(), _QUOTED.sub(r"\1", kind.lower()))
            start = index + 1
        depth += (char in "<(") - (char in ">)")
    return {name: kind for name, kind in types.items() if name}


def _add(types: dict[str, str], name: str, kind: str) -> None:
    if name in types:
        raise Refusal(
            RefusalCode.SCHEMA_CONFLICT,
            f"a file has two columns '{name}' that differ only in case, which Hive ignores",
        )
    types[name] = kind


def check_fields(names: Sequence[str], struct: str) -> None:
    """Raise Refusal SCHEMA_CONFLICT if two fields of a struct differ only in case, which Hive ignores."""
    twice = [name for name, times in Counter(name.lower() for name in names).items() if times > 1]
    if twice:  # guard: fields_by_case
        raise Refusal(
            RefusalCode.SCHEMA_CONFLICT,
            f"struct '{struct}' has two fields '{twice[0]}' that differ only in case, which Hive ignores",
        )


def _split(field: str) -> tuple[str, str, str]:
    end = field.index("`", 1) + 1 if field.startswith("`") else field.index(":")
    return field[:end], ":", field[end + 1 :]


def local_time(kind: str) -> bool:
    """Tell whether the type has a timestamp that is a local time and not an instant."""
    return "timestamp" in kind.replace("timestamp with local time zone", "")


def has_days(kind: str) -> bool:
    """Tell whether the values of the type depend on a calendar."""
    return _DAYS.search(kind) is not None


def changed_by_spark(kind: str) -> bool:
    """Tell whether Spark may change values of this type that another writer wrote."""
    return _CHANGED.search(kind) is not None


def by_position(names: Iterable[str]) -> bool:
    """Tell whether all names are generated (`_col0`), so that readers match the columns by position."""
    paths = list(names)
    return bool(paths) and all(_BY_POSITION.match(name) for name in paths)
