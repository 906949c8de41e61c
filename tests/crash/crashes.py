"""Every state in which a process may leave the world when it dies, from one pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.crash.gate import Point
from tests.crash.world import Client, World


@dataclass(frozen=True)
class CrashState:
    """The world as it was when the process died right after `point`; None: before its first effect."""

    point: Point | None
    world: World

    def __str__(self) -> str:
        return f"killed after {self.point}" if self.point else "killed at the start"


def crash_states(world: World, act: Callable[[Client], object], seed: int | None = None) -> list[CrashState]:
    """The distinct states that `act` goes through on a copy of the world; the last one is the state at its end.

    A death *before* an effect leaves what the effect before it left, so that these are all. Effects that only read,
    or change nothing but times, add none.
    """
    twin = world.copy()
    states = [CrashState(None, twin.copy())]
    seen, versions = {twin.digest()}, [twin.version]

    def observe(number: int, phase: str, now: World) -> None:
        if phase == "before" or now.version == versions[-1]:
            return
        versions.append(now.version)
        digest = now.digest()
        if digest not in seen:
            seen.add(digest)
            states.append(CrashState(client.trace[-1], now.copy()))

    client = twin.client(observer=observe, seed=seed)
    act(client)
    return states
