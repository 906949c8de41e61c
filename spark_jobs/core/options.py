"""The options of the jobs: their types, their defaults, and which layer wins.

Command line > request arguments > YAML section of the table > table property `lakekeeper.<option>` > YAML
global > default.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta, timezone
from typing import Any

from spark_jobs.core.errors import Refusal, UsageError
from spark_jobs.core.health import Thresholds
from spark_jobs.core.other_writers import WriterRules
from spark_jobs.core.selection import PartitionSpec, parse_partitions

MB = 1024 * 1024
PROPERTY_PREFIX = "lakekeeper."
_RETENTION = ("older_than", "keep_last")
#: What whoever may change a table's properties may not say: SQL that the jobs' account runs, databases that it creates
#: tables in, and what protects the table's originals from him.
_NO_PROPERTIES = ("where", "backup_database", "skip_trash", "allow_short_retention", "trusted_owners")
_DURATION = re.compile(r"\s*(\d+)\s*([smhdw])\s*\Z")
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(b|kb|mb|gb|tb)?\s*\Z", re.IGNORECASE)
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_BYTES = {"b": 1, "kb": 1024, "mb": MB, "gb": 1024 * MB, "tb": 1024 * 1024 * MB}


@dataclass(frozen=True)
class Options:
    """Everything that one table's work depends on. Sizes in bytes unless the name says MB."""

    block_size_mb: int = 128
    compaction_ratio_threshold: float = 10.0
    min_input_files: int = 2
    target_file_size: int = 0
    backup_prefix: str = "__bkp"
    backup_database: str | None = None
    register_backup: bool = True
    dry_run: bool = False
    log_level: str = "INFO"
    sort_columns: tuple[str, ...] = ()
    analyze_after_compaction: bool = False
    parallelism: int = 4
    verify: str = "count"
    on_failure: str = "keep"
    on_new_data: str = "keep"
    deadline: datetime | None = None
    older_than: timedelta | None = None
    keep_last: int = 0
    skip_trash: bool = False
    allow_short_retention: bool = False
    staging_ttl: timedelta = timedelta(hours=24)
    partitions: list[PartitionSpec] | None = None
    where: str | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    enabled: bool = True
    bucketing: str = "refuse"
    kafka_connect: str = "refuse"
    attributes: str | None = None
    quota_folders: tuple[str, ...] = ()
    full_scan: bool = False
    writers: str | None = None
    trusted_owners: tuple[str, ...] = ()
    lease_timeout: timedelta = timedelta(seconds=20)
    lease_wait: timedelta = timedelta(seconds=60)

    def thresholds(self) -> Thresholds:
        return Thresholds(
            self.block_size_mb * MB,
            self.compaction_ratio_threshold,
            self.min_input_files,
            self.target_file_size,
        )


def writer_rules(options: Options, now: datetime) -> WriterRules:
    """How files of other writers are judged that are found now."""
    dead_before = int((now - options.staging_ttl).timestamp() * 1000)
    return WriterRules(dead_before, offsets=options.kafka_connect == "retired")


def parse_duration(text: Any) -> timedelta:
    """`7d`, `168h`, `30m`, `60s`, `2w`."""
    match = _DURATION.match(str(text))
    if not match:
        raise ValueError("write it like 7d, 168h, 30m or 60s")
    return timedelta(seconds=int(match[1]) * _SECONDS[match[2]])


def parse_size(text: Any) -> int:
    """`512mb`, `1gb`, or a plain number of bytes; returns bytes."""
    match = _SIZE.match(str(text))
    if not match:
        raise ValueError("write it like 512mb or 1gb")
    return int(float(match[1]) * _BYTES[(match[2] or "b").lower()])


def parse_instant(text: Any) -> datetime:
    """An ISO 8601 instant; it must carry its offset, for a deadline that is an hour off is no deadline."""
    instant = datetime.fromisoformat(str(text).replace("Z", "+00:00"))
    if instant.tzinfo is None:
        raise ValueError("it needs a UTC offset, like 2026-02-24T05:00:00+00:00")
    return instant.astimezone(timezone.utc)


def parse_bool(value: Any) -> bool:
    known = {"true": True, "false": False}
    parsed = value if isinstance(value, bool) else known.get(str(value).strip().lower())
    if parsed is None:
        raise ValueError("it must be true or false")
    return parsed


def parse_list(value: Any) -> tuple[str, ...]:
    """A list, its JSON, or text with commas."""
    if isinstance(value, str):
        value = json.loads(value) if value.strip().startswith("[") else value.split(",")
    if not isinstance(value, (list, tuple)):
        raise ValueError("it must be a list")
    return tuple(str(item).strip() for item in value if str(item).strip())


def _number(kind: type, least: float) -> Callable[[Any], Any]:
    def parse(value: Any) -> Any:
        number = kind(str(value))
        if isinstance(value, bool) or not number >= least:
            raise ValueError(f"it must be at least {least}")
        return number

    return parse


def _one_of(*allowed: str) -> Callable[[Any], str]:
    def parse(value: Any) -> str:
        if str(value) not in allowed:
            raise ValueError(f"it must be one of {', '.join(allowed)}")
        return str(value)

    return parse


def _identifier(value: Any) -> str:
    if not re.match(r"\w+\Z", str(value)):
        raise ValueError("it must be made of letters, digits and _")
    return str(value).lower()


_PARSERS: dict[str, Callable[[Any], Any]] = {
    "block_size_mb": _number(int, 1),
    "compaction_ratio_threshold": _number(float, 1),
    "min_input_files": _number(int, 2),
    "target_file_size": parse_size,
    "backup_prefix": _identifier,
    "backup_database": _identifier,
    "register_backup": parse_bool,
    "dry_run": parse_bool,
    "log_level": lambda value: _one_of("DEBUG", "INFO", "WARNING", "ERROR")(str(value).upper()),
    "sort_columns": parse_list,
    "analyze_after_compaction": parse_bool,
    "parallelism": _number(int, 1),
    "verify": _one_of("count", "hash"),
    "on_failure": _one_of("keep", "undo"),
    "on_new_data": _one_of("keep", "refuse"),
    "deadline": parse_instant,
    "older_than": parse_duration,
    "keep_last": _number(int, 0),
    "skip_trash": parse_bool,
    "allow_short_retention": parse_bool,
    "staging_ttl": parse_duration,
    "partitions": parse_partitions,
    "where": str,
    "include": parse_list,
    "exclude": parse_list,
    "enabled": parse_bool,
    "bucketing": _one_of("refuse", "ignore"),
    "kafka_connect": _one_of("refuse", "retired"),
    "attributes": _one_of("require", "warn"),
    "quota_folders": parse_list,
    "full_scan": parse_bool,
    "writers": _one_of("append", "overwrite"),
    "trusted_owners": parse_list,
    "lease_timeout": parse_duration,
    "lease_wait": parse_duration,
}


def check_names(values: Iterable[str], where: str) -> None:
    """Raises UsageError for an option that does not exist, naming the nearest one that does."""
    for name in values:
        if name not in _PARSERS:
            near = difflib.get_close_matches(name, _PARSERS, n=1)
            hint = f"; did you mean '{near[0]}'?" if near else ""
            raise UsageError(f"unknown option '{name}' in {where}{hint}")


def parse_option(name: str, value: Any, where: str) -> Any:
    """The typed value; raises UsageError with the value and what to write instead."""
    if value is None:
        return None
    try:
        return _PARSERS[name](value)
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
    for name in _NO_PROPERTIES:  # guard: properties_of_the_table
        if name in layer:
            raise Refusal(
                "USAGE",
                f"lakekeeper.{name} is among the properties of table {table}, where it has no place: set it in the"
                f" configuration or as an argument, and take it away with ALTER TABLE {table} UNSET TBLPROPERTIES"
                f" ('lakekeeper.{name}')",
            )
    try:
        found = _parsed(layer, _properties_of(table))
    except UsageError as error:
        raise Refusal("USAGE", str(error)) from None
    if found.get("attributes") == "warn":
        raise Refusal(
            "USAGE",
            f"lakekeeper.attributes=warn is among the properties of table {table}: a property may only ask for more"
            " (require); set it in the configuration or as an argument",
        )
    return found


def _retained(found: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    """A table may ask for a longer retention than the configuration's, and never for a shorter one."""
    longest = {name: max(found[name], known[name]) for name in _RETENTION if name in found and name in known}
    return {**found, **longest}  # guard: property_only_lengthens


def _properties_of(table: str) -> str:
    return f"the properties of table {table}"


def own_properties(properties: Mapping[str, str]) -> dict[str, str]:
    """`lakekeeper.<option>` table properties that are options; others (run_id, writers) are not ours to judge here."""
    names = {f.name for f in fields(Options)}
    found = {k[len(PROPERTY_PREFIX) :]: v for k, v in properties.items() if k.startswith(PROPERTY_PREFIX)}
    return {name: value for name, value in found.items() if name in names}


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
