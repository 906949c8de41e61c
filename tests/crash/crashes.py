"""Every state in which a process may leave the cluster when it dies, from one pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.crash.fault_injection import Fault, Point
from tests.crash.simulated_cluster import Client, SimulatedCluster


@dataclass(frozen=True)
class CrashState:
    """The cluster as it was when the process died right after `point`; None: before its first effect."""

    point: Point | None
    sim: SimulatedCluster

    def __str__(self) -> str:
        return f"killed after {self.point}" if self.point else "killed at the start"


def crash_states(
    sim: SimulatedCluster,
    act: Callable[[Client], object],
    seed: int | None = None,
    faults: Sequence[Fault] = (),
) -> list[CrashState]:
    """The distinct states that `act` goes through on a copy of the cluster; the last one is the state at its end.

    A death *before* an effect leaves what the effect before it left, so that these are all. Effects that only read,
    or change nothing but times, add none.
    """
    twin = sim.copy()
    states = [CrashState(None, twin.copy())]
    seen, versions = {twin.digest()}, [twin.version]

    def observe(number: int, phase: str, now: SimulatedCluster) -> None:
        if phase == "before" or now.version == versions[-1]:
            return
        versions.append(now.version)
        digest = now.digest()
        if digest not in seen:
            seen.add(digest)
            states.append(CrashState(client.trace[-1], now.copy()))

    client = twin.client(*faults, observer=observe, seed=seed)
    act(client)
    return states
