"""The layers from which the options of a table come, and their precedence.

Command line > request arguments > YAML section of the table > table property `lakekeeper.<option>` > YAML
global > default.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from spark_jobs.core import ddl
from spark_jobs.core.errors import Refusal, UsageError
from spark_jobs.core.options.choosing import SELECTIONS
from spark_jobs.core.options.definitions import OPTIONS, Options
from spark_jobs.core.options.limits import JOB_WIDE
from spark_jobs.core.options.option import TableProperty
from spark_jobs.core.refusals import RefusalCode

PROPERTY_PREFIX = "lakekeeper."


def check_names(values: Iterable[str], where: str) -> None:
    """Raise UsageError for an unknown option. The message names the most similar known one.

    Args:
        where: the layer, for the message.
    """
    for name in values:
        if name not in OPTIONS:
            near = difflib.get_close_matches(name, OPTIONS, n=1)
            hint = f"; did you mean '{near[0]}'?" if near else ""
            raise UsageError(f"unknown option '{name}' in {where}{hint}")


def parse_option(name: str, value: Any, where: str) -> Any:
    """Return the typed value. Raise UsageError, with the value and the expected form, if it is not valid."""
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
    """The layers of options before they are parsed, in order of precedence.

    Attributes:
        command_line: options of the command line.
        arguments: arguments in the request.
        tables: sections of the YAML file, by table.
        settings: global settings of the YAML file.
    """

    command_line: Mapping[str, Any] = field(default_factory=dict)
    arguments: Mapping[str, Any] = field(default_factory=dict)
    tables: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)

    def check(self) -> None:
        """Raise UsageError for an unknown option or a wrong value in any layer. Called before anything is changed."""
        self.resolve()
        for table, section in self.tables.items():
            _check_job_wide(section, table)
            self.resolve(table)

    def resolve(self, table: str = "", properties: Mapping[str, str] | None = None) -> Options:
        """Return the options of one table.

        Args:
            properties: the table's properties in the metastore.

        Raises:
            UsageError: an option is unknown, or a value is wrong.
            Refusal: USAGE, a table property is wrong or not allowed. It is not a mistake in the call of the job, so
                only this table is refused.
        """
        chosen: dict[str, Any] = {}
        for where, layer in reversed(self._layers(table, properties or {})):
            if where == _properties_label(table):
                chosen.update(_with_longer_retention(_parse_properties(layer, table), chosen))
            else:
                chosen.update(_parse_layer(layer, where))
        options = Options(**chosen)
        _check_selections(options, table, own_properties(properties or {}))
        return options

    def _layers(self, table: str, properties: Mapping[str, str]) -> list[tuple[str, Mapping[str, Any]]]:
        return [
            ("the command line", self.command_line),
            ("the arguments", self.arguments),
            (f"the section of table {table}", self.tables.get(table, {})),
            (_properties_label(table), own_properties(properties)),
            ("the configuration", _for_table(self.settings, table)),
        ]


def _check_job_wide(section: Mapping[str, Any], table: str) -> None:
    found = [name for name in JOB_WIDE if name in section]
    if found:
        raise UsageError(
            f"'{found[0]}' in the section of table {table} would count over all tables of a job: set it for the job"
        )


def _parse_layer(layer: Mapping[str, Any], where: str) -> dict[str, Any]:
    check_names(layer, where)
    parsed = {name: parse_option(name, value, where) for name, value in layer.items()}
    return {name: value for name, value in parsed.items() if value is not None}


def _parse_properties(layer: Mapping[str, Any], table: str) -> dict[str, Any]:
    """Raise Refusal for a table property that is not allowed, or whose value is wrong."""
    for name in layer:  # guard: properties_of_the_table
        if OPTIONS[name].table_property is TableProperty.FORBIDDEN:
            raise Refusal(
                RefusalCode.USAGE,
                f"lakekeeper.{name} is not allowed as a property of table {table}: set it in the configuration or as"
                f" an argument, and remove it with ALTER TABLE {ddl.table_name(table)} UNSET TBLPROPERTIES"
                f" ({ddl.literal(f'lakekeeper.{name}')})",
            )
    try:
        found = _parse_layer(layer, _properties_label(table))
    except UsageError as error:
        raise Refusal(RefusalCode.USAGE, str(error)) from None
    if found.get("attributes") == "warn":
        raise Refusal(
            RefusalCode.USAGE,
            f"table {table} has the property lakekeeper.attributes=warn, but a property may only be stricter (require);"
            " set it in the configuration or as an argument",
        )
    return found


_LENGTHEN_ONLY = [name for name, option in OPTIONS.items() if option.table_property is TableProperty.LENGTHEN]


def _with_longer_retention(found: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options with the longer retention: a table property cannot shorten that of the configuration."""
    longest = {
        name: max(found[name], known[name]) for name in _LENGTHEN_ONLY if name in found and name in known
    }
    return {**found, **longest}  # guard: property_only_lengthens


def _check_selections(options: Options, table: str, properties: Collection[str]) -> None:
    """Raise an error if units are selected in two ways: Refusal if a table property is one of them, else UsageError."""
    found = [name for name in SELECTIONS if getattr(options, name)]
    if len(found) < 2:
        return
    names = " and ".join(f"'{name}'" for name in found)
    if any(name in properties for name in found):
        raise Refusal(
            RefusalCode.USAGE,
            f"{names} are given, one of them as a property of table {table}; use only one of them",
        )
    raise UsageError(f"{'both ' if len(found) == 2 else ''}{names} are given; use only one of them")


def _properties_label(table: str) -> str:
    return f"the properties of table {table}"


def own_properties(properties: Mapping[str, str]) -> dict[str, str]:
    """Return the table properties `lakekeeper.<option>` by option. Other properties, such as run_id, are ignored."""
    found = {k[len(PROPERTY_PREFIX) :]: v for k, v in properties.items() if k.startswith(PROPERTY_PREFIX)}
    return {name: value for name, value in found.items() if name in OPTIONS}


def _for_table(settings: Mapping[str, Any], table: str) -> dict[str, Any]:
    """Return the global settings for one table. There, sort columns are given by table."""
    flat = dict(settings)
    by_table = flat.pop("sort_columns", None) or {}
    if not isinstance(by_table, Mapping):
        raise UsageError(
            f"sort_columns = {by_table!r} must map tables to columns, like {{db.events: [date]}}"
        )
    if table in by_table:
        flat["sort_columns"] = by_table[table]
    return flat
