"""Lock a folder so that one process at a time works in it."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class FolderLocked(RuntimeError):
    """Another process works in the folder; the message names both."""


@contextmanager
def folder_lock(folder: Path, other: str) -> Iterator[None]:
    """Hold the lock of a folder; raise FolderLocked where somebody else holds it. `other` says who that can be.

    The lock file lies beside the folder, so that the folder itself can be deleted.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f"{folder.name}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise FolderLocked(f"{other} is at work in {folder}") from None
        yield
