"""Reads the observations in the background, all of them once and then the new ones, for the pages."""

from __future__ import annotations

import gc
import logging
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from lakekeeper_provider.page import stored
from lakekeeper_provider.page.observations import Stored
from lakekeeper_provider.page.tables import Tables, add

log = logging.getLogger(__name__)

#: New observations are looked for so often, in seconds, as long as somebody looks at a page.
_EVERY = 10
_IDLE_AFTER = 900
#: What is older is not shown before it was tried to read what is new, for so many seconds at most.
_STALE_AFTER, _PATIENCE = 30, 1.5
#: Everything is read anew after so long: Airflow may have deleted old events meanwhile.
_ANEW_AFTER = 86_400
#: For the first page the newest observations are read, for so long at most.
_FIRST_SECONDS = 0.5
#: All are read from so long after it on, for its page has to be made first.
_AFTER_FIRST = 1.5
_FIRST_PORTION = 1_000
#: Ids are given before a transaction ends. An event may appear so long after one with a higher id.
_LATE_SECONDS = 120
#: After so many events the thread pauses for so long, or requests would wait for Python's lock.
_BREATH, _BREATH_SECONDS = 100, 0.001
_NEVER = 2**30
_REMEMBERED = 2 * stored.PORTION
_frozen = threading.Event()


@dataclass(frozen=True)
class Snapshot:
    """What is known at one time.

    Args:
        complete: everything was read; else only the newest, and figures over time are missing
        read_at: when it was read last, in seconds since the epoch
    """

    tables: Tables
    complete: bool
    read_at: float


class Follower:
    """Holds the tables, and keeps them up to date in a thread of its own."""

    def __init__(self) -> None:
        self._snapshot: Snapshot | None = None
        self._lock = threading.Lock()
        self._asked = threading.Event()
        self._asked_at = 0.0
        self._thread: threading.Thread | None = None
        self._ended = threading.Event()
        self._fresh = threading.Event()

    def stop(self) -> None:
        """End the thread."""
        self._ended.set()
        self._asked.set()
        if self._thread is not None:
            self._thread.join()

    def snapshot(self) -> Snapshot:
        """Return what is known. The first call reads the newest observations, and begins to read all."""
        self._asked_at = time.monotonic()
        if self._snapshot is not None and time.time() - self._snapshot.read_at > _STALE_AFTER:
            # Nobody has looked for a while: the thread wakes up, and reads what is new meanwhile.
            self._fresh.clear()
            self._asked.set()
            self._fresh.wait(_PATIENCE)
        self._asked.set()
        with self._lock:
            if self._snapshot is None:
                self._snapshot = _first()
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._follow, name="lakekeeper-tables", daemon=True)
                self._thread.start()
            return self._snapshot

    def _follow(self) -> None:
        """Read everything, then what is new. After an error of the database it goes on where it was."""
        reader = Reader()
        self._ended.wait(_AFTER_FIRST)
        while not self._ended.is_set():
            try:
                self._read_all_and_follow(reader)
                reader = Reader()
            except Exception:
                log.exception("the observations of the tables could not be read; tried again in %s s", _EVERY)
                self._ended.wait(_EVERY)

    def _read_all_and_follow(self, reader: Reader) -> None:
        with _short_collections():
            while reader.read() and not self._ended.is_set():
                pass
            self._snapshot = reader.snapshot()
        began = time.monotonic()
        while time.monotonic() - began < _ANEW_AFTER:
            if self._ended.wait(_EVERY):
                return
            self._asked.clear()
            if time.monotonic() - self._asked_at > _IDLE_AFTER:
                self._asked.wait()
            while reader.read() and not self._ended.is_set():
                pass
            self._snapshot = reader.snapshot()
            self._fresh.set()


@contextmanager
def _short_collections() -> Iterator[None]:
    """Keep Python from looking at all objects for garbage, which holds each request of the API server for long.

    What is there after the first time is never looked at again: the tables have no cycles, and are freed without.
    """
    thresholds = gc.get_threshold()
    gc.set_threshold(*thresholds[:2], _NEVER)
    try:
        yield
        if not _frozen.is_set():  # once: others' garbage would be kept each time
            _frozen.set()
            gc.freeze()
    finally:
        gc.set_threshold(*thresholds)


class Reader:
    """Reads observations in the order of their ids into tables."""

    def __init__(self) -> None:
        self.tables = Tables()
        self._cursor: int | None = None
        self._seen: deque[tuple[int, float]] = deque(maxlen=_REMEMBERED)
        self._last_read = 0.0
        self._xcoms: set[tuple[object, ...]] = set()
        self._xcoms_since = 0.0

    def snapshot(self) -> Snapshot:
        """Return what was read until now, as all there is."""
        self.tables.settle()
        return Snapshot(self.tables, True, time.time())

    def read(self) -> bool:
        """Read the next portion; return whether there may be more."""
        began = time.time()
        known = {number for number, _ in self._seen}
        read, last = 0, self._begin() if self._cursor is None else self._cursor
        for each in stored.after(last):
            read, last = read + 1, each.number
            if last not in known:
                add(self.tables, [each])
                self._seen.append((last, began))
            if read % _BREATH == 0:
                time.sleep(_BREATH_SECONDS)
        self._cursor = last if read == stored.PORTION else None
        if self._cursor is not None:
            return True
        self._read_xcoms(began)
        self._last_read = began
        return False

    def _begin(self) -> int:
        """Return the id after which is read: the newest events again, for others may have come between them.

        None comes below an id that was seen long before the last read, by the clock of this process.
        """
        settled = self._last_read - _LATE_SECONDS
        has_all = len(self._seen) < _REMEMBERED
        first = 0 if has_all else min(number for number, _ in self._seen) - 1
        return max((number for number, seen_at in self._seen if seen_at <= settled), default=first)

    def _read_xcoms(self, now: float) -> None:
        for each in stored.failed_since(self._xcoms_since):
            place = (each.at, each.source, str(each.extra.get("page")))
            if place not in self._xcoms:
                self._xcoms.add(place)
                add(self.tables, [each])
        self._xcoms_since = now - _LATE_SECONDS


def _first() -> Snapshot:
    """Return the newest observations, as many as can be read while somebody waits for the first page.

    One portion is read however long that takes: without any, the page would say that nothing is known.
    """
    tables = Tables()
    began = time.monotonic()
    number: int | None = None
    found: list[Stored] = []
    complete = False
    while not complete and (not found or time.monotonic() - began < _FIRST_SECONDS):
        portion = list(stored.before(number, _FIRST_PORTION))
        found += portion
        complete = len(portion) < _FIRST_PORTION
        number = portion[-1].number if portion else None
    add(tables, sorted([*found, *stored.failed(_FIRST_PORTION)], key=lambda each: (each.at, each.number)))
    return Snapshot(tables, complete, time.time())
