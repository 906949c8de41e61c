"""A table on the cluster, and what YARN says of who worked on it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tests.cluster.cluster import Cluster
from tests.cluster.kerberos import REALM

#: Of a partition; and so many partitions take long enough, one after the other, that a job can be killed meanwhile.
ROWS, PARTITIONS = 400, 10


@dataclass(frozen=True)
class Table:
    """Seen by the superuser, with Hadoop's own shell."""

    cluster: Cluster
    name: str
    unit: str

    def files(self) -> dict[str, tuple[str, str, str]]:
        """name -> (owner, size, time) of the partition's files."""
        paths = self.cluster.shell("-ls", "-C", self.unit).split()
        listed = self.cluster.shell("-stat", "%n %u %b %y", *paths)
        rows = (line.split(" ", 3) for line in listed.splitlines())
        return {name: (owner, size, time) for name, owner, size, time in rows}


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
