"""Threads of which only one ever runs: an interleaving is the choice of a seed, and can be had again."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

_local = threading.local()


class WouldBlock(RuntimeError):
    """A lock is held and nobody can release it while this thread waits: a deadlock, or a heartbeat that must wait."""


def give_way() -> None:
    """Lets another thread of the same process go first, where this thread is one of its pool's."""
    task: _Task | None = getattr(_local, "task", None)
    if task is not None:
        task.pool.switch(task)


@contextmanager
def outside_pool() -> Iterator[None]:
    """For hooks and heartbeats, which borrow a thread: those of its pool stand still meanwhile."""
    task, _local.task = getattr(_local, "task", None), None
    try:
        yield
    finally:
        _local.task = task


class _Task:
    """One worker thread; `waits_for` is the lock that it needs before it can go on."""

    def __init__(self, pool: DeterministicPool, work: Callable[[], None]) -> None:
        self.pool = pool
        self.turn = threading.Semaphore(0)
        self.waits_for: CooperativeLock | None = None
        self._work = work
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        _local.task = self
        self.turn.acquire()
        self._work()
        self.pool.leave(self)

    @property
    def runnable(self) -> bool:
        return self.waits_for is None or not self.waits_for.locked()


class DeterministicPool:
    """A ThreadPoolExecutor as the jobs see it. Without a seed, or of size 1, items are worked on in order, right here.

    All items are worked on even if one fails; then the first failure in the order of the items is raised.
    """

    def __init__(self, size: int, seed: random.Random | None) -> None:
        self._size = size
        self._random = seed
        self._tasks: list[_Task] = []
        self._idle = threading.Semaphore(0)

    def __enter__(self) -> DeterministicPool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    def map(self, act: Callable[[Any], Any], items: Iterable[Any], /) -> Iterator[Any]:
        """All work is done when this returns, whether or not somebody asks for the results."""
        work = list(items)
        results: dict[int, Any] = {}
        failures: dict[int, BaseException] = {}
        queue = iter(range(len(work)))

        def worker() -> None:
            for index in queue:
                try:
                    results[index] = act(work[index])
                except BaseException as error:
                    failures[index] = error

        self._run(worker, min(self._size, len(work)))
        if failures:
            raise failures[min(failures)]
        return iter([results[index] for index in range(len(work))])

    def _run(self, worker: Callable[[], None], threads: int) -> None:
        if self._random is None or threads < 2:
            worker()
            return
        tasks = self._tasks = [_Task(self, worker) for _ in range(threads)]
        self._pick().turn.release()
        self._idle.acquire()
        for task in tasks:
            task.thread.join()

    def _pick(self) -> _Task:
        assert self._random is not None
        able = [task for task in self._tasks if task.runnable]
        if not able:
            raise WouldBlock("deadlock: every thread of the pool waits for a lock")
        return self._random.choice(able)

    def switch(self, task: _Task) -> None:
        """Hands the baton to a thread of the seed's choice, which may be the same one."""
        chosen = self._pick()
        if chosen is not task:
            chosen.turn.release()
            task.turn.acquire()

    def leave(self, task: _Task) -> None:
        """The thread has ended; the last one wakes the caller of `map`."""
        self._tasks.remove(task)
        if self._tasks:
            self._pick().turn.release()
        else:
            self._idle.release()


class CooperativeLock:
    """A lock whose waiter hands the baton back; with a real one the only running thread would wait for ever."""

    reentrant = False

    def __init__(self) -> None:
        self._holder: int | None = None
        self._depth = 0

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        me = threading.get_ident()
        if self._holder == me and not self.reentrant:
            raise WouldBlock("deadlock: the thread holds this lock already")
        while self._holder not in (None, me):
            if not blocking:
                return False
            self._wait()
        self._holder, self._depth = me, self._depth + 1
        return True

    def _wait(self) -> None:
        task: _Task | None = getattr(_local, "task", None)
        if task is None:
            raise WouldBlock("the lock is held, and no other thread can release it meanwhile")
        task.waits_for = self
        task.pool.switch(task)
        task.waits_for = None

    def release(self) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._holder = None

    def locked(self) -> bool:
        return self._holder is not None

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


class CooperativeRLock(CooperativeLock):
    """The same, for a thread that may take it again."""

    reentrant = True
