"""The YAML file of operators and command line. Read when a task runs, never when a DAG is parsed."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from lakekeeper_provider.exceptions import UsageError, nearest
from lakekeeper_provider.options.definitions import OPTIONS, parse_options
from lakekeeper_provider.options.parsers import absent, from_json, mapping, text_list, wrong
from lakekeeper_provider.options.selection import Selection, table_name
from lakekeeper_provider.options.spark_submit import KEYS, SparkSubmit, parsed
from lakekeeper_provider.options.window import MaintenanceWindow

_GLOBAL = frozenset(key for key, option in OPTIONS.items() if option.section)
_PER_TABLE = frozenset(key for key in _GLOBAL if OPTIONS[key].per_table)
#: What the command line works on, where it names no tables.
_SELECTION = frozenset({"table", "database"})
_SECTIONS = frozenset({"spark_submit", "windows", "tables", "hive_server"}) | _SELECTION


#: What PyYAML raises for bytes that are no UTF-8, a date that is none, a number of many digits or deep nesting.
_OF_VALUES = (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError)
#: What a message shows of a key. The path may be a parameter of a DAG run, and so that of another file with a secret.
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")
_SERVER = re.compile(r"[A-Za-z0-9.-]+(:\d+)?\Z")


@dataclass(frozen=True)
class Config:
    """A parsed file. ``settings`` and ``tables`` hold only what it gives, by the option keys of the wire.

    Args:
        selection: the tables that the command line works on if it names none; None if the file names none either
        hive_server: host and port of HiveServer2 in the URIs of asset events
    """

    settings: Mapping[str, Any] = field(default_factory=dict)
    tables: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    windows: Mapping[str, MaintenanceWindow] = field(default_factory=dict)
    spark_submit: SparkSubmit = field(default_factory=SparkSubmit)
    hive_server: str = "default"
    selection: Selection | None = None

    def window(self, value: Any) -> MaintenanceWindow:
        """Return a window that is given as such, by its fields or JSON of them, or by its name in the file."""
        value = from_json("window", value)
        if not isinstance(value, str):
            return MaintenanceWindow.of(value)
        if value not in self.windows:
            hint = nearest(value, self.windows)
            raise UsageError(f"window: {value!r} is not under windows of the configuration file{hint}")
        return self.windows[value]


def load(path: str | Path | None) -> Config:
    """Read a file; without one, everything is at its default."""
    if path is None:
        return Config()
    try:
        content = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read the configuration file {path}: {error.strerror}") from None
    except (yaml.YAMLError, *_OF_VALUES) as error:
        raise UsageError(f"{path} is not valid YAML: {_place(error)}") from None
    try:
        return parse({} if content is None else content)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None


def _place(error: Exception) -> str:
    """Return where the error is. Its text has a part of the file, which may be any file of the worker."""
    marks = [getattr(error, name, None) for name in ("context_mark", "problem_mark")]
    places = [f"line {mark.line + 1}, column {mark.column + 1}" for mark in marks if mark]
    return " to ".join(dict.fromkeys(places)) or type(error).__name__


def parse(content: Any) -> Config:
    """Check every key and value of a file's content."""
    data = mapping("the file", content)
    _known(data, _GLOBAL | _SECTIONS, "")  # guard: options_of_the_file
    _no_empty_retention(data, "")
    tables = data.get("tables")
    names = tables if isinstance(tables, list) else None
    return Config(
        settings=_settings({k: v for k, v in data.items() if k not in _SECTIONS}),
        tables=_tables(mapping("tables", None if names is not None else tables)),
        windows=_windows(mapping("windows", data.get("windows"))),
        spark_submit=_spark_submit(mapping("spark_submit", data.get("spark_submit"))),
        hive_server=hive_server(data.get("hive_server")),
        selection=_selection(data.get("table"), names, data.get("database")),
    )


def _selection(table: Any, tables: Any, database: Any) -> Selection | None:
    """Return what a file selects, as that of Lakekeeper 0.0.6 did: a table, a list of tables, or a database."""
    if all(absent(given) for given in (table, tables or None, database)):
        return None
    return Selection.of(table, tables or None, database)


def hive_server(value: Any) -> str:
    """Return host and port of HiveServer2, or the default. Raise UsageError for anything else."""
    if value is None:
        return Config.hive_server
    if not _SERVER.match(str(value)):
        raise wrong("hive_server", value, "host:port of HiveServer2")
    return str(value)


def _settings(data: Mapping[str, Any]) -> dict[str, Any]:
    given = dict(data)
    columns = mapping("sort_columns", given.pop("sort_columns", None))
    settings = parse_options(given)
    if columns:
        settings["sort_columns"] = {
            table_name("sort_columns", table): text_list(f"sort_columns.{table}", names)
            for table, names in columns.items()
        }
    return settings


def _tables(data: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    return {table_name("tables", table): _table(table, options) for table, options in data.items()}


def _table(table: str, options: Any) -> dict[str, Any]:
    where = f"tables.{table}."
    given = mapping(f"tables.{table}", options)
    _known(given, _PER_TABLE, where)  # guard: options_of_a_table
    _no_empty_retention(given, where)
    return parse_options(given, where)


def _no_empty_retention(given: Mapping[str, Any], where: str) -> None:
    """``older_than:`` with nothing behind it would mean all originals."""
    for key, value in given.items():
        if value is None and key in OPTIONS and OPTIONS[key].explicit:
            raise wrong(f"{where}{key}", None, "a value; leave the key out where there is none")


def _windows(data: Mapping[str, Any]) -> dict[str, MaintenanceWindow]:
    return {str(name): _window(name, window) for name, window in data.items()}


def _window(name: Any, value: Any) -> MaintenanceWindow:
    try:
        return MaintenanceWindow.of(value)
    except UsageError as error:
        raise UsageError(f"windows.{name}: {error}") from None


def _spark_submit(data: Mapping[str, Any]) -> SparkSubmit:
    _known(data, KEYS, "spark_submit.")
    given = {key: value for key, value in data.items() if value is not None and value not in ([], {})}
    return SparkSubmit(**{key: parsed(key, value) for key, value in given.items()})


def _known(data: Mapping[str, Any], known: Collection[str], where: str) -> None:
    for key in data:
        if key not in known:
            name = str(key) if _KEY.fullmatch(str(key)) else "that is no name"
            raise UsageError(f"unknown key {where}{name}{nearest(key, known)}")
