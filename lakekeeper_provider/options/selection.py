"""The tables that a verb works on."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from lakekeeper_provider.exceptions import UsageError
from lakekeeper_provider.options.parsers import absent, pattern, text_list, wrong

_IDENTIFIER = re.compile(r"[^\s.,`'\"/]+")


@dataclass(frozen=True)
class Selection:
    """The tables to work on; names are lower case, as the metastore holds them."""

    tables: tuple[str, ...] = ()
    database: str | None = None

    @classmethod
    def of(cls, table: Any = None, tables: Any = None, database: Any = None) -> Selection:
        """Accept exactly one of the three."""
        given = {"table": table, "tables": tables, "database": database}
        named = {name: value for name, value in given.items() if not absent(value)}
        if len(named) != 1:
            shown = " and ".join(f"{name}={value!r}" for name, value in named.items()) or "none of them"
            raise UsageError(f"give exactly one of table, tables and database; got {shown}")
        [(name, value)] = named.items()
        if name == "database":
            return cls(database=pattern(_IDENTIFIER, "the name of a database")(name, value).lower())
        names = [value] if name == "table" else text_list(name, value)
        return cls(tables=tuple(dict.fromkeys(table_name(name, item) for item in names)))

    @property
    def key(self) -> str:
        """The selection as one text that does not depend on the order of the names."""
        return f"database:{self.database}" if self.database else ",".join(sorted(self.tables))


def table_name(name: str, value: Any) -> str:
    """Accept ``db.table``."""
    parts = value.strip().split(".") if isinstance(value, str) else []
    if len(parts) != 2 or not all(
        _IDENTIFIER.fullmatch(part) for part in parts
    ):  # guard: names_of_tables_only
        raise wrong(name, value, "a table as db.table")
    return ".".join(parts).lower()


def check_source(name: str, source: Any, *tables: Any) -> bool:
    """Return whether another task names the tables.

    Args:
        source: output of that task; mutually exclusive with ``tables``

    Raises:
        UsageError: both are given, or neither
    """
    if source is not None and any(given is not None for given in tables):
        raise UsageError(f"{name} already says which tables: leave table, tables and database out")
    if source is None and all(given is None for given in tables):
        raise UsageError(f"give {name}, or one of table, tables and database")
    return source is not None
