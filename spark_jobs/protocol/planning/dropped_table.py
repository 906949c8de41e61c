"""A dropped table, as its journals describe it. A cleanup by location deletes its originals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from spark_jobs.core.options.definitions import Options
from spark_jobs.core.options.layers import Layers
from spark_jobs.core.rules.eligibility import Storage, TableFacts
from spark_jobs.core.values.layout import Home
from spark_jobs.core.values.model import Unit, parent
from spark_jobs.protocol.planning.location_users import LocationUsers
from spark_jobs.protocol.planning.table import Table
from spark_jobs.protocol.runs.journal_store import Run
from spark_jobs.protocol.runs.run_finder import TableRuns
from spark_jobs.protocol.services import Services


@dataclass(frozen=True)
class DroppedTable(Table):
    """A table that the metastore does not have. It has no units, so no directory is renamed to a unit's location.

    Attributes:
        used: its live directories that tables of the metastore read now, by unit key.
    """

    used: Mapping[str, str] = field(default_factory=dict)

    @property
    def dropped(self) -> bool:
        return True

    @property
    def storages(self) -> Mapping[Unit, Storage]:  # type: ignore[override]
        return {}

    @property
    def locations(self) -> Mapping[str, str]:
        return self.used


def dropped_tables(services: Services, layers: Layers, location: str) -> list[DroppedTable]:
    """Return the dropped tables whose root was at a location: at most one with partitions, and one without.

    Args:
        location: the URI of the root.

    Raises:
        Unsafe: a journal cannot be read.
    """
    tables = []
    for key in (("partition",), ()):
        facts = _placeholder(location, key)
        finder = _finder(services, layers, facts)
        runs = finder.all()
        names = [run.table for run in finder.settled(runs)] + [run.state.table for run in runs]
        if names:
            tables.append(_table(services, layers, _described(facts, names[-1], runs)))
    return tables


def with_users(tables: Sequence[DroppedTable]) -> list[DroppedTable]:
    """Return the tables with those of their live directories that tables of the metastore read now.

    Raises:
        Refusal: the runs belong to a table of the metastore, or it reads a directory in a home.
    """
    if not tables:
        return []
    readable = [(table, _runs(table)) for table in tables]
    users = LocationUsers(
        tables[0].services, [place for table, runs in readable for place in _places(table, runs)]
    )
    for table, runs in readable:
        for home in _homes(table, runs):
            users.check_home(home)  # guard: location_of_table
    return [replace(table, used=_used(runs, users)) for table, runs in readable]


def _used(runs: Sequence[Run], users: LocationUsers) -> dict[str, str]:
    """Return the live directories of these runs that a table reads, by unit key."""
    lives = {unit.swap.unit.key: unit.swap.live for run in runs for unit in run.state.units.values()}
    return {key: live for key, live in sorted(lives.items()) if users.read(live)}  # guard: directories_in_use


def _runs(table: DroppedTable) -> list[Run]:
    return TableRuns(table.services.fs, table.facts, (), table.options.trusted_owners).all()


def _homes(table: DroppedTable, runs: Sequence[Run]) -> list[str]:
    own = Home.of_table(table.root, table.partitioned).path
    return list(dict.fromkeys([own, *(parent(run.directory) for run in runs)]))


def _places(table: DroppedTable, runs: Sequence[Run]) -> list[str]:
    """Return all directories of a dropped table: partitions may have been outside its root."""
    lives = {unit.swap.live for run in runs for unit in run.state.units.values()}
    return [table.root, *_homes(table, runs), *sorted(lives)]


def placeholder(services: Services, layers: Layers, location: str, keys: tuple[str, ...]) -> DroppedTable:
    """Return a dropped table of which nothing but the location is known."""
    facts = _placeholder(location, keys)
    return _table(services, layers, replace(facts, name=location))


def named(table: DroppedTable, runs: Sequence[Run]) -> DroppedTable:
    """Return a dropped table with the name and the keys that its runs have."""
    name = runs[-1].state.table if runs else table.facts.name
    return replace(table, facts=_described(table.facts, name, runs))


def _placeholder(location: str, keys: tuple[str, ...]) -> TableFacts:
    return TableFacts("", "EXTERNAL", Storage(location, None, None), None, {}, (), keys)


def _described(facts: TableFacts, name: str, runs: Sequence[Run]) -> TableFacts:
    return replace(facts, name=name, partition_keys=_keys(runs) if facts.partition_keys else ())


def _table(services: Services, layers: Layers, facts: TableFacts) -> DroppedTable:
    return DroppedTable(services, facts, _options(layers, facts))


def _options(layers: Layers, facts: TableFacts) -> Options:
    return replace(layers.resolve(facts.name), register_backup=False)


def _finder(services: Services, layers: Layers, facts: TableFacts) -> TableRuns:
    return TableRuns(services.fs, facts, (), layers.resolve().trusted_owners)


def _keys(runs: Sequence[Run]) -> tuple[str, ...]:
    """Return the partition keys that the journals name; a placeholder if they name none."""
    specs = (unit.swap.spec for run in runs for unit in run.state.units.values())
    return next((tuple(key for key, _ in spec) for spec in specs if spec), ("partition",))
