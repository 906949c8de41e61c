"""Wait for a condition, never for a time: with a bound, and with a message that says what was waited for."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
_PAUSE_SECONDS = 0.05


def wait_for(what: str, found: Callable[[], T], *, patience: float = 60) -> T:
    """Return what `found` returns as soon as that is true.

    Raises:
        TimeoutError: it was not within `patience` seconds.
    """
    deadline = time.monotonic() + patience
    while not (result := found()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {patience:g} s for {what}")
        time.sleep(_PAUSE_SECONDS)
    return result
