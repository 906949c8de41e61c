"""A ResourceManager and a NodeManager."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from tests.cluster import client, jars
from tests.cluster.server import Server
from tests.cluster.sites import NAME, Ports

_RESOURCEMANAGER = Path(__file__).with_name("PatchedResourceManager.java")
_COMPILER = "org.codehaus.janino.SimpleCompiler"
_NODEMANAGER = "org.apache.hadoop.yarn.server.nodemanager.NodeManager"


class Yarn:
    """Of one folder, whose `conf` says where HDFS is."""

    def __init__(self, folder: Path, ports: Ports, environ: Mapping[str, str]) -> None:
        self._address = f"http://{NAME}:{ports.resourcemanager_http}"
        self._folder = folder
        self._environ = environ

    @cached_property
    def resourcemanager(self) -> Server:
        compiled = (_COMPILER, str(_RESOURCEMANAGER), _RESOURCEMANAGER.stem)
        command = [*client.options(self._folder, *jars.compiler()), *compiled]
        return Server("resourcemanager", command, self._folder, self._serves, self._environ)

    @cached_property
    def nodemanager(self) -> Server:
        command = [*client.options(self._folder), _NODEMANAGER]
        return Server("nodemanager", command, self._folder, self._is_whole, self._environ)

    def start(self, *, wait: bool = True) -> None:
        self.resourcemanager.start(wait=False)
        self.nodemanager.start(wait=False)
        if wait:
            self.wait()

    def wait(self) -> None:
        self.resourcemanager.wait()
        self.nodemanager.wait()

    def stop(self) -> None:
        self.nodemanager.stop()
        self.resourcemanager.stop()

    def applications(self) -> list[dict[str, Any]]:
        """What ran, as the ResourceManager's own page has it: id, user, name, state, finalStatus and more."""
        found = (self._ask("apps") or {}).get("apps") or {}
        return list(found.get("app", []))

    def _serves(self) -> bool:
        return self._ask("metrics") is not None

    def _is_whole(self) -> bool:
        metrics = (self._ask("metrics") or {}).get("clusterMetrics") or {}
        return metrics.get("activeNodes") == 1

    def _ask(self, what: str) -> dict[str, Any] | None:
        try:
            with urllib.request.urlopen(f"{self._address}/ws/v1/cluster/{what}", timeout=5) as answer:
                found: dict[str, Any] = json.load(answer)
        except (OSError, ValueError):
            return None
        return found
