"""A whole cluster in memory: one HDFS, one metastore, time, the rows that writers committed; and processes on it."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Sequence

from spark_jobs.core.values.model import TableName, Unit
from spark_jobs.protocol.services import Services
from tests.crash.fault_injection import Fault, FaultInjector, Observer, Point
from tests.crash.late_effects import LateEffects
from tests.crash.model_clock import Beats, ModelClock
from tests.crash.model_fs import ModelFileSystem
from tests.crash.model_metastore import MetastoreState, ModelMetastore
from tests.crash.model_native import ModelFormat, NativeState
from tests.crash.model_pool import DeterministicPool
from tests.crash.model_spark import ModelFooters, ModelRewriter
from tests.crash.model_tree import ModelTree

#: Called as observer(number of the point, "before" or "after", the cluster as it is at that moment).
ClusterObserver = Callable[[int, str, "SimulatedCluster"], None]


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


class SimulatedCluster:
    """The state that outlives every process. A copy has no processes: as if all had died at once."""

    def __init__(self) -> None:
        self.tree = ModelTree()
        self.metastore = MetastoreState({"default": {}})
        self.native = NativeState()
        self.ledger = Ledger()
        self.beats = Beats()
        self.late = LateEffects()
        self.born = 0

    @property
    def millis(self) -> int:
        return self.tree.millis

    @property
    def version(self) -> int:
        """Grows with every change, of times too: where it stands still, no digest need be taken."""
        return self.tree.version + self.metastore.version + self.native.version + self.late.version

    def copy(self) -> SimulatedCluster:
        twin = SimulatedCluster.__new__(SimulatedCluster)
        twin.tree, twin.metastore = self.tree.copy(), self.metastore.copy()
        twin.native = self.native.copy()
        twin.ledger, twin.beats = self.ledger.copy(), Beats()
        twin.late, twin.born = self.late.copy(), self.born
        return twin

    def digest(self) -> str:
        """Equal for clusters that differ in time only."""
        ledger = (sorted(self.ledger.committed), sorted(self.ledger.overwritten))
        text = (
            f"{self.tree.digest()} {self.metastore.text()} {self.native.text()} {ledger} {self.late.waiting}"
        )
        return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()

    def tick(self) -> None:
        """Somebody makes a call: time goes on, and what servers are late with comes nearer."""
        self.tree.tick()
        self.late.pass_call(self.tree)

    def catch_up(self) -> None:
        """Servers carry out all that they are late with."""
        self.late.carry_out_all(self.tree)

    def advance(self, seconds: float) -> None:
        """Time passes; the heartbeats of living processes go on."""
        self.beats.advance(self, seconds)

    def units(self, name: str) -> list[Unit]:
        """A table's units as the metastore has them, by no process's call."""
        return self.metastore.get(TableName.parse(name)).units()

    def client(
        self,
        *faults: Fault,
        observer: ClusterObserver | None = None,
        seed: int | None = None,
        skew: float = 0.0,
        name: str | None = None,
    ) -> Client:
        """A new process. `seed` picks the interleaving of its pools; without one they work in order."""
        self.born += 1
        return Client(self, faults, observer, seed, skew, name or f"p{self.born}")


class Client:
    """One process on the cluster: what it may use is its `cluster`, and each of its effects passes its `injector`."""

    def __init__(
        self,
        sim: SimulatedCluster,
        faults: Sequence[Fault],
        observer: ClusterObserver | None,
        seed: int | None,
        skew: float,
        name: str,
    ) -> None:
        self.sim = sim
        self.name = name
        self.random = random.Random(name)
        self._order = None if seed is None else random.Random(seed)
        self.injector = FaultInjector(faults, sim.tick, self._observing(observer), sim.late.postpone)
        self.fs = ModelFileSystem(sim.tree, self.injector)
        self.clock = ModelClock(self, skew)
        self.metastore = ModelMetastore(sim, self.injector)
        self.cluster = Services(
            self.fs,
            self.metastore,
            ModelFooters(sim.tree, self.injector),
            ModelRewriter(self.fs, name),
            self.clock,
            lambda size: DeterministicPool(size, self._order),
            native={"iceberg": ModelFormat(sim, self.injector)},
        )

    def _observing(self, observer: ClusterObserver | None) -> Observer | None:
        if observer is None:
            return None
        return lambda point, phase: observer(point.number, phase, self.sim)

    @property
    def trace(self) -> list[Point]:
        return self.injector.trace

    @property
    def points(self) -> int:
        return self.injector.points

    @property
    def state(self) -> str:
        """alive, paused or killed."""
        return "killed" if not self.injector.alive else "paused" if self.injector.paused else "alive"

    def kill(self) -> None:
        """`kill -9`: the next effect of whatever thread, a heartbeat included, does not take place."""
        self.injector.kill()
