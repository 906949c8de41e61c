"""A process that stands still in the middle of its work and goes on when it is told to, whatever happened meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from tests.crash import process
from tests.crash.fault_injection import Fault, Killed, Point
from tests.crash.simulated_cluster import Client, SimulatedCluster

#: A thread of the model never waits for anything but its turn; so long can no turn take.
_STUCK_SECONDS = 60


class PausedProcess:
    """It has a thread of its own, but only one thread of the cluster ever runs: `go_on` returns when it stands or ends.

    With `frozen` all of the process stands still, as in a long pause of the JVM; else its heart goes on beating, as
    while a long job runs. `stops` say before which of its effects it stands still, each once.
    """

    def __init__(
        self,
        sim: SimulatedCluster,
        work: Callable[[Client], dict[str, Any]],
        stops: Sequence[Callable[[Point], bool]],
        *faults: Fault,
        frozen: bool = True,
        seed: int | None = None,
        skew: float = 0.0,
    ) -> None:
        self._my_turn, self._others_turn = threading.Semaphore(0), threading.Semaphore(0)
        self._work = work
        self._error: BaseException | None = None
        self.report: dict[str, Any] | None = None
        self.ended = False
        hooks = [Fault.hook(_unless_beating(stop), self._stand_still, paused=frozen) for stop in stops]
        self.client = sim.client(*hooks, *faults, seed=seed, skew=skew)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def go_on(self) -> None:
        """Starts it, or wakes it up; what it raises on its own account is raised here."""
        self._my_turn.release()
        assert self._others_turn.acquire(timeout=_STUCK_SECONDS), "the process waits for something real"
        if self._error is not None:
            raise self._error

    def kill(self) -> None:
        """It never wakes up again; its thread ends now."""
        self.client.kill()
        if not self.ended:
            self.go_on()

    def _run(self) -> None:
        self._my_turn.acquire()
        try:
            self.report = self._work(self.client)
        except Killed:
            pass
        except BaseException as error:
            self._error = error
        self.ended = True
        self._others_turn.release()

    def _stand_still(self) -> None:
        """Python answers for whoever acts meanwhile."""
        assert process._acting.pop() is self.client
        self._others_turn.release()
        self._my_turn.acquire()
        process._acting.append(self.client)


def _unless_beating(stop: Callable[[Point], bool]) -> Callable[[Point], bool]:
    """A heartbeat borrows the thread of whoever lets time pass: that one must not be kept."""
    return lambda point: point.op != "touch" and stop(point)
