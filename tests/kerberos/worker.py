"""A table on the cluster, and what YARN says of who worked on it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cluster.cluster import Cluster
from tests.cluster.kerberos import REALM

#: Of a partition; and the partitions of the table whose job is killed.
ROWS, PARTITIONS = 400, 5
#: Seconds in which what a test waits for must have happened.
PATIENCE = 300


@dataclass(frozen=True)
class Table:
    """Seen by the superuser, as the NameNode lists it."""

    cluster: Cluster
    name: str
    unit: str

    def files(self) -> dict[str, tuple[str, int, int]]:
        """name -> (owner, size, time) of the partition's files."""
        return {
            row["pathSuffix"]: (row["owner"], row["length"], row["modificationTime"])
            for row in self._list(self.unit)
        }

    def contents(self) -> list[bytes]:
        """The bytes of the partition's files."""
        folder = self.unit.removeprefix(self.cluster.default_fs)
        return [self.cluster.files.read(f"{folder}/{name}") for name in self.files()]

    def compacted(self) -> int:
        """The number of partitions that hold one file, in one look."""
        rows = self._list(self.unit.rpartition("/")[0])
        return sum(row["pathSuffix"].startswith("d=") and row["childrenNum"] == 1 for row in rows)

    def _list(self, folder: str) -> list[dict[str, Any]]:
        return self.cluster.files.list(folder.removeprefix(self.cluster.default_fs))


def finished(cluster: Cluster) -> dict[str, tuple[str, str]]:
    """The applications that ran: id -> (user, final status)."""
    return {app["id"]: (app["user"], app["finalStatus"]) for app in cluster.yarn.applications()}


@contextmanager
def applications(cluster: Cluster, *expected: tuple[str, str]) -> Iterator[None]:
    """What is done meanwhile is done by these applications, each with its user and its final status."""
    before = finished(cluster)
    yield
    ran = [found for application, found in finished(cluster).items() if application not in before]
    assert sorted(ran) == sorted(expected)


def keytab(cluster: Cluster, user: str = "etl") -> dict[str, str]:
    return {"principal": f"{user}@{REALM}", "keytab": str(cluster.kdc.keytab(user))}


def reports(cluster: Cluster) -> str:
    return f"webhdfs://localhost:{cluster.ports.namenode_http}/user/etl/reports"


def executors(application: str) -> list[int]:
    """The processes of an application's executors, of which all run on this machine."""
    signs = (application.encode(), b"CoarseGrainedExecutorBackend")
    return [
        int(file.parent.name)
        for file in Path("/proc").glob("[0-9]*/cmdline")
        if all(sign in _content(file) for sign in signs)
    ]


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:  # the process has ended
        return b""
