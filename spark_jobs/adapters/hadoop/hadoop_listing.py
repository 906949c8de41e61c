"""Lists directories through Hadoop's client, many of them with few round trips to the JVM."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from spark_jobs.adapters.hadoop.hdfs_listing import HdfsListing
from spark_jobs.adapters.hadoop.java_answers import json_reader
from spark_jobs.adapters.hadoop.java_errors import call, java_errors
from spark_jobs.adapters.hadoop.statuses import StatusReader
from spark_jobs.core.records.journal_bounds import server_of
from spark_jobs.core.values.model import parent
from spark_jobs.protocol.file_system import Status
from spark_jobs.protocol.measuring.namenode_calls import NameNodeCalls

#: The NameNode answers with at most this many entries at a time (the default of `dfs.ls.limit`).
_NAMENODE_PAGE = 1000
#: A request is for about this many entries, unless one directory has more.
_TOGETHER = 20_000
#: A first request is for at most this many directories: it shows how large they are.
_FIRST = 8
#: A request is for at most this many times as many directories as the one before, whose entries have fitted.
_GROWTH = 16


class HadoopListing:
    """Lists directories through Hadoop's client."""

    def __init__(self, jvm: Any, conf: Any, statuses: StatusReader, calls: NameNodeCalls) -> None:
        self._conf = conf
        self._calls = calls
        self._statuses = statuses
        self._pages = HdfsListing(jvm, statuses, calls)
        self._new_path = jvm.org.apache.hadoop.fs.Path
        self._paths = json_reader(jvm, "[Lorg.apache.hadoop.fs.Path;")
        #: The directories that have fitted into a request last. Threads may overwrite it: any value is a right one.
        self._fitting = 1

    def one(self, fs: Any, path: str) -> list[Status]:
        """Return the entries of a directory, by pages if its file system has them.

        Args:
            fs: the Java file system of the path. The first call to the NameNode is counted already.
        """
        pages = self._pages.list(fs, path) if path.startswith("hdfs:") else None
        if pages is not None:
            return pages
        entries = self._statuses.listed(call(fs, "listStatus", self._new_path(path)))
        self._calls.add(path, more_pages(len(entries)))
        return entries

    def each(self, paths: Sequence[str]) -> Iterator[tuple[str, list[Status] | None]]:
        """Yield the entries of each directory, in this order; None where it has to be listed alone.

        That is so after an error, because it does not say which directories it is about, and where it is not certain
        to which directory an entry belongs.
        """
        start, size = 0, min(self._fitting, _FIRST)
        while start < len(paths):
            part = paths[start : start + min(size, self._calls.together)]
            listings = self._together(part)
            for path in part:
                yield path, listings.get(path) if listings is not None else None
            start, size = start + len(part), next_size(len(part), listings)
            self._fitting = size

    def _together(self, paths: Sequence[str]) -> dict[str, list[Status]] | None:
        if len({server_of(path) for path in paths}) != 1 or len(set(paths)) != len(paths):
            return None
        self._calls.take(paths[0], len(paths))
        try:
            with java_errors("cannot list directories"):
                array = self._paths.readValue(json.dumps(paths))
                fs = array[0].getFileSystem(self._conf)
                if len(paths) == 1:  # the first one, or after one with very many entries
                    return _by_directory(paths, iter(self.one(fs, paths[0])))
                listings = _by_directory(paths, self._statuses.each(fs.listStatus(array)))
        except OSError:
            return None
        self._calls.add(paths[0], sum(more_pages(len(each)) for each in (listings or {}).values()))
        return listings


def more_pages(entries: int) -> int:
    """Return the calls to the NameNode that a directory of this many entries takes, beside the first one."""
    return max(0, entries - 1) // _NAMENODE_PAGE


def next_size(directories: int, listings: Mapping[str, Sequence[Status]] | None) -> int:
    """Return how many directories the next request is for: as many as fit into it, by the entries of the last ones.

    Args:
        directories: the directories of the last request.
        listings: their entries; None after an error, which says nothing of their sizes.
    """
    if listings is None:
        return max(1, directories // 2)
    entries = sum(len(each) for each in listings.values())
    return max(1, min(_GROWTH * directories, _TOGETHER * directories // max(entries, 1)))


def _by_directory(paths: Sequence[str], statuses: Iterator[Status]) -> dict[str, list[Status]] | None:
    """Return the entries by directory; None if one of the paths is a file, or an entry is in no directory of these."""
    listings: dict[str, list[Status]] = {path: [] for path in paths}
    for status in statuses:
        above = parent(status.path)
        if above not in listings or (status.path in listings and not status.is_dir):
            return None
        listings[above].append(status)
    return listings
