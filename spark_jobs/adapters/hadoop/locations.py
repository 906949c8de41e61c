"""The locations of thousands of partitions, made fully qualified with a few calls of Hadoop's client."""

from __future__ import annotations

import re
from collections.abc import Callable

from spark_jobs.core.model import name_of, parent

#: A URI below a directory. Hadoop drops empty names, and resolves `.` and `..`.
_PLAIN = re.compile(r"(?!viewfs:)[a-z][a-z0-9+.-]*:/.*[^/]/(?!\.\.?\Z)[^/]+\Z", re.DOTALL)


class Locations:
    """Qualifies paths. Hadoop is asked about a directory once, and not about each directory in it.

    That gives the same path, because the last name has no influence on scheme and authority. A viewfs is asked about
    each path, because any directory may be a mount; so is a path without a scheme, which may be on a viewfs.

    Args:
        qualify: asks Hadoop's client.
    """

    def __init__(self, qualify: Callable[[str], str]) -> None:
        self._qualify = qualify
        self._known: dict[str, str] = {}

    def qualified(self, path: str) -> str:
        """Return a path with scheme and authority."""
        above = parent(path)
        if not _PLAIN.match(path) or not _PLAIN.match(above):
            return self._qualify(path)
        if above not in self._known:
            self._known[above] = self.qualified(above)
        return f"{self._known[above]}/{name_of(path)}"
