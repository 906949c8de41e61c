"""Lists a directory of HDFS by the pages in which the NameNode sends it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from py4j.protocol import Py4JError, Py4JJavaError

from spark_jobs.adapters.hadoop.java_errors import call
from spark_jobs.adapters.hadoop.statuses import StatusReader
from spark_jobs.core.records.journal_bounds import server_of
from spark_jobs.core.values.garbage import rarely_collected
from spark_jobs.protocol.file_system import Status
from spark_jobs.protocol.measuring.namenode_calls import NameNodeCalls

#: The class of the entries since Hadoop 3.2. Entries of earlier clients do not have the fields that are read here.
_ENTRY = "org/apache/hadoop/hdfs/protocol/HdfsNamedFileStatus.class"


class HdfsListing:
    """Lists by `DFSClient.listPaths`, of which `listStatus` gathers all pages into one array.

    That array holds an object with a path for each file, and its calls to the NameNode are made without a pause. By
    pages, the JVM holds a thousand entries, and each page waits for the limit of calls. Entries that are added or
    removed between two pages may be missing or not, as with `listStatus`.
    """

    def __init__(self, jvm: Any, statuses: StatusReader, calls: NameNodeCalls) -> None:
        loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
        self._supported = loader.getResource(_ENTRY) is not None
        self._statuses = statuses
        self._calls = calls
        self._clients: dict[str, Any] = {}

    def list(self, fs: Any, path: str) -> list[Status] | None:
        """Return the entries of a directory; None if this client has no pages.

        Args:
            fs: the Java file system of the path. The call for the first page is counted already.

        Raises:
            FileNotFoundError: there is no such path.
            Py4JJavaError: the NameNode or the client has failed.
        """
        client = self._client(fs, path) if self._supported else None
        if client is None:
            return None
        with rarely_collected():
            return list(self._entries(client, path))

    def _client(self, fs: Any, path: str) -> Any:
        """Return the client of a file system; None if it is not HDFS."""
        server = server_of(path)
        if server not in self._clients:
            try:
                self._clients[server] = call(fs, "getClient")
            except Py4JJavaError:
                raise
            except Py4JError:
                self._clients[server] = None  # another class serves hdfs: here
        return self._clients[server]

    def _entries(self, client: Any, path: str) -> Iterator[Status]:
        directory, last = path[len(server_of(path)) :] or "/", b""
        while True:
            # By `call`: an object whose methods are looked up would stay in the JVM's memory for long.
            page = call(client, "listPaths", directory, last, False)
            if page is None:
                raise FileNotFoundError(f"cannot list {path}: it does not exist")
            yield from self._statuses.named(call(page, "getPartialListing"), path)
            if not call(page, "hasMore"):
                return
            self._calls.take(path)
            last = call(page, "getLastName")
