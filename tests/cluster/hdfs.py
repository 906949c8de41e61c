"""A NameNode and a DataNode."""

from __future__ import annotations

import json
import subprocess
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.cluster import jars
from tests.cluster.server import NotStarted, Server, opened
from tests.cluster.sites import NAME, Ports
from tests.harness.machine import java_command
from tests.harness.processes import own_environ

_NAMENODE = "org.apache.hadoop.hdfs.server.namenode.NameNode"
_SHELL = "org.apache.hadoop.fs.FsShell"
_DATANODE = "org.apache.hadoop.hdfs.server.datanode.DataNode"


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
            self._format()
        self.namenode.start(wait=False)
        self.datanode.start(wait=False)
        self.namenode.wait()
        self.datanode.wait()

    def stop(self) -> None:
        self.datanode.stop()
        self.namenode.stop()

    def shell(self, *command: str, environ: Mapping[str, str]) -> str:
        """`hdfs dfs`, as whoever the environment says; returns what it prints."""
        done = self._java(_SHELL, *command, environ=environ)
        if done.returncode:
            raise RuntimeError(f"hdfs dfs {' '.join(command)}: {done.stderr[-1000:]}")
        return done.stdout

    def _server(self, name: str, main: str, ready: Callable[[], bool]) -> Server:
        command = [*_java(self._folder), main]
        return Server(name, command, self._folder, ready, self._environ)

    def _format(self) -> None:
        done = self._java(_NAMENODE, "-format", "-nonInteractive", environ=self._environ)
        if done.returncode:
            raise NotStarted(f"the NameNode could not be formatted:\n{done.stderr[-2000:]}")

    def _java(self, *command: str, environ: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
        whole = [java_command() or "java", *opened(), *_java(self._folder), *command]
        environ = {**own_environ(), **environ}
        return subprocess.run(whole, env=environ, cwd=self._folder, capture_output=True, text=True)

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


def _java(folder: Path) -> list[str]:
    return ["-Xmx256m", "-XX:+UseSerialGC", "-cp", f"{folder / 'conf'}:{jars.HADOOP}/*"]
