"""A table on the cluster, and what YARN says of who worked on it."""

from __future__ import annotations

from dataclasses import dataclass

from tests.cluster.cluster import Cluster


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
