"""A whole world in memory: one HDFS, one metastore, time, the rows that writers committed; and processes on it."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Sequence

from spark_jobs.core.model import TableName, Unit
from spark_jobs.shell.cluster import Cluster
from tests.crash.gate import Fault, Gate, Observer, Point
from tests.crash.model_clock import Beats, ModelClock
from tests.crash.model_fs import ModelFileSystem
from tests.crash.model_metastore import MetastoreState, ModelMetastore
from tests.crash.model_pool import DeterministicPool
from tests.crash.model_spark import ModelFooters, ModelRewriter
from tests.crash.model_tree import ModelTree

#: Called as observer(number of the point, "before" or "after", the world as it is at that moment).
WorldObserver = Callable[[int, str, "World"], None]


class Ledger:
    """What writers were told: the ids that they committed, and those that they replaced or dropped on purpose."""

    def __init__(self) -> None:
        self.next_id = 1
        self.committed: set[int] = set()
        self.overwritten: set[int] = set()

    def copy(self) -> Ledger:
        twin = Ledger()
        twin.next_id = self.next_id
        twin.committed, twin.overwritten = set(self.committed), set(self.overwritten)
        return twin

    def fresh(self, count: int) -> list[int]:
        """Ids that no row has."""
        first, self.next_id = self.next_id, self.next_id + count
        return list(range(first, self.next_id))

    @property
    def due(self) -> set[int]:
        """The rows that must not be lost."""
        return self.committed - self.overwritten


class World:
    """The state that outlives every process. A copy has no processes: as if all had died at once."""

    def __init__(self) -> None:
        self.tree = ModelTree()
        self.metastore = MetastoreState({"default": {}})
        self.ledger = Ledger()
        self.beats = Beats()
        self.born = 0

    @property
    def millis(self) -> int:
        return self.tree.millis

    @property
    def version(self) -> int:
        """Grows with every change, of times too: where it stands still, no digest need be taken."""
        return self.tree.version + self.metastore.version

    def copy(self) -> World:
        twin = World.__new__(World)
        twin.tree, twin.metastore = self.tree.copy(), self.metastore.copy()
        twin.ledger, twin.beats = self.ledger.copy(), Beats()
        twin.born = self.born
        return twin

    def digest(self) -> str:
        """Equal for worlds that differ in time only."""
        ledger = (sorted(self.ledger.committed), sorted(self.ledger.overwritten))
        text = f"{self.tree.digest()} {self.metastore.text()} {ledger}"
        return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()

    def advance(self, seconds: float) -> None:
        """Time passes; the heartbeats of living processes go on."""
        self.beats.advance(self, seconds)

    def units(self, name: str) -> list[Unit]:
        """A table's units as the metastore has them, by no process's call."""
        return self.metastore.get(TableName.parse(name)).units()

    def client(
        self,
        *faults: Fault,
        observer: WorldObserver | None = None,
        seed: int | None = None,
        skew: float = 0.0,
        name: str | None = None,
    ) -> Client:
        """A new process. `seed` picks the interleaving of its pools; without one they work in order."""
        self.born += 1
        return Client(self, faults, observer, seed, skew, name or f"p{self.born}")


class Client:
    """One process on the world: what it may use is its `cluster`, and each of its effects passes its `gate`."""

    def __init__(
        self,
        world: World,
        faults: Sequence[Fault],
        observer: WorldObserver | None,
        seed: int | None,
        skew: float,
        name: str,
    ) -> None:
        self.world = world
        self.name = name
        self.random = random.Random(name)
        self._order = None if seed is None else random.Random(seed)
        self.gate = Gate(faults, world.tree.tick, self._observing(observer))
        self.fs = ModelFileSystem(world.tree, self.gate)
        self.clock = ModelClock(self, skew)
        self.metastore = ModelMetastore(world, self.gate)
        self.cluster = Cluster(
            self.fs,
            self.metastore,
            ModelFooters(world.tree, self.gate),
            ModelRewriter(self.fs, name),
            self.clock,
            lambda size: DeterministicPool(size, self._order),
        )

    def _observing(self, observer: WorldObserver | None) -> Observer | None:
        if observer is None:
            return None
        return lambda point, phase: observer(point.number, phase, self.world)

    @property
    def trace(self) -> list[Point]:
        return self.gate.trace

    @property
    def points(self) -> int:
        return self.gate.points

    @property
    def state(self) -> str:
        """alive, paused or killed."""
        return "killed" if not self.gate.alive else "paused" if self.gate.paused else "alive"

    def kill(self) -> None:
        """`kill -9`: the next effect of whatever thread, a heartbeat included, does not take place."""
        self.gate.kill()
