"""The options of the jobs: their types, their defaults, and which layer wins.

Command line > request arguments > YAML section of the table > table property `lakekeeper.<option>` > YAML
global > default.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from typing import Any

from spark_jobs.core.errors import Refusal, UsageError
from spark_jobs.core.health import Thresholds
from spark_jobs.core.other_writers import WriterRules
from spark_jobs.core.parsers import MB, PARSERS
from spark_jobs.core.selection import PartitionSpec

PROPERTY_PREFIX = "lakekeeper."
_RETENTION = ("older_than", "keep_last")
#: What whoever may change a table's properties may not say: SQL that the jobs' account runs, databases that it creates
#: tables in, and what protects the table's originals from him.
_NO_PROPERTIES = ("where", "backup_database", "skip_trash", "allow_short_retention", "trusted_owners")


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


def check_names(values: Iterable[str], where: str) -> None:
    """Raises UsageError for an option that does not exist, naming the nearest one that does."""
    for name in values:
        if name not in PARSERS:
            near = difflib.get_close_matches(name, PARSERS, n=1)
            hint = f"; did you mean '{near[0]}'?" if near else ""
            raise UsageError(f"unknown option '{name}' in {where}{hint}")


def parse_option(name: str, value: Any, where: str) -> Any:
    """The typed value; raises UsageError with the value and what to write instead."""
    if value is None:
        return None
    try:
        return PARSERS[name](value)
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
