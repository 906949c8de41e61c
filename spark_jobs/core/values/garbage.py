"""The collection of garbage by Python."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

#: Python looks for cycles of objects that nobody uses whenever it has created this many objects more than deleted.
#: Its own limit is 700. Then the searches take a third of the time in which thousands of footers are decoded, and more
#: than half of that in which the files of a large directory are listed, compared and journaled.
_OBJECTS_BETWEEN_SEARCHES = 50_000

_lock = threading.Lock()
_blocks = 0
_before = 0


@contextmanager
def rarely_collected() -> Iterator[None]:
    """Search for garbage less often until the end of the block, or of the last one of several threads.

    Only while values of many files are made, which form no cycles. Proxies of Java objects form cycles, and the JVM
    keeps an object until Python has collected its proxy.
    """
    _enter()
    try:
        yield
    finally:
        _leave()


def _enter() -> None:
    global _blocks, _before
    with _lock:
        if _blocks == 0:
            _before = gc.get_threshold()[0]
            gc.set_threshold(_OBJECTS_BETWEEN_SEARCHES)
        _blocks += 1


def _leave() -> None:
    global _blocks
    with _lock:
        _blocks -= 1
        if _blocks == 0:
            gc.set_threshold(_before)
