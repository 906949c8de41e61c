"""A folder that one process at a time may work in."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Claimed(RuntimeError):
    """Somebody else is at work there; the message says who, and where."""


@contextmanager
def claimed(folder: Path, who: str) -> Iterator[None]:
    """Ours until the end: a second one would wipe what the first one writes. `who` is what the other one is."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f"{folder.name}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Claimed(f"{who} is at work in {folder}") from None
        yield
