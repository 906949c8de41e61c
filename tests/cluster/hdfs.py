"""A NameNode and a DataNode."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from demo.services.ports import HOST
from tests.cluster import client
from tests.cluster.server import NotStarted, Server
from tests.cluster.sites import NAME, Ports
from tests.harness.sockets import hung_up
from tests.harness.waiting import wait_for

_NAMENODE = "org.apache.hadoop.hdfs.server.namenode.NameNode"
_KEYS = "org.apache.hadoop.crypto.key.KeyShell"
_DATANODE = "org.apache.hadoop.hdfs.server.datanode.DataNode"

#: Of encryption zones.
KEY = "lakekeeper"


class Hdfs:
    """Of one folder; `environ` says who its superuser is."""

    def __init__(self, folder: Path, ports: Ports, environ: Mapping[str, str]) -> None:
        self._ports = ports
        self._folder = folder
        self._environ = environ
        self.namenode = self._server("namenode", _NAMENODE, self.serves)
        self.datanode = self._server("datanode", _DATANODE, self.is_whole)

    def start(self) -> None:
        if not (self._folder / "namenode").exists():
            self._make()
        self.revive()

    def _make(self) -> None:
        """An empty file system and a key. The NameNode reads the file of keys once, when it starts."""
        with ThreadPoolExecutor() as beside:
            key = beside.submit(self._must, "no key could be made", _KEYS, "create", KEY, "-size", "128")
            self._must("the NameNode could not be formatted", _NAMENODE, "-format", "-nonInteractive")
            key.result()

    def stop(self) -> None:
        self.datanode.stop()
        self.namenode.stop()

    def revive(self) -> None:
        """Starts what does not run; returns when files may be written again."""
        for server in (self.namenode, self.datanode):
            if not server.runs():
                server.start(wait=False)
        self.namenode.wait()
        self.datanode.wait()

    def repair(self) -> None:
        """As `revive`, and until no client has a connection to a NameNode that is dead: its next call would fail.

        A client of Hadoop finds out when it calls, or else lets go of a connection after ten seconds.
        """
        self.revive()
        wait_for("the clients of a dead NameNode", lambda: not hung_up(self._ports.namenode))

    def restart_namenode(self) -> None:
        self.namenode.kill()
        self.revive()

    def _server(self, name: str, main: str, ready: Callable[[], bool]) -> Server:
        command = [*client.options(self._folder), main]
        return Server(name, command, self._folder, ready, self._environ)

    def _must(self, failed: str, *command: str) -> None:
        done = client.call(self._folder, *command, environ=self._environ)
        if done.returncode:
            raise NotStarted(f"{failed}:\n{done.stdout[-1000:]}{done.stderr[-1000:]}")

    def serves(self) -> bool:
        return self._state() is not None

    def is_whole(self) -> bool:
        """The DataNode has reported, and files may be written.

        The NameNode alone does not tell: for some minutes it takes a DataNode that was killed for alive.
        """
        state = self._state() or {}
        operational = state.get("NumLiveDataNodes") == 1 and state.get("FSState") == "Operational"
        return operational and self._is_registered()

    def _is_registered(self) -> bool:
        """By what the DataNode says: it is known to the NameNode under the ports that it has now."""
        state = _jmx(f"{HOST}:{self._ports.datanode_http}", "DataNode,name=DataNodeInfo") or {}
        actors = json.loads(state.get("BPServiceActorInfo", "[]"))
        return any(actor["ActorState"] == "RUNNING" for actor in actors)

    def _state(self) -> dict[str, Any] | None:
        """What the NameNode says of itself; None while it does not answer."""
        return _jmx(f"{NAME}:{self._ports.namenode_http}", "NameNode,name=FSNamesystemState")


def _jmx(address: str, bean: str) -> dict[str, Any] | None:
    """The attributes of one of a server's beans; None while it does not answer."""
    try:
        with urllib.request.urlopen(f"http://{address}/jmx?qry=Hadoop:service={bean}", timeout=5) as answer:
            beans = json.load(answer)["beans"]
    except (OSError, ValueError):
        return None
    return beans[0] if beans else None
