"""Everybody who works with the tables, as the machine drives them: what they write, replace and drop, step by step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from spark_jobs.core.values.model import Spec, TableName, Unit
from tests.crash import oracle, writers
from tests.crash.model_metastore import register_partition
from tests.crash.model_spark import visible_rows
from tests.crash.model_tree import AUTHORITY
from tests.crash.scenario import EVENTS, FLAT, WAREHOUSE, build
from tests.crash.simulated_cluster import SimulatedCluster


@dataclass(frozen=True)
class Place:
    """A unit of a table where the metastore has it."""

    table: str
    unit: Unit

    @property
    def location(self) -> str:
        return self.unit.location


@dataclass
class Stream:
    """A file that is being written; `doomed` where its partition was dropped or overwritten meanwhile."""

    place: Place
    rows: Sequence[int]
    writer: writers.OpenAppend
    doomed: bool = False


@dataclass
class Stage:
    """A Spark job that appends; `published` is None before it has tried."""

    place: Place
    rows: Sequence[int]
    writer: writers.StagedAppend
    published: bool | None = None
    doomed: bool = False


def town() -> SimulatedCluster:
    """The tables of the scenarios, with a partition less: the fewer there are, the sooner two meet."""
    sim = build(files=2, rows=1)
    writers.drop_partition(sim, EVENTS, "b", delete_data=True)
    return sim


class Workload:
    """Rows are given up by what they belong to, not by where a reader sees them: who overwrites a partition means all
    that was ever written to it, also while its directory is between two renames."""

    def __init__(self, sim: SimulatedCluster, tables: Sequence[str]) -> None:
        self.sim = sim
        self.tables = list(tables)
        self.pending: list[Stream | Stage] = []
        self.replaced: set[int] = set()
        self.mislaid: dict[tuple[str, Spec], str] = {}
        self._belongs: dict[int, str] = {}
        for place in self.places():
            self._note(place, visible_rows(sim.tree, place.location))

    def places(self) -> list[Place]:
        return [Place(table, unit) for table in self.tables for unit in self.sim.units(table)]

    def place(self, number: int) -> Place | None:
        """One of the places that there are; numbers wrap around."""
        found = self.places()
        return found[number % len(found)] if found else None

    def _fresh(self, place: Place) -> list[int]:
        rows = self.sim.ledger.fresh(1)
        self._note(place, rows)
        return rows

    def _note(self, place: Place, rows: Sequence[int]) -> None:
        self._belongs.update(dict.fromkeys(rows, place.location))

    # Appending

    def write(self, place: Place, kind: str | None) -> None:
        """Small files, by what writers of this kind do every day."""
        if kind == "overwrite":
            self.overwrite(place, recreate=True)
        else:
            self.append(place)

    def append(self, place: Place) -> None:
        """Two tasks, two files: whatever was written can be compacted."""
        for _ in range(2):
            writers.append(self.sim, place.location, self._fresh(place))

    def open(self, place: Place) -> None:
        if len(self.pending) > 2:
            return
        rows = self._fresh(place)
        self.pending.append(Stream(place, rows, writers.open_append(self.sim, place.location, rows)))

    def stage(self, place: Place) -> None:
        if len(self.pending) > 2:
            return
        rows = self._fresh(place)
        writer = writers.staged_append(self.sim, place.location, rows)
        writer.stage()
        self.pending.append(Stage(place, rows, writer))

    def step(self, number: int, flush: bool = False) -> None:
        """A writer that has begun takes its next step."""
        item = self.pending[number % len(self.pending)]
        if isinstance(item, Stage) and item.published is None:
            self._publish(item)
        elif isinstance(item, Stream) and flush:
            if self._is_there(item.writer.flush):
                return
            self.pending.remove(item)
        else:
            self.pending.remove(item)
            self._finish(item)

    def _publish(self, item: Stage) -> None:
        """From now on readers may see its rows, but nobody was promised them yet."""
        item.published = item.writer.publish()
        if item.published:
            self.sim.ledger.committed.update(item.rows)
            self.sim.ledger.overwritten.update(item.rows)

    def _finish(self, item: Stream | Stage) -> None:
        done = item.writer.close() if isinstance(item, Stream) else item.writer.finish()
        if not done:
            return
        if item.doomed:
            self.sim.ledger.overwritten.update(item.rows)
            return
        self.sim.ledger.overwritten.difference_update(item.rows)
        if item.place.unit.spec:
            self._register(item.place)

    @staticmethod
    def _is_there(act: Callable[[], None]) -> bool:
        try:
            act()
        except FileNotFoundError:
            return False
        return True

    def _register(self, place: Place) -> None:
        """ADD IF NOT EXISTS PARTITION, as Spark's and Hive's own inserts do at their end."""
        register_partition(self.sim, TableName.parse(place.table), place.unit.spec, place.location)

    # Replacing

    def overwrite(self, place: Place, recreate: bool) -> None:
        self._give_up(place)
        self.replaced.update(visible_rows(self.sim.tree, place.location))
        act = writers.overwrite_by_recreation if recreate else writers.overwrite_in_place
        act(self.sim, place.location, self._fresh(place))
        writers.append(self.sim, place.location, self._fresh(place))

    def drop(self, place: Place, delete_data: bool) -> None:
        if not place.unit.spec:
            return
        self._give_up(place)
        if delete_data:
            self.replaced.update(visible_rows(self.sim.tree, place.location))
        values = [str(value) for _, value in place.unit.spec]
        writers.drop_partition(self.sim, place.table, *values, delete_data=delete_data)

    def _give_up(self, place: Place) -> None:
        theirs = {row for row, location in self._belongs.items() if location == place.location}
        self.sim.ledger.overwritten.update(theirs & self.sim.ledger.committed)
        for item in self.pending:
            item.doomed |= item.place.location == place.location

    # The metastore

    def add(self, value: str) -> None:
        """A partition that the metastore lost comes back where it was; any other at its default, or c outside."""
        if EVENTS not in self.tables:
            return
        spec = writers.spec_of(self.sim, EVENTS, [value])
        outside = f"{AUTHORITY}/elsewhere/c" if value == "c" else f"{WAREHOUSE}/events/k={value}"
        writers.add_partition(self.sim, EVENTS, value, location=self.mislaid.pop((EVENTS, spec), outside))

    def msck(self, sync: bool) -> None:
        """What discovery drops because a directory is between two renames was not dropped by anybody."""
        before = self.places()
        for table in self.tables:
            writers.msck(self.sim, table, sync)
        kept = self.places()
        self.mislaid.update(
            {(place.table, place.unit.spec): place.location for place in before if place not in kept}
        )

    def found_again(self) -> SimulatedCluster:
        """A copy in which somebody has added the partitions again that the metastore lost on its own."""
        twin = self.sim.copy()
        for (table, spec), location in self.mislaid.items():
            if twin.tree.find(location) is not None:
                register_partition(twin, TableName.parse(table), spec, location)
        return twin

    def check(self, journaled: bool) -> list[str]:
        return oracle.check(self.found_again(), [EVENTS, FLAT], journaled=journaled)

    def back(self) -> list[int]:
        """Rows that a reader saw when they were replaced or deleted, and that are there again."""
        return sorted(
            {row for table in self.tables for row in oracle.live_rows(self.sim, table)} & self.replaced
        )

    # The end

    def declare(self, kind: str) -> None:
        """ALTER TABLE SET TBLPROPERTIES: what writers of these tables do."""
        for name in map(TableName.parse, self.tables):
            table = self.sim.metastore.get(name)
            properties = {**table.facts.properties, "lakekeeper.writers": kind}
            self.sim.metastore.put(name, replace(table, facts=replace(table.facts, properties=properties)))

    def finish_all(self) -> None:
        while self.pending:
            self.step(0)

    def restore_partitions(self) -> None:
        """As the reports ask for: MSCK, and the ones outside by hand."""
        self.msck(sync=False)
        for (table, spec), location in self.mislaid.items():
            if self.sim.tree.find(location) is not None:
                register_partition(self.sim, TableName.parse(table), spec, location)
        self.mislaid.clear()
