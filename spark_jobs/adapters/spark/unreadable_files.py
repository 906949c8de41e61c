"""Finds the file that a failed read was about, where Spark's error does not name it."""

from __future__ import annotations

from collections.abc import Callable, Sequence


def first_unreadable(files: Sequence[str], read: Callable[[Sequence[str]], object]) -> str | None:
    """Return the first file that cannot be read, by reading ever smaller halves; None if all can be read.

    Args:
        read: reads all of some files, or raises an exception.
    """
    try:
        read(files)
        return None
    except Exception:
        middle = len(files) // 2
        if not middle:
            return files[0]
        return first_unreadable(files[:middle], read) or first_unreadable(files[middle:], read)
