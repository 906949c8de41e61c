"""The Hive metastore of the model: tables, partitions, and its habit of making directories."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import unquote

from spark_jobs.adapters.hadoop.metastore_errors import MetastoreError
from spark_jobs.adapters.hadoop.sql import BACKUP_PROPERTIES, RUN_PROPERTY, SOURCE_PROPERTY
from spark_jobs.core.messages.errors import UsageError
from spark_jobs.core.rules.eligibility import Storage, TableFacts
from spark_jobs.core.rules.partition_loss import set_by_people
from spark_jobs.core.values.model import DEFAULT_PARTITION, Spec, TableName, Unit
from tests.crash.fault_injection import FaultInjector
from tests.crash.model_parameters import ModelParameters

if TYPE_CHECKING:
    from tests.crash.simulated_cluster import SimulatedCluster

T = TypeVar("T")
_FORMAT = "org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat"
_SERDE = "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe"
_EQUALITY = re.compile(r"\s*`?(\w+)`?\s*=\s*'([^']*)'\s*\Z")
_BATCH = 500


def parquet(location: str) -> Storage:
    return Storage(location, _FORMAT, _SERDE)


@dataclass(frozen=True)
class ModelTable:
    """What the metastore holds of one table.

    `created` tells a partition from one of the same values that was dropped before: it grows. `parameters` are gone
    with a partition that is dropped. Those of a table without partitions are those of the spec `()`.
    """

    facts: TableFacts
    partitions: Mapping[Spec, str] = field(default_factory=dict)
    created: Mapping[Spec, int] = field(default_factory=dict)
    parameters: Mapping[Spec, Mapping[str, str]] = field(default_factory=dict)

    def units(self) -> list[Unit]:
        """Where its rows lie: its partitions, or the table itself."""
        if not self.facts.partition_keys:
            return [Unit((), self.facts.storage.location)]
        listed = sorted(self.partitions.items(), key=repr)
        return [Unit(spec, location) for spec, location in listed]

    def storage(self, unit: Unit) -> Storage:
        created, parameters = self.created.get(unit.spec), self.parameters.get(unit.spec, {})
        return replace(parquet(unit.location), created=created, parameters=set_by_people(parameters))


class MetastoreState:
    """Databases and their tables. Tables are values, so that a copy is cheap."""

    def __init__(self, databases: Mapping[str, Mapping[str, ModelTable]] | None = None) -> None:
        self.databases = {name: dict(tables) for name, tables in (databases or {}).items()}
        self.version = 0

    def copy(self) -> MetastoreState:
        return MetastoreState(self.databases)

    def exists(self, name: TableName) -> bool:
        return name.table in self.databases.get(name.database, ())

    def get(self, name: TableName) -> ModelTable:
        try:
            return self.databases[name.database][name.table]
        except KeyError:
            raise MetastoreError(f"cannot read {name}: Table or view not found") from None

    def put(self, name: TableName, table: ModelTable) -> None:
        if name.database not in self.databases:
            raise MetastoreError(f"cannot change {name}: Database '{name.database}' not found")
        self.databases[name.database][name.table] = table
        self.version += 1

    def drop(self, name: TableName) -> None:
        """DROP TABLE IF EXISTS of an external table: no file is touched."""
        if self.exists(name):
            del self.databases[name.database][name.table]
            self.version += 1

    def tables(self) -> Iterator[tuple[TableName, ModelTable]]:
        for database, tables in sorted(self.databases.items()):
            for name, table in sorted(tables.items()):
                yield TableName(database, name), table

    def text(self) -> str:
        """All that it holds, for a digest."""
        return repr(
            [
                (str(name), table.facts, table.units(), sorted(map(repr, table.parameters.items())))
                for name, table in self.tables()
            ]
        )


def register(sim: SimulatedCluster, name: TableName, facts: TableFacts) -> None:
    """CREATE TABLE: refuses a taken name, and makes the directory where it is missing."""
    if sim.metastore.exists(name):
        raise MetastoreError(f"cannot register {name}: table already exists")
    sim.metastore.put(name, ModelTable(facts))
    sim.tree.make_dirs(facts.storage.location)


def register_partition(sim: SimulatedCluster, name: TableName, spec: Spec, location: str) -> None:
    """ADD IF NOT EXISTS PARTITION: makes the directory where it is missing."""
    table = sim.metastore.get(name)
    if spec in table.partitions:
        return
    created = {**table.created, spec: table.created.get(spec, 0) + 1}
    partitions = {**table.partitions, spec: location}
    sim.metastore.put(name, replace(table, partitions=partitions, created=created))
    sim.tree.make_dirs(location)


def forget_partitions(sim: SimulatedCluster, name: TableName, specs: Sequence[Spec]) -> None:
    """DROP IF EXISTS PARTITION of an external table: no file is touched."""
    table = sim.metastore.get(name)
    kept = {spec: place for spec, place in table.partitions.items() if spec not in specs}
    parameters = {spec: known for spec, known in table.parameters.items() if spec not in specs}
    sim.metastore.put(name, replace(table, partitions=kept, parameters=parameters))


def msck(sim: SimulatedCluster, name: TableName, sync: bool = False) -> None:
    """MSCK REPAIR TABLE: what looks like a partition below the root becomes one.

    `sync` is what `discover.partitions` does by itself: it drops those too whose directory it does not find.
    """
    table = sim.metastore.get(name)
    keys, root = table.facts.partition_keys, table.facts.storage.location
    for spec, location in _discover(sim, root, keys) if keys else ():
        register_partition(sim, name, spec, location)
    missing = [spec for spec, place in table.partitions.items() if sim.tree.find(place) is None]
    if sync and missing:
        forget_partitions(sim, name, missing)


def _discover(sim: SimulatedCluster, folder: str, keys: Sequence[str]) -> Iterator[tuple[Spec, str]]:
    """Directories `key=value`, one level for each key; hidden names are skipped at every level."""
    if not keys:
        yield (), folder
        return
    inode = sim.tree.get(folder)
    for name, number in sorted(inode.children.items()) if inode else ():
        key, equals, value = name.partition("=")
        if name.startswith((".", "_")):
            continue
        if not (equals and key.lower() == keys[0].lower() and sim.tree.inodes[number].is_dir):
            continue
        text = unquote(value)
        mine = (keys[0], None if text == DEFAULT_PARTITION else text)
        for spec, location in _discover(sim, f"{folder}/{name}", keys[1:]):
            yield (mine, *spec), location


class ModelMetastore(ModelParameters):
    """One process's client; behaves as `spark_jobs.adapters.hadoop.metastore.Metastore` does."""

    def __init__(self, sim: SimulatedCluster, injector: FaultInjector) -> None:
        self._sim = sim
        self._injector = injector

    def _call(self, act: Callable[[], T], op: str, *args: object) -> T:
        return self._injector.call(op, args, act, MetastoreError)

    @property
    def _state(self) -> MetastoreState:
        return self._sim.metastore

    def database_exists(self, database: str) -> bool:
        return self._call(lambda: database in self._state.databases, "database_exists", database)

    def table_exists(self, table: TableName) -> bool:
        return self._call(lambda: self._state.exists(table), "table_exists", str(table))

    def databases(self) -> list[str]:
        return self._call(lambda: sorted(self._state.databases), "databases")

    def tables(self, database: str) -> list[str]:
        def act() -> list[str]:
            if database not in self._state.databases:
                raise MetastoreError(f"cannot list the tables of {database}: no such database")
            return sorted(self._state.databases[database])

        return self._call(act, "tables", database)

    def table(self, name: TableName) -> TableFacts:
        return self._call(lambda: self._state.get(name).facts, "table", str(name))

    def properties(self, name: TableName) -> dict[str, str]:
        return self._call(lambda: dict(self._state.get(name).facts.properties), "properties", str(name))

    def units(self, facts: TableFacts) -> list[tuple[Unit, Storage]]:
        """A table without partitions answers from the facts that were read before, without another call."""
        if not facts.partition_keys:
            return [(Unit((), facts.storage.location), facts.storage)]

        def act() -> list[tuple[Unit, Storage]]:
            table = self._state.get(TableName.parse(facts.name))
            return [(unit, table.storage(unit)) for unit in table.units()]

        return self._call(act, "units", facts.name)

    def matching(self, facts: TableFacts, units: Sequence[Unit], where: str) -> list[Unit]:
        """Understands `key = 'value'` only; Spark evaluates it, so it is no effect."""
        match = _EQUALITY.match(where)
        if not match or match[1] not in facts.partition_keys:
            raise UsageError(
                f"where = '{where}' is not a condition on the partition keys {', '.join(facts.partition_keys)}"
            )
        return [unit for unit in units if dict(unit.spec)[match[1]] == match[2]]

    def create_backup(
        self,
        backup: TableName,
        source: TableFacts,
        run_id: str,
        location: str,
        units: Sequence[tuple[Unit, str]],
    ) -> None:
        """One point for the table and one for each batch of partitions: it may die in between."""
        facts = _backup_facts(backup, source, run_id, location)
        self._call(lambda: register(self._sim, backup, facts), "create_backup", str(backup), location)
        for start in range(0, len(units) if source.partition_keys else 0, _BATCH):
            batch = units[start : start + _BATCH]
            self._call(lambda batch=batch: self._add(backup, batch), "create_backup.add", str(backup))  # type: ignore[misc]

    def _add(self, backup: TableName, units: Sequence[tuple[Unit, str]]) -> None:
        for unit, where in units:
            register_partition(self._sim, backup, unit.spec, where)

    def backup_tables(self, run_id: str, database: str, source: str) -> list[TableName]:
        found = []
        for table in self.tables(database):
            name = TableName(database, table)
            if _is_backup(self.properties(name), run_id, source):
                found.append(name)
        return found

    def drop_backup(self, backup: TableName, run_id: str, source: str) -> bool:
        """Three points like the real one's: exists, read, drop; the files stay."""
        if not self.table_exists(backup):
            return False
        facts = self.table(backup)
        if not _is_backup(facts.properties, run_id, source) or facts.kind != "EXTERNAL":
            raise MetastoreError(
                f"{backup} is not the backup table of run {run_id} of {source}; it is not dropped"
            )

        self._call(lambda: self._state.drop(backup), "drop_backup", str(backup))
        return True

    def drop_backup_partitions(self, backup: TableName, units: Sequence[Unit]) -> None:
        for start in range(0, len(units), _BATCH):
            specs = [unit.spec for unit in units[start : start + _BATCH]]
            self._call(
                lambda specs=specs: forget_partitions(self._sim, backup, specs),  # type: ignore[misc]
                "drop_backup_partitions",
                str(backup),
            )


def _is_backup(properties: Mapping[str, str], run_id: str, source: str) -> bool:
    return properties.get(RUN_PROPERTY) == run_id and properties.get(SOURCE_PROPERTY) == source


def _backup_facts(backup: TableName, source: TableFacts, run_id: str, location: str) -> TableFacts:
    """Minimal DDL, and partition keys as STRING."""
    return TableFacts(
        name=str(backup),
        kind="EXTERNAL",
        storage=parquet(location),
        provider="hive",
        properties={**BACKUP_PROPERTIES, RUN_PROPERTY: run_id, SOURCE_PROPERTY: source.name},
        columns=source.columns,
        partition_keys=source.partition_keys,
        partition_types=("string",) * len(source.partition_keys),
    )
