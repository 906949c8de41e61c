"""A Hive Metastore that asks for Kerberos tickets."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from demo.services.metastore import LOG4J, Metastore, hive_site
from demo.services.ports import free_port
from tests.cluster import client, jars
from tests.cluster.server import Server, listens


class SecureMetastore:
    """Its own main class, which listens on every interface: who has no ticket is turned away on all of them."""

    def __init__(
        self, folder: Path, hadoop: Path, settings: Mapping[str, str], environ: Mapping[str, str]
    ) -> None:
        self.folder = folder
        self.port = free_port()
        self.uri = f"thrift://localhost:{self.port}"
        self._hadoop = hadoop
        self._settings = settings
        self._conf = folder / "conf"
        self._server = Server("metastore", self._command(), folder, partial(listens, self.port), environ)

    def start(self) -> None:
        self._conf.mkdir(parents=True, exist_ok=True)
        # The settings of an open metastore hold for this one too.
        defaults = Metastore(self.folder, port=self.port).defaults()
        (self._conf / "hive-site.xml").write_text(hive_site({**defaults, **self._settings}))
        (self._conf / "metastore-log4j2.properties").write_text(LOG4J)
        self._server.start()

    def stop(self) -> None:
        self._server.stop()

    def kill(self) -> None:
        self._server.kill()

    def _command(self) -> list[str]:
        return [
            "-Xmx512m",
            *client.JVM,
            f"-Dlog4j2.configurationFile={self._conf / 'metastore-log4j2.properties'}",
            f"-Dderby.stream.error.file={self.folder / 'derby.log'}",
            "-Dderby.system.durability=test",
            "-cp",
            f"{self._conf}:{self._hadoop}:{jars.HIVE}/*",
            "org.apache.hadoop.hive.metastore.HiveMetaStore",
            "-p",
            str(self.port),
        ]
