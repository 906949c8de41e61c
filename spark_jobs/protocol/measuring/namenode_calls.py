"""Counts the calls of a job to the NameNode, and limits how many there are per second."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

#: Paths that no NameNode is asked about.
_LOCAL = "file:"
#: Calls that were saved up may be made at once, but not more than fit into this many seconds.
_BURST_SECONDS = 0.1


class NameNodeCalls:
    """A counter and a token bucket for all threads of a job.

    A call takes a token, which comes back with time. Without one, it still takes it, and then waits until the debt is
    paid: so threads go on in the order in which they came, and a call that cannot wait makes later ones wait longer.

    Attributes:
        made: the calls so far. A local disk has no NameNode, so its paths do not count.
    """

    def __init__(
        self, monotonic: Callable[[], float] = time.monotonic, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self.made = 0
        self._monotonic = monotonic
        self._sleep = sleep
        self._lock = threading.Lock()
        self._per_second: int | None = None
        self._tokens = 0.0
        self._at = 0.0
        self._thread = threading.local()

    def limit(self, per_second: int | None) -> None:
        """Set how many calls there may be per second; None for any number."""
        with self._lock:
            self._per_second, self._at = per_second, self._monotonic()
            self._tokens = self._most()

    @property
    def together(self) -> int:
        """Return how many calls one request to Hadoop's client may cause, because they are made without a pause."""
        return sys.maxsize if self._per_second is None else int(self._most())

    def take(self, uri: str, calls: int = 1) -> None:
        """Count calls that are made next for a path. Wait until the limit allows them."""
        wait = self.add(uri, calls)
        if wait > 0 and not getattr(self._thread, "at_once", False):
            self._sleep(wait)

    def add(self, uri: str, calls: int = 1) -> float:
        """Count calls for a path without waiting. Return the seconds that a call which can wait would have to wait."""
        if calls == 0 or uri.startswith(_LOCAL):
            return 0.0
        with self._lock:
            self.made += calls
            return 0.0 if self._per_second is None else self._charge(calls, self._per_second)

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Let the calls of this thread pass without waiting. They count, so that later calls wait longer."""
        outer = getattr(self._thread, "at_once", False)
        self._thread.at_once = True
        try:
            yield
        finally:
            self._thread.at_once = outer

    def _charge(self, calls: int, per_second: int) -> float:
        now = self._monotonic()
        self._tokens = min(self._most(), self._tokens + (now - self._at) * per_second) - calls
        self._at = now
        return max(0.0, -self._tokens / per_second)

    def _most(self) -> float:
        return max(1.0, (self._per_second or 0) * _BURST_SECONDS)
