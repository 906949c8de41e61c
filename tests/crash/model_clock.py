"""Time of the model, and heartbeats that go on while somebody else acts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from tests.crash.fault_injection import Killed
from tests.crash.model_pool import WouldBlock, give_way, outside_pool
from tests.crash.model_tree import EPOCH_MS
from tests.crash.process import acting_as

if TYPE_CHECKING:
    from tests.crash.simulated_cluster import Client, SimulatedCluster


@dataclass
class Beat:
    """Something that a process does every so often in the background; `due` in ms of the cluster's time."""

    client: Client
    interval: int
    due: int
    act: Callable[[], None]


class Beats:
    """The heartbeats of all processes of a cluster."""

    def __init__(self) -> None:
        self._beats: list[Beat] = []

    def add(self, beat: Beat) -> Callable[[], None]:
        self._beats.append(beat)
        return lambda: self._stop(beat)

    def _stop(self, beat: Beat) -> None:
        if beat in self._beats:
            self._beats.remove(beat)

    def advance(self, sim: SimulatedCluster, seconds: float) -> None:
        """Time passes, and whoever lives beats meanwhile; a paused process catches up after its pause."""
        until = sim.millis + round(seconds * 1000)
        while (beat := self._next(until)) is not None:
            sim.tree.millis = max(sim.millis, beat.due)
            beat.due = (
                sim.millis + beat.interval
            )  # also before: an act in which time passes is not its own beat
            self._beat(beat)
            beat.due = sim.millis + beat.interval
        sim.tree.millis = max(sim.millis, until)

    def _next(self, until: int) -> Beat | None:
        self._beats = [beat for beat in self._beats if beat.client.injector.alive]
        due = [beat for beat in self._beats if beat.due <= until and not beat.client.injector.paused]
        return min(due, key=lambda beat: beat.due, default=None)

    def _beat(self, beat: Beat) -> None:
        """In the real clock's thread an error ends the beats and nothing else; death ends the process."""
        try:
            with outside_pool(), acting_as(beat.client):
                beat.act()
        except WouldBlock:
            return  # somebody of its own process stands still with the lock; the next beat tries again
        except (Exception, Killed):
            self._stop(beat)


class ModelClock:
    """One process's clocks. `skew` is by how many seconds its wall clock is wrong; intervals it measures right."""

    def __init__(self, client: Client, skew: float = 0.0) -> None:
        self._client = client
        self._skew = skew

    def now(self) -> datetime:
        millis = self._tick() + round(self._skew * 1000)
        return datetime.fromtimestamp(millis / 1000, timezone.utc)

    def monotonic(self) -> float:
        return (self._tick() - EPOCH_MS) / 1000

    def _tick(self) -> int:
        self._client.injector.check()
        return self._client.sim.tree.tick()

    def sleep(self, seconds: float) -> None:
        """Others may act meanwhile: the other threads of this process, and everybody's heartbeats."""
        give_way()
        self._client.injector.check()
        self._client.sim.advance(seconds)
        self._client.injector.check()

    def every(self, seconds: float, act: Callable[[], None]) -> Callable[[], None]:
        interval = max(1, round(seconds * 1000))
        sim = self._client.sim
        return sim.beats.add(Beat(self._client, interval, sim.millis + interval, act))
