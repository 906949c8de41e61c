"""Trino from its jars, on loopback: its catalog is a Hive Metastore's, and its files are on the local disk."""

from __future__ import annotations

import atexit
import json
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from demo.services.ports import HOST, free_port
from demo.services.processes import has_ended, own_environ, spawn, stop, tail
from tests.engines import jars, java_programs
from tests.engines.hive import QueryFailed

VERSION = "368"
START_LIMIT = 300
#: The longest that a request may take; a query is a chain of them.
LIMIT = 120
_NO_NODES = "No nodes available to run query"
_HEADERS = {
    "X-Trino-User": "tests",
    "X-Trino-Catalog": "hive",
    "X-Trino-Time-Zone": "UTC",
    # Without it, timestamps are sent in milliseconds.
    "X-Trino-Client-Capabilities": "PARAMETRIC_DATETIME",
}


class Trino:
    """One process with its folder, which reads the tables of a metastore."""

    def __init__(self, folder: Path, metastore: str) -> None:
        self._folder, self._metastore = folder.resolve(), metastore
        self.log = self._folder / "trino.log"
        self._port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> Trino:
        """Start the process. It is ready when `connect` returns."""
        self._configure()
        self._process = spawn(self._command(), log=self.log, cwd=self._folder, env=own_environ())
        atexit.register(self.stop)
        return self

    def connect(self) -> Trino:
        """Wait until it answers queries."""
        deadline = time.monotonic() + START_LIMIT
        while not self._is_ready():
            if self._process is None or has_ended(self._process) or time.monotonic() > deadline:
                self.stop()
                raise RuntimeError(f"Trino did not start; see {self.log}:\n{tail(self.log)}")
            time.sleep(0.5)
        return self

    def ask(self, statement: str) -> list[list[Any]]:
        """Return the rows of a statement, with the values as Trino's protocol has them.

        Raises:
            QueryFailed: Trino says that it failed.
        """
        deadline = time.monotonic() + START_LIMIT
        while True:
            try:
                return self._rows(statement)
            except QueryFailed as error:
                # It answers before it has heard of its own catalog.
                if _NO_NODES not in str(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.5)

    def _rows(self, statement: str) -> list[list[Any]]:
        answer = self._request(f"{self._address}/v1/statement", statement.encode())
        rows: list[list[Any]] = []
        while True:
            if "error" in answer:
                raise QueryFailed(_described(answer["error"]))
            rows += answer.get("data") or []
            if "nextUri" not in answer:
                return rows
            answer = self._request(answer["nextUri"])

    def stop(self) -> None:
        """End the process."""
        atexit.unregister(self.stop)
        process, self._process = self._process, None
        if process is not None:
            stop(process)

    @property
    def _address(self) -> str:
        return f"http://{HOST}:{self._port}"

    def _is_ready(self) -> bool:
        try:
            return self._request(f"{self._address}/v1/info").get("starting") is False
        except (OSError, ValueError):
            return False

    def _request(self, address: str, body: bytes | None = None) -> dict[str, Any]:
        request = urllib.request.Request(address, body, _HEADERS)
        while True:
            try:
                with urllib.request.urlopen(request, timeout=LIMIT) as answer:
                    found: dict[str, Any] = json.load(answer)
                    return found
            except urllib.error.HTTPError as error:
                # The protocol says: ask again.
                if error.code != 503 or self._process is None:
                    raise
                time.sleep(0.1)

    def _configure(self) -> None:
        etc, catalog = self._folder / "etc", self._folder / "etc/catalog"
        catalog.mkdir(parents=True, exist_ok=True)
        (etc / "config.properties").write_text(_properties(self._server_settings()))
        (etc / "log.properties").write_text("io.trino=WARN\n")
        (catalog / "hive.properties").write_text(_properties(self._catalog()))
        plugin = self._folder / "plugin/hive"
        plugin.mkdir(parents=True, exist_ok=True)
        for jar in jars.folder("trino-hive").glob("*.jar"):
            (plugin / jar.name).symlink_to(jar)
        # Trino's own build of the plugin has this file; the jar in Maven repositories does not.
        services = plugin / "services/META-INF/services"
        services.mkdir(parents=True, exist_ok=True)
        (services / "io.trino.spi.Plugin").write_text("io.trino.plugin.hive.HivePlugin\n")

    def _server_settings(self) -> Mapping[str, str]:
        return {
            "coordinator": "true",
            "node-scheduler.include-coordinator": "true",
            "http-server.http.port": str(self._port),
            "discovery.uri": self._address,
            "query.max-memory": "400MB",
            "query.max-memory-per-node": "400MB",
            "plugin.dir": str(self._folder / "plugin"),
        }

    def _catalog(self) -> Mapping[str, str]:
        return {
            "connector.name": "hive",
            "hive.metastore.uri": self._metastore,
            "hive.timestamp-precision": "NANOSECONDS",
        }

    def _command(self) -> list[str]:
        node = {
            "node.environment": "test",
            "node.id": "one",
            "node.data-dir": str(self._folder / "data"),
            "node.bind-ip": HOST,
            "node.internal-address": HOST,
            "config": str(self._folder / "etc/config.properties"),
            "log.levels-file": str(self._folder / "etc/log.properties"),
            "user.timezone": "UTC",
            "jdk.attach.allowAttachSelf": "true",
        }
        # Trino asks for this garbage collector.
        options = ["-Xmx1536m", "-XX:+UseG1GC", "-XX:+UnlockDiagnosticVMOptions"]
        options += [f"-D{name}={value}" for name, value in node.items()]
        path = [f"{jars.folder('trino')}/*"]
        return java_programs.command("TrinoServer", [VERSION], options=options, path=path)


def _properties(settings: Mapping[str, str]) -> str:
    return "".join(f"{name}={value}\n" for name, value in settings.items())


def _described(error: Mapping[str, Any]) -> str:
    failure = error.get("failureInfo") or {}
    cause = failure.get("cause") or {}
    return " | ".join(
        str(text) for text in (error.get("message"), failure.get("type"), cause.get("message")) if text
    )
