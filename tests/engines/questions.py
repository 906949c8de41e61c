"""What the engines are asked about a table: all rows, and one condition for each column of a primitive type."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

#: The name of the question for all rows.
ALL = "*"
#: What the name of a question ends with that reads the files whole, whatever their statistics say.
SCANNED = " (scanned)"
FLOATS = ("float", "double")
#: The values of which a condition takes its constant, by type without parameters: those whose text each engine takes
#: as a literal. Others of the column are not excluded by that, and a condition reads them too.
_PLAIN = {
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), r"-?\d{1,18}"),
    **dict.fromkeys(FLOATS, r"-?\d{1,6}\.\d{1,6}"),
    "decimal": r"-?\d{1,10}(\.\d+)?",
    "boolean": r"true|false",
    **dict.fromkeys(("string", "varchar"), r"[A-Za-z0-9]+"),
    "char": r"[A-Za-z0-9]+ *",
    "date": r"[12]\d{3}-\d\d-\d\d",
    "timestamp": r"[12]\d{3}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?",
}
#: How a literal of a type is written in each dialect; `{}` is its text.
_LITERALS = {
    "hive": {
        "float": "cast({} as float)",
        "double": "cast({} as double)",
        "decimal": "cast('{}' as {type})",
        **dict.fromkeys(("string", "char", "varchar"), "'{}'"),
        "date": "DATE '{}'",
        "timestamp": "TIMESTAMP '{}'",
    },
    "trino": {
        "float": "REAL '{}'",
        "double": "DOUBLE '{}'",
        "decimal": "DECIMAL '{}'",
        **dict.fromkeys(("string", "char", "varchar"), "'{}'"),
        "date": "DATE '{}'",
        "timestamp": "TIMESTAMP '{}'",
    },
}


def condition(dialect: str, column: str, kind: str, values: Sequence[Any]) -> str | None:
    """Return a condition on a column of a primitive type, with a constant that one of the values is.

    Args:
        kind: the type, as the DDL has it.
        values: those of the column, as text or numbers; the engine's own, for time zones differ.

    Returns:
        None for a type that is not primitive, or of bytes; `IS NULL` where no value fits.
    """
    name = kind.partition("(")[0]
    if name not in _PLAIN:
        return None
    quoted = f'"{column}"' if dialect == "trino" else f"`{column}`"
    found = constant(name, values)
    if found is None:
        return f"{quoted} IS NULL"
    literal = _LITERALS[dialect].get(name, "{}").format(found, type=kind)
    return f"{quoted} = {literal}"


def constant(kind: str, values: Sequence[Any]) -> str | None:
    """Return the most frequent of the values that make a literal, for it is in most files.

    Of several, it is the middle one, so that rows lie on both sides of it.
    """
    fitting = Counter(text for value in values if re.fullmatch(_PLAIN[kind], text := _text(value)))
    if not fitting:
        return None
    most = max(fitting.values())
    frequent = sorted(text for text, count in fitting.items() if count == most)
    return frequent[len(frequent) // 2].rstrip()


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)


def statements(
    dialect: str, table: str, columns: Mapping[str, str], rows: Sequence[Sequence[Any]]
) -> dict[str, str]:
    """Return the questions about a table by their names, but for the one for all rows, whose answer is given."""
    found = {}
    for place, (column, kind) in enumerate(columns.items()):
        where = condition(dialect, column, kind, [row[place] for row in rows])
        if where:
            found[column] = f"SELECT * FROM {table} WHERE {where}"
    return found


def with_nan(columns: Mapping[str, str], rows: Sequence[Sequence[Any]]) -> list[str]:
    """Return the columns of floating point numbers that have a NaN."""
    return [
        column
        for place, (column, kind) in enumerate(columns.items())
        if kind in FLOATS and any(_text(row[place]).lower() == "nan" for row in rows)
    ]
