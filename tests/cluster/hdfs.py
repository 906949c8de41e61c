"""A NameNode and a DataNode."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.cluster import client
from tests.cluster.server import NotStarted, Server
from tests.cluster.sites import NAME, Ports

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
            self._must("the NameNode could not be formatted", _NAMENODE, "-format", "-nonInteractive")
            # Before the NameNode starts: it reads the file of keys once.
            self._must("no key could be made", _KEYS, "create", KEY, "-size", "128")
        self.revive()

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
        """A DataNode has reported, and files may be written."""
        state = self._state() or {}
        return state.get("NumLiveDataNodes") == 1 and state.get("FSState") == "Operational"

    def _state(self) -> dict[str, object] | None:
        """What the NameNode says of itself; None while it does not answer."""
        query = "jmx?qry=Hadoop:service=NameNode,name=FSNamesystemState"
        try:
            with urllib.request.urlopen(
                f"http://{NAME}:{self._ports.namenode_http}/{query}", timeout=5
            ) as answer:
                beans = json.load(answer)["beans"]
        except (OSError, ValueError):
            return None
        return beans[0] if beans else None
