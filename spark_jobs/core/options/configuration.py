"""The configuration file of a job that a person starts. In Airflow the provider reads it and sends a request."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from spark_jobs.core.messages.errors import UsageError
from spark_jobs.core.messages.printable import shortened
from spark_jobs.core.options.arguments import Invocation
from spark_jobs.core.options.option import DOCTOR

#: Sections for submitting and scheduling, which a job ignores.
_IGNORED_SECTIONS = ("spark_submit", "windows", "hive_server")
#: What PyYAML raises for a tag whose value has another form, a number with thousands of digits, or deep nesting.
_OF_VALUES = (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError)


@dataclass(frozen=True)
class Configuration:
    """What a file says.

    Attributes:
        settings: the global options.
        sections: the options of single tables, by name.
        tables, database: what is worked on if the command line names nothing.
    """

    settings: Mapping[str, Any] = field(default_factory=dict)
    sections: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    tables: tuple[str, ...] = ()
    database: str | None = None

    def named_as_a_whole(self, invocation: Invocation) -> str | None:
        """Return what is worked on, if nobody has named the tables on the command line; None if somebody has."""
        if invocation.tables or invocation.location or invocation.plan:
            return None
        database = invocation.database or self.database
        return (
            f"the whole database {database}" if database else "the tables that the configuration file names"
        )

    def completing(self, invocation: Invocation) -> Invocation:
        """Return the invocation with the tables or the database of the file, if the command line names nothing.

        Raises:
            UsageError: the file names nothing either, and the verb works on tables.
        """
        if invocation.tables or invocation.database or invocation.location or invocation.plan:
            return invocation
        if not self.tables and not self.database and invocation.verb != DOCTOR:
            raise UsageError(
                "nothing is named to work on: give --table, --tables or --database, or one of these keys in the"
                " configuration file"
            )
        return replace(invocation, tables=self.tables, database=self.database)


def parse_config(text: str, name: str) -> Configuration:
    """Parse a YAML or JSON text.

    Args:
        name: the name of the file. A name that ends with `.json` means JSON.

    Raises:
        UsageError: the text is not valid.
    """
    data = _load(text, name)
    if data is None:
        return Configuration()
    if not isinstance(data, dict):
        raise UsageError(f"{name} must be a mapping of keys and values, not {type(data).__name__}")
    settings = {key: value for key, value in data.items() if key not in _IGNORED_SECTIONS}
    tables = settings.pop("tables", None) or {}
    selected = _selected(name, settings.pop("table", None), tables, settings.pop("database", None))
    if isinstance(tables, list):
        return Configuration(settings, {}, *selected)
    if not isinstance(tables, dict) or not all(isinstance(section, dict) for section in tables.values()):
        raise UsageError(f"'tables' in {name} must map DATABASE.TABLE to options, or be a list of such names")
    return Configuration(settings, tables, *selected)


def _selected(name: str, table: Any, tables: Any, database: Any) -> tuple[tuple[str, ...], str | None]:
    """Return the tables and the database that a file names, as that of Lakekeeper 0.0.6 did."""
    names = tables if isinstance(tables, list) else []
    given = [each for each in (table, names, database) if each]
    if len(given) > 1:
        raise UsageError(f"{name} must have one of 'table', 'database' and a list of 'tables', not several")
    if not all(isinstance(each, str) for each in (*names, table or "", database or "")):
        raise UsageError(f"the names of tables and databases in {name} must be texts")
    return tuple(names or ([table] if table else [])), (database or "").strip() or None


def _load(text: str, name: str) -> Any:
    if name.endswith(".json"):
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{name} is not valid JSON: {shortened(str(error))}") from None
    try:
        import yaml
    except ImportError:
        raise UsageError(
            f"{name} is YAML, and this Python has no PyYAML; install PyYAML or write the file as .json"
        ) from None
    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, *_OF_VALUES) as error:
        raise UsageError(f"{name} is not valid YAML: {shortened(' '.join(str(error).split()))}") from None
