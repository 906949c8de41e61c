"""The YAML file of operators and command line. Read when a task runs, never when a DAG is parsed."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import yaml

from lakekeeper_provider.exceptions import UsageError, nearest
from lakekeeper_provider.options import EXPLICIT, OPTIONS, parse_options
from lakekeeper_provider.parsers import Parser, boolean, choice, integer, text, text_list, wrong
from lakekeeper_provider.selection import table_name
from lakekeeper_provider.window import MaintenanceWindow

_GLOBAL = frozenset(key for key, option in OPTIONS.items() if option.in_config)
_PER_TABLE = frozenset(key for key in _GLOBAL if OPTIONS[key].per_table)
log = logging.getLogger(__name__)
#: The programs of Lakekeeper 0.0.6, and of what it was called before.
_LAKEKEEPERS = ("run_lakekeeper.py", "run_beekeeper.py")
_SECTIONS = frozenset({"spark_submit", "windows", "tables"})


@dataclass(frozen=True)
class SparkSubmit:
    """The ``spark_submit`` section; None where the file says nothing."""

    enabled: bool = False
    submit_command: str | None = None
    master: str | None = None
    deploy_mode: str | None = None
    principal: str | None = None
    keytab: str | None = None
    proxy_user: str | None = None
    use_krb5ccache: bool = False
    queue: str | None = None
    archives: str | None = None
    python_env: str | None = None
    executor_memory: str | None = None
    num_executors: int | None = None
    executor_cores: int | None = None
    driver_memory: str | None = None
    script_path: str | None = None
    extra_conf: Mapping[str, str] = field(default_factory=dict)
    extra_files: tuple[str, ...] = ()
    py_files: tuple[str, ...] = ()
    report_dir: str | None = None


@dataclass(frozen=True)
class Config:
    """A parsed file. ``settings`` and ``tables`` hold only what it gives, by the option keys of the wire."""

    settings: Mapping[str, Any] = field(default_factory=dict)
    tables: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    windows: Mapping[str, MaintenanceWindow] = field(default_factory=dict)
    spark_submit: SparkSubmit = field(default_factory=SparkSubmit)

    def window(self, value: Any) -> MaintenanceWindow:
        """Return a window that is given as such, by its fields, or by its name in the file."""
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
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not valid YAML: {' '.join(str(error).split())}") from None
    try:
        return parse({} if content is None else content)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None


def parse(content: Any) -> Config:
    """Check every key and value of a file's content."""
    data = _mapping("the file", content)
    _known(data, _GLOBAL | _SECTIONS, "")
    _no_empty_retention(data, "")
    return Config(
        settings=_settings({k: v for k, v in data.items() if k not in _SECTIONS}),
        tables=_tables(_mapping("tables", data.get("tables"))),
        windows=_windows(_mapping("windows", data.get("windows"))),
        spark_submit=_spark_submit(_mapping("spark_submit", data.get("spark_submit"))),
    )


def _settings(data: Mapping[str, Any]) -> dict[str, Any]:
    given = dict(data)
    columns = _mapping("sort_columns", given.pop("sort_columns", None))
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
    given = _mapping(f"tables.{table}", options)
    _known(given, _PER_TABLE, where)
    _no_empty_retention(given, where)
    return parse_options(given, where)


def _no_empty_retention(given: Mapping[str, Any], where: str) -> None:
    """``older_than:`` with nothing behind it would mean all originals."""
    for key in EXPLICIT & given.keys():
        if given[key] is None:
            raise wrong(f"{where}{key}", None, "a value; leave the key out where there is none")


def _windows(data: Mapping[str, Any]) -> dict[str, MaintenanceWindow]:
    return {str(name): _window(name, window) for name, window in data.items()}


def _window(name: Any, value: Any) -> MaintenanceWindow:
    try:
        return MaintenanceWindow.of(value)
    except UsageError as error:
        raise UsageError(f"windows.{name}: {error}") from None


def _conf_value(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()  # Spark reads "true", not Python's "True"
    if isinstance(value, (str, int, float)):
        return str(value)
    raise UsageError(f"{name}: expected a text or a number, got {value!r}")


def _conf(name: str, value: Any) -> dict[str, str]:
    return {str(key): _conf_value(f"{name}.{key}", entry) for key, entry in _mapping(name, value).items()}


def _files(name: str, value: Any) -> tuple[str, ...]:
    return tuple(text_list(name, value))


def _script(name: str, value: Any) -> str | None:
    """Accept an entry point of one's own. Lakekeeper's takes neither lease nor journal, and is not started."""
    path = text(name, value)
    if path.rpartition("/")[2] in _LAKEKEEPERS:
        log.warning(
            "%s: %s is Lakekeeper's own program, which knows nothing of this package's leases and journals: it is"
            " ignored, and the jobs of this package are submitted; remove the line",
            name,
            path,
        )
        return None
    return path


_SPARK_PARSERS: Mapping[str, Parser] = {
    "enabled": boolean,
    "use_krb5ccache": boolean,
    "deploy_mode": choice("client", "cluster"),
    "num_executors": integer(1),
    "executor_cores": integer(1),
    "extra_conf": _conf,
    "extra_files": _files,
    "py_files": _files,
    "script_path": _script,
}


def _spark_submit(data: Mapping[str, Any]) -> SparkSubmit:
    _known(data, {item.name for item in fields(SparkSubmit)}, "spark_submit.")
    given = {key: value for key, value in data.items() if value is not None and value not in ([], {})}
    return SparkSubmit(**{key: _spark_value(key, value) for key, value in given.items()})


def _spark_value(key: str, value: Any) -> Any:
    parse: Parser = _SPARK_PARSERS.get(key, text)
    return parse(f"spark_submit.{key}", value)


def _mapping(name: str, value: Any) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise UsageError(f"{name}: expected keys and values, got {value!r}")
    return value


def _known(data: Mapping[str, Any], known: set[str] | frozenset[str], where: str) -> None:
    for key in data:
        if key not in known:
            raise UsageError(f"unknown key {where}{key}{nearest(key, known)}")
