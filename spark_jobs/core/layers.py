"""Where the options of a table come from, and which layer wins.

Command line > request arguments > YAML section of the table > table property `lakekeeper.<option>` > YAML
global > default.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from spark_jobs.core.errors import Refusal, UsageError
from spark_jobs.core.option import TableProperty
from spark_jobs.core.options import OPTIONS, Options
from spark_jobs.core.refusals import RefusalCode

PROPERTY_PREFIX = "lakekeeper."


def check_names(values: Iterable[str], where: str) -> None:
    """Raises UsageError for an option that does not exist, naming the nearest one that does."""
    for name in values:
        if name not in OPTIONS:
            near = difflib.get_close_matches(name, OPTIONS, n=1)
            hint = f"; did you mean '{near[0]}'?" if near else ""
            raise UsageError(f"unknown option '{name}' in {where}{hint}")


def parse_option(name: str, value: Any, where: str) -> Any:
    """The typed value; raises UsageError with the value and what to write instead."""
    if value is None:
        return None
    try:
        return OPTIONS[name].parse(value)
    except UsageError:
        raise
    except (ValueError, TypeError) as error:
        raise UsageError(f"{name} = {value!r} in {where} is not valid: {error}") from None


@dataclass(frozen=True)
class Layers:
    """The layers of options as they came in, highest first."""

    command_line: Mapping[str, Any] = field(default_factory=dict)
    arguments: Mapping[str, Any] = field(default_factory=dict)
    tables: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)

    def check(self) -> None:
        """Raises UsageError for any unknown or ill-typed option in any layer, before anything is touched."""
        self.resolve()
        for table in self.tables:
            self.resolve(table)

    def resolve(self, table: str = "", properties: Mapping[str, str] | None = None) -> Options:
        """The options of one table; `properties` are its table properties: what cannot be read there is no mistake of
        whoever started the job, and refuses this table alone."""
        chosen: dict[str, Any] = {}
        for where, layer in reversed(self._layers(table, properties or {})):
            if where == _properties_of(table):
                chosen.update(_retained(_of_properties(layer, table), chosen))
            else:
                chosen.update(_parsed(layer, where))
        options = Options(**chosen)
        if options.where and options.partitions:
            raise UsageError("both 'where' and 'partitions' are given; use one of the two")
        return options

    def _layers(self, table: str, properties: Mapping[str, str]) -> list[tuple[str, Mapping[str, Any]]]:
        return [
            ("the command line", self.command_line),
            ("the arguments", self.arguments),
            (f"the section of table {table}", self.tables.get(table, {})),
            (_properties_of(table), own_properties(properties)),
            ("the configuration", _for_table(self.settings, table)),
        ]


def _parsed(layer: Mapping[str, Any], where: str) -> dict[str, Any]:
    check_names(layer, where)
    parsed = {name: parse_option(name, value, where) for name, value in layer.items()}
    return {name: value for name, value in parsed.items() if value is not None}


def _of_properties(layer: Mapping[str, Any], table: str) -> dict[str, Any]:
    """Raises Refusal for what has no place there, or cannot be read."""
    for name in layer:  # guard: properties_of_the_table
        if OPTIONS[name].table_property is TableProperty.FORBIDDEN:
            raise Refusal(
                RefusalCode.USAGE,
                f"lakekeeper.{name} is among the properties of table {table}, where it has no place: set it in the"
                f" configuration or as an argument, and take it away with ALTER TABLE {table} UNSET TBLPROPERTIES"
                f" ('lakekeeper.{name}')",
            )
    try:
        found = _parsed(layer, _properties_of(table))
    except UsageError as error:
        raise Refusal(RefusalCode.USAGE, str(error)) from None
    if found.get("attributes") == "warn":
        raise Refusal(
            RefusalCode.USAGE,
            f"lakekeeper.attributes=warn is among the properties of table {table}: a property may only ask for more"
            " (require); set it in the configuration or as an argument",
        )
    return found


_LENGTHENED = [name for name, option in OPTIONS.items() if option.table_property is TableProperty.LENGTHEN]


def _retained(found: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    """A table may ask for a longer retention than the configuration's, and never for a shorter one."""
    longest = {name: max(found[name], known[name]) for name in _LENGTHENED if name in found and name in known}
    return {**found, **longest}  # guard: property_only_lengthens


def _properties_of(table: str) -> str:
    return f"the properties of table {table}"


def own_properties(properties: Mapping[str, str]) -> dict[str, str]:
    """`lakekeeper.<option>` table properties that are options; others (run_id, writers) are not ours to judge here."""
    found = {k[len(PROPERTY_PREFIX) :]: v for k, v in properties.items() if k.startswith(PROPERTY_PREFIX)}
    return {name: value for name, value in found.items() if name in OPTIONS}


def _for_table(settings: Mapping[str, Any], table: str) -> dict[str, Any]:
    """Global settings hold sort columns by table."""
    flat = dict(settings)
    by_table = flat.pop("sort_columns", None) or {}
    if not isinstance(by_table, Mapping):
        raise UsageError(
            f"sort_columns = {by_table!r} must map tables to columns, like {{db.events: [date]}}"
        )
    if table in by_table:
        flat["sort_columns"] = by_table[table]
    return flat
