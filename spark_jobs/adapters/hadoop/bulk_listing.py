"""Lists many directories with few round trips to the JVM, and large ones without one huge text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from spark_jobs.adapters.hadoop.java_errors import java_errors
from spark_jobs.core.model import parent

#: So many entries are converted into one text. A request is for about so many, unless one directory has more.
_TOGETHER = 20_000
#: So many directories are listed by the first request, which shows how large they are.
_FIRST = 8

#: The fields of one `FileStatus`.
Row = dict[str, Any]


class BulkListing:
    """Lists directories through Hadoop's client.

    Args:
        mapper: converts a `FileStatus[]` into JSON.
    """

    def __init__(self, jvm: Any, conf: Any, mapper: Any) -> None:
        self._new_array = jvm.java.lang.reflect.Array.newInstance
        self._copy = jvm.java.lang.System.arraycopy
        self._object = jvm.java.lang.Class.forName("java.lang.Object")
        self._conf = conf
        self._mapper = mapper
        self._parser = jvm.com.fasterxml.jackson.databind.ObjectMapper()
        self._paths = jvm.java.lang.Class.forName("[Lorg.apache.hadoop.fs.Path;")

    def rows(self, statuses: Any) -> Iterator[Row]:
        """Return the fields of each status of an array. A million of them at once would need gigabytes as text."""
        count = len(statuses)
        if count <= _TOGETHER:
            yield from json.loads(self._mapper.writeValueAsString(statuses))
            return
        for start in range(0, count, _TOGETHER):
            size = min(_TOGETHER, count - start)
            part = self._new_array(self._object, size)
            self._copy(statuses, start, part, 0, size)
            yield from json.loads(self._mapper.writeValueAsString(part))

    def each(self, paths: Sequence[str]) -> Iterator[tuple[str, list[Row] | None]]:
        """Yield the rows of each directory, in this order; None where it has to be listed alone.

        That is so after an error, because it does not say which directories it is about, and where it is not certain
        to which directory an entry belongs.
        """
        start, size = 0, _FIRST
        while start < len(paths):
            part = paths[start : start + size]
            found = self._together(part)
            for path in part:
                yield path, found.get(path) if found is not None else None
            entries = sum(len(rows) for rows in (found or {}).values())
            start, size = start + len(part), max(1, _TOGETHER * len(part) // max(entries, 1))

    def _together(self, paths: Sequence[str]) -> dict[str, list[Row]] | None:
        if len({_server(path) for path in paths}) != 1 or len(set(paths)) != len(paths):
            return None
        try:
            with java_errors("cannot list directories"):
                array = self._parser.readValue(json.dumps(paths), self._paths)
                statuses = array[0].getFileSystem(self._conf).listStatus(array)
                return _by_directory(paths, self.rows(statuses))
        except OSError:
            return None


def _server(path: str) -> str:
    """Return scheme and authority, and what else is before the first name."""
    return path[: len(path) - len(path.split(":", 1)[-1].lstrip("/"))]


def _by_directory(paths: Sequence[str], rows: Iterator[Row]) -> dict[str, list[Row]] | None:
    """Return the rows by directory; None if one of the paths is a file, or a row is in no directory of these."""
    found: dict[str, list[Row]] = {path: [] for path in paths}
    for row in rows:
        above = parent(row["path"])
        if above not in found or (row["path"] in found and not row["isdir"]):
            return None
        found[above].append(row)
    return found
