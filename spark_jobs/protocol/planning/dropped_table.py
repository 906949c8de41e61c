"""A dropped table, as its journals describe it. A cleanup by location deletes its originals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from spark_jobs.core.eligibility import Storage, TableFacts
from spark_jobs.core.errors import LakekeeperError
from spark_jobs.core.layout import Home
from spark_jobs.core.model import Unit
from spark_jobs.core.options.definitions import Options
from spark_jobs.core.options.layers import Layers
from spark_jobs.protocol.planning.location_users import LocationUsers
from spark_jobs.protocol.planning.table import Table
from spark_jobs.protocol.runs.journal_store import Run
from spark_jobs.protocol.runs.run_finder import TableRuns
from spark_jobs.protocol.services import Services


@dataclass(frozen=True)
class DroppedTable(Table):
    """A table that the metastore does not have. It has no units, so no directory is renamed to a unit's location.

    Attributes:
        used: its live directories that tables of the metastore read now, by their URIs.
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
    found = []
    for key in (("partition",), ()):
        facts = _placeholder(location, key)
        finder = _finder(services, layers, facts)
        runs = finder.all()
        names = [run.table for run in finder.settled(runs)] + [run.state.table for run in runs]
        if names:
            found.append(_table(services, layers, _described(facts, names[-1], runs)))
    return found


def readable_tables(services: Services, layers: Layers, location: str) -> list[DroppedTable]:
    """Return the dropped tables as far as their journals can be read. A check says what cannot."""
    found = []
    for key in (("partition",), ()):
        facts = _placeholder(location, key)
        if services.fs.status(Home.of_table(location, bool(key)).path) is None:
            continue
        try:
            runs = _finder(services, layers, facts).all()
        except LakekeeperError:
            runs = []
        name = runs[-1].state.table if runs else location
        found.append(_table(services, layers, _described(facts, name, runs)))
    return found


def with_users(tables: Sequence[DroppedTable]) -> list[DroppedTable]:
    """Return the tables with those of their live directories that tables of the metastore read now.

    Raises:
        Refusal: the runs belong to a table of the metastore, or it reads a directory in the home.
    """
    if not tables:
        return []
    users = LocationUsers(tables[0].services, tables[0].root)
    found = []
    for table in tables:
        users.check_home(Home.of_table(table.root, table.partitioned).path)  # guard: location_of_table
        runs = TableRuns(table.services.fs, table.facts, (), table.options.trusted_owners).all()
        lives = {unit.swap.live for run in runs for unit in run.state.units.values()}
        used = {live: live for live in sorted(lives) if users.read(live)}  # guard: directories_in_use
        found.append(replace(table, used=used))
    return found


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
