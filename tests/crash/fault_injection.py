"""Where a process of the model meets its fate: every effect passes here, is numbered, and may fail."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from tests.crash.model_pool import give_way, outside_pool

T = TypeVar("T")


class Killed(BaseException):
    """The process is dead: no handler of its own may run another effect."""


@dataclass(frozen=True)
class Point:
    """One effect of a process; `number` counts from 1."""

    number: int
    op: str
    args: tuple[Any, ...]

    def __str__(self) -> str:
        words = (arg if isinstance(arg, str) else f"<{type(arg).__name__}>" for arg in self.args)
        return f"{self.number} {self.op}({', '.join(words)})"


@dataclass(frozen=True)
class Fault:
    """What goes wrong, once, at the point of this number, or at the first that satisfies the condition."""

    kind: str
    phase: str
    at: int | Callable[[Point], bool]
    act: Callable[[], object] | None = None
    paused: bool = False
    calls: int = 0

    @classmethod
    def crash_before(cls, at: int | Callable[[Point], bool]) -> Fault:
        return cls("crash", "before", at)

    @classmethod
    def crash_after(cls, at: int | Callable[[Point], bool]) -> Fault:
        return cls("crash", "after", at)

    @classmethod
    def error_before(cls, at: int | Callable[[Point], bool]) -> Fault:
        """The call fails and took no effect."""
        return cls("error", "before", at)

    @classmethod
    def error_after(cls, at: int | Callable[[Point], bool]) -> Fault:
        """The call took effect, and its answer was lost."""
        return cls("error", "after", at)

    @classmethod
    def late(cls, at: int | Callable[[Point], bool], calls: int) -> Fault:
        """The call fails, and takes its effect before the `calls`-th call of anybody after it."""
        return cls("late", "before", at, calls=calls)

    @classmethod
    def hook(
        cls, at: int | Callable[[Point], bool], act: Callable[[], object], paused: bool = False
    ) -> Fault:
        """Somebody else acts before the call; a `paused` process has no heartbeat meanwhile."""
        return cls("hook", "before", at, act, paused)

    def meets(self, point: Point, phase: str) -> bool:
        if phase != self.phase:
            return False
        return self.at(point) if callable(self.at) else point.number == self.at


Observer = Callable[[Point, str], None]
#: Called as postpone(number of calls, op, args).
Postpone = Callable[[int, str, tuple[Any, ...]], object]


class FaultInjector:
    """The one way of a process to the cluster.

    `tick` lets time go on with each effect; `observe` sees the cluster before and after each.
    """

    def __init__(
        self,
        faults: Sequence[Fault],
        tick: Callable[[], object],
        observe: Observer | None,
        postpone: Postpone,
    ) -> None:
        self.trace: list[Point] = []
        self.alive = True
        self.paused = False
        self._pending = list(faults)
        self._tick = tick
        self._observer = observe
        self._postpone = postpone

    @property
    def points(self) -> int:
        return len(self.trace)

    def check(self) -> None:
        """A dead process does nothing more, in none of its threads."""
        if not self.alive:
            raise Killed("the process is dead")

    def kill(self) -> None:
        self.alive = False

    def call(self, op: str, args: tuple[Any, ...], act: Callable[[], T], error: type[Exception]) -> T:
        """One effect, with what is to go wrong before and after it; `error` is how this kind of call fails."""
        give_way()
        self.check()
        point = Point(self.points + 1, op, args)
        self.trace.append(point)
        self._observe(point, "before")
        self._strike(point, "before", error)
        self._tick()
        failure: Exception | None = None
        try:
            result = act()
        except Exception as raised:
            failure = raised
        self._observe(point, "after")
        self._strike(point, "after", None if failure else error)
        if failure is not None:
            raise failure
        return result

    def _observe(self, point: Point, phase: str) -> None:
        if self._observer is not None:
            self._observer(point, phase)

    def _strike(self, point: Point, phase: str, error: type[Exception] | None) -> None:
        """`error` is None where the call has failed by itself already: its own answer is the one that counts."""
        for fault in [fault for fault in self._pending if fault.meets(point, phase)]:
            self._pending.remove(fault)
            self._happen(fault, point, error)
        self.check()

    def _happen(self, fault: Fault, point: Point, error: type[Exception] | None) -> None:
        if fault.kind == "crash":
            self.kill()
        elif fault.kind == "hook":
            self._interrupted(fault)
        elif fault.kind == "late":
            self._postpone(fault.calls, point.op, point.args)
            raise (error or OSError)(f"injected late effect of {point}")
        elif error is not None:
            raise error(f"injected {_what_was_lost(fault)} {point}")

    def _interrupted(self, fault: Fault) -> None:
        assert fault.act is not None
        before, self.paused = self.paused, self.paused or fault.paused
        try:
            with outside_pool():
                fault.act()
        finally:
            self.paused = before


def _what_was_lost(fault: Fault) -> str:
    """Says in an error's text whether the call took effect, for whoever reads a failed test."""
    return "failure before" if fault.phase == "before" else "loss of the answer after"
