"""The locations of thousands of partitions, made fully qualified with a few calls of Hadoop's client."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import unquote, urlsplit

from spark_jobs.core.messages.errors import Refusal
from spark_jobs.core.messages.refusals import RefusalCode
from spark_jobs.core.rules.eligibility import may_have_runs
from spark_jobs.core.values.model import name_of, parent
from spark_jobs.protocol.file_system import UnusableFileSystem

#: A URI below a directory. Hadoop drops empty names, and resolves `.` and `..`.
_PLAIN = re.compile(r"(?!viewfs:)[a-z][a-z0-9+.-]*:/.*[^/]/(?!\.\.?\Z)[^/]+\Z", re.DOTALL)


def decode_location(location: str) -> str:
    """Convert the text of a `java.net.URI` into that of a Hadoop path: `%25` becomes `%`."""
    return unquote(location).rstrip("/")  # guard: location_decoded_once


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
        """Return a path with scheme and authority.

        A path on an object store that this job cannot use stays as it is: its scheme refuses the table or partition.

        Raises:
            Refusal: the file system of another path cannot be used, or the path is the root of a file system.
        """
        above = parent(path)
        if not _PLAIN.match(path) or not _PLAIN.match(above):
            return self._ask(path)
        if above not in self._known:
            self._known[above] = self.qualified(above)
        return f"{self._known[above]}/{name_of(path)}"

    def _ask(self, path: str) -> str:
        swappable = may_have_runs(path)
        if swappable and not urlsplit(path).path.strip("/"):  # guard: roots_of_file_systems
            raise Refusal(
                RefusalCode.FILE_SYSTEM, f"{path}/ is the root of a file system, which cannot be replaced"
            )
        try:
            return self._qualify(path)
        except UnusableFileSystem as error:
            # Of a table with such a place, nobody can tell whether its originals are the only copy.
            if swappable:  # guard: unknown_servers_refused
                raise Refusal(RefusalCode.FILE_SYSTEM, str(error)) from None
            return path
