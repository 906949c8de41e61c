"""The layers from which the options of a table come, and their precedence.

Command line > request arguments > plan > YAML section of the table > table property `lakekeeper.<option>` > YAML
global > default.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from spark_jobs.core.messages.errors import Refusal, UsageError
from spark_jobs.core.messages.nearest import nearest
from spark_jobs.core.messages.printable import shown
from spark_jobs.core.messages.refusals import RefusalCode
from spark_jobs.core.messages.warning_codes import WarningCode
from spark_jobs.core.options.choosing import SELECTIONS
from spark_jobs.core.options.definitions import OPTIONS, Options
from spark_jobs.core.options.option import Layer
from spark_jobs.core.values.model import TableName

PROPERTY_PREFIX = "lakekeeper."
#: The properties of backup tables, which are no options.
OWN_PROPERTIES = ("lakekeeper.run_id", "lakekeeper.source_table")


def check_names(values: Iterable[str], where: str) -> None:
    """Raise UsageError for an unknown option. The message names the most similar known one.

    Args:
        where: the layer, for the message.
    """
    for name in values:
        if name not in OPTIONS:
            raise UsageError(f"unknown option {shown(name)} in {where}{nearest(str(name), OPTIONS)}")


def parse_option(name: str, value: Any, where: str) -> Any:
    """Return the typed value. Raise UsageError, with the value and the expected form, if it is not valid."""
    if value is None:
        return None
    try:
        return OPTIONS[name].parse(value)
    except UsageError as error:
        raise UsageError(f"{name} in {where}: {error}") from None
    except ValueError as error:
        raise UsageError(f"{name} = {shown(value)} in {where} is not valid: {error}") from None


@dataclass(frozen=True)
class Layers:
    """The layers of options before they are parsed, in order of precedence.

    Attributes:
        command_line: options of the command line.
        arguments: arguments in the request.
        planned: the options by which the units of a plan were chosen, by table.
        tables: sections of the YAML file, by table.
        settings: global settings of the YAML file.
    """

    command_line: Mapping[str, Any] = field(default_factory=dict)
    arguments: Mapping[str, Any] = field(default_factory=dict)
    planned: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    tables: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)

    def check(self) -> None:
        """Raise UsageError for an unknown option, a wrong value, or an option in a layer that may not set it.

        Called before anything is changed.
        """
        for table in ("", *self.tables, *self.planned):
            self.resolve(table)

    def resolve(self, table: str = "", properties: Mapping[str, str] | None = None) -> Options:
        """Return the options of one table.

        Args:
            properties: the table's properties in the metastore. Those that are wrong or not allowed are ignored
                (`ignored_properties`): they are no mistake in the call of the job, and must not end it.

        Raises:
            UsageError: an option is unknown or not allowed in its layer, or a value is wrong.
            Refusal: USAGE, a table property selects units in another way than the job.
        """
        own = read_properties(properties or {}, table).values
        chosen = _parse_layer(_for_table(self.settings, table), "the configuration", Layer.FILE)
        chosen.update(_with_longer_retention(own, chosen))
        for where, kind, layer in self._above_properties(table):
            chosen.update(_parse_layer(layer, where, kind))
        options = Options(**chosen)
        _check_selections(options, table, own)
        return options

    def _above_properties(self, table: str) -> list[tuple[str, Layer, Mapping[str, Any]]]:
        """Return the layers that have priority over table properties, the highest one last."""
        return [
            (f"the section of table {table}", Layer.SECTION, self.tables.get(table, {})),
            (f"the plan of table {table}", Layer.PLAN, self.planned.get(table, {})),
            ("the arguments", Layer.ARGUMENT, self.arguments),
            ("the command line", Layer.ARGUMENT, self.command_line),
        ]


def _parse_layer(layer: Mapping[str, Any], where: str, kind: Layer) -> dict[str, Any]:
    if not isinstance(layer, Mapping):
        raise UsageError(f"{where} must map options to values, and is {shown(layer)}")
    check_names(layer, where)
    for name in layer:
        if kind not in OPTIONS[name].layers:  # guard: layers_of_options
            raise UsageError(
                f"'{name}' in {where} is not allowed; it can be set as: {OPTIONS[name].setters()}"
            )
    parsed = {name: parse_option(name, value, where) for name, value in layer.items()}
    return {name: value for name, value in parsed.items() if value is not None}


@dataclass(frozen=True)
class OwnProperties:
    """What the properties of a table set, and a text about each of those that do not count."""

    values: Mapping[str, Any]
    ignored: Sequence[str]


def read_properties(properties: Mapping[str, str], table: str) -> OwnProperties:
    """Read the table properties `lakekeeper.<option>`. No error is raised for any of them."""
    values: dict[str, Any] = {}
    ignored = []
    for key, text in properties.items():
        if not key.lower().startswith(PROPERTY_PREFIX) or key in OWN_PROPERTIES:
            continue
        value, why = _read_property(key, text)
        if value is not None:
            values[key[len(PROPERTY_PREFIX) :]] = value
        if why is not None:
            what = f"the property {shown(key)} = {shown(text)} of table {table} is ignored: {why}"
            ignored.append(WarningCode.PROPERTY_IGNORED.text(what))
    return OwnProperties(values, ignored)


def _read_property(key: str, text: str) -> tuple[Any, str | None]:
    """Return what a table property sets, None if nothing; and why its own value does not count, None if it does."""
    name = key[len(PROPERTY_PREFIX) :]
    if name not in OPTIONS or not key.startswith(PROPERTY_PREFIX):
        return None, f"there is no such option{nearest(name.lower(), OPTIONS, PROPERTY_PREFIX)}"
    option = OPTIONS[name]
    if Layer.PROPERTY not in option.layers:  # guard: properties_of_the_table
        return None, f"a table property cannot set it; it can be set as: {option.setters()}"
    try:
        value = option.parse(text)
    except ValueError:
        why = f"it must be {option.parse.allowed}"
        if option.unreadable is not None:  # guard: unreadable_properties_protect
            return option.unreadable, f"{why}; until it is corrected, the strictest value counts"
        return None, why
    if value in option.too_weak:  # guard: properties_only_stricter
        return None, "a table property may only be stricter"
    return value, None


_LENGTHEN_ONLY = [name for name, option in OPTIONS.items() if option.lengthens]


def _with_longer_retention(layer: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options with the longer retention: a table property cannot shorten the configuration's."""
    longest = {
        name: max(layer[name], known[name]) for name in _LENGTHEN_ONLY if name in layer and name in known
    }
    return {**layer, **longest}  # guard: property_only_lengthens


def _check_selections(options: Options, table: str, properties: Collection[str]) -> None:
    """Raise an error if units are selected in two ways: Refusal if a table property is one of them, else UsageError."""
    selections = [name for name in SELECTIONS if getattr(options, name)]
    if len(selections) < 2:
        return
    names = " and ".join(f"'{name}'" for name in selections)
    if any(name in properties for name in selections):
        raise Refusal(
            RefusalCode.USAGE,
            f"{names} are given, one of them as a property of table {table}; use only one of them",
        )
    raise UsageError(f"{'both ' if len(selections) == 2 else ''}{names} are given; use only one of them")


def _for_table(settings: Mapping[str, Any], table: str) -> dict[str, Any]:
    """Return the global settings for one table. There, sort columns are given by table."""
    flat = dict(settings)
    by_table = flat.pop("sort_columns", None) or {}
    if not isinstance(by_table, Mapping):
        raise UsageError(
            f"sort_columns = {shown(by_table)} must map tables to columns, like {{db.events: [date]}}"
        )
    named = {str(TableName.parse(str(name))): columns for name, columns in by_table.items()}
    if table in named:
        flat["sort_columns"] = named[table]
    return flat
