"""A dropped table, as its journals describe it. A cleanup by location deletes its originals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from spark_jobs.core.eligibility import Storage, TableFacts
from spark_jobs.core.errors import Refusal
from spark_jobs.core.journal_bounds import uri_path
from spark_jobs.core.layout import Home, is_below, is_inside_home
from spark_jobs.core.model import TableName, Unit
from spark_jobs.core.options.definitions import Options
from spark_jobs.core.options.layers import Layers
from spark_jobs.core.refusals import RefusalCode
from spark_jobs.protocol.planning.table import Table
from spark_jobs.protocol.runs.journal_store import Run
from spark_jobs.protocol.runs.run_finder import TableRuns
from spark_jobs.protocol.services import Services


@dataclass(frozen=True)
class DroppedTable(Table):
    """A table that the metastore does not have. It has no units, so no directory is renamed to a unit's location."""

    @property
    def dropped(self) -> bool:
        return True

    @property
    def storages(self) -> Mapping[Unit, Storage]:  # type: ignore[override]
        return {}


def dropped_tables(services: Services, layers: Layers, location: str) -> list[DroppedTable]:
    """Return the dropped tables whose root was at a location: at most one with partitions, and one without.

    Args:
        location: the URI of the root.

    Raises:
        Refusal: a table of the metastore has its root there, above it or below it.
    """
    found = [_facts(services, layers, location, key) for key in (("partition",), ())]
    tables = [facts for facts in found if facts is not None]
    for facts in tables:
        _check_unused(services, facts)
    return [DroppedTable(services, facts, _options(layers, facts)) for facts in tables]


def _options(layers: Layers, facts: TableFacts) -> Options:
    return replace(layers.resolve(facts.name), register_backup=False)


def _facts(services: Services, layers: Layers, location: str, keys: tuple[str, ...]) -> TableFacts | None:
    """Return the description of the table whose journals are in the home of this location; None without journals."""
    facts = TableFacts("", "EXTERNAL", Storage(location, None, None), None, {}, (), keys)
    finder = TableRuns(services.fs, facts, (), layers.resolve().trusted_owners)
    runs = finder.all()
    names = [run.table for run in finder.settled(runs)] + [run.state.table for run in runs]
    if not names:
        return None
    return replace(facts, name=names[-1], partition_keys=_keys(runs) if keys else ())


def _keys(runs: Sequence[Run]) -> tuple[str, ...]:
    """Return the partition keys that the journals name; a placeholder if they name none."""
    specs = (unit.swap.spec for run in runs for unit in run.state.units.values())
    return next((tuple(key for key, _ in spec) for spec in specs if spec), ("partition",))


def _check_unused(services: Services, facts: TableFacts) -> None:
    """Raise Refusal if a table of the metastore has its root at, above or below the location.

    The table may have been renamed, or created again. Then the runs belong to it, and their originals may be its only
    copy.
    """
    location, home = facts.storage.location, Home.of_table(facts.storage.location, bool(facts.partition_keys))
    for name, root in _roots(services):
        if _overlap(root, location) or _overlap(root, home.path):  # guard: location_of_table
            raise Refusal(
                RefusalCode.LOCATION_IN_USE,
                f"{name} is at {root}: use `lakekeeper cleanup --table {name}`",
            )


def _overlap(one: str, other: str) -> bool:
    one, other = uri_path(one), uri_path(other)
    return one == other or is_below(one, other) or is_below(other, one)


def _roots(services: Services) -> Iterator[tuple[TableName, str]]:
    """Return the tables of all databases with their roots. Backup tables are left out.

    A backup table has its root in a home and the property of a run. Any other table in a home was created by a user,
    and counts.
    """
    metastore = services.metastore
    for name in (TableName(base, each) for base in metastore.databases() for each in metastore.tables(base)):
        try:
            facts = metastore.table(name)
        except Refusal:
            continue  # a materialized view, which has no directory of its own
        root = facts.storage.location
        if root and not (is_inside_home(root) and "lakekeeper.run_id" in facts.properties):
            yield name, root
