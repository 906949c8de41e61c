"""Run a Hive Metastore on a free port, from the jars that PySpark ships: no Hive installation is needed.

    with Metastore(Path(".scratch/metastore")) as metastore:
        print(metastore.uri)

The database is Derby in the given folder; a metastore that is started there again has the same tables.
"""

from __future__ import annotations

import atexit
import os
import socket
import struct
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from xml.sax.saxutils import escape

from demo.services import metastore_template, paths
from demo.services.java import java_command
from demo.services.ports import HOST, free_port
from demo.services.processes import has_ended, kill, spawn, stop, tail

START_LIMIT = 120
SERVER = Path(__file__).with_name("LoopbackMetastore.java")

LOG4J = """\
status = error
appender.out.type = Console
appender.out.name = out
appender.out.target = SYSTEM_ERR
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = %d{HH:mm:ss} %p %c{1}: %m%n%ex
rootLogger.level = warn
rootLogger.appenderRef.out.ref = out
logger.datanucleus.name = DataNucleus
logger.datanucleus.level = error
logger.objectstore.name = org.apache.hadoop.hive.metastore.ObjectStore
logger.objectstore.level = error
logger.native.name = org.apache.hadoop.util.NativeCodeLoader
logger.native.level = error
logger.thrift.name = org.apache.thrift.server
logger.thrift.level = off
"""


class Metastore:
    """One metastore process, its folder and its address.

    Arguments:
        port: a free one by default.
        jars: those of another release of Hive.
        settings: additions to hive-site.xml, which win over `defaults`.
        environ: additions to the environment variables of the process.
    """

    def __init__(
        self,
        directory: Path,
        *,
        port: int | None = None,
        jars: Path | None = None,
        settings: Mapping[str, str] | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self.directory = directory.resolve()
        self.port = port or free_port()
        self.warehouse = self.directory / "warehouse"
        self._jars = jars
        self._settings = settings or {}
        self._environ = environ or {}
        self.log = self.directory / "metastore.log"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def uri(self) -> str:
        return f"thrift://{HOST}:{self.port}"

    def start(self) -> Metastore:
        self.warehouse.mkdir(parents=True, exist_ok=True)
        self._write_configuration()
        if self._jars is None:
            metastore_template.copy_to(self.directory, _spark_jars(), self._settings, self._template)
        self._process = spawn(self._command(), log=self.log, cwd=self.directory, env=self._process_environ())
        atexit.register(self.stop)
        self._wait()
        return self

    def kill(self) -> None:
        """Send SIGKILL, so that no handler runs. `start` starts it again on the same port and data."""
        if self._process is not None:
            kill(self._process)
            self.stop()

    def stop(self) -> None:
        atexit.unregister(self.stop)
        process, self._process = self._process, None
        if process is not None:
            stop(process)

    def __enter__(self) -> Metastore:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _process_environ(self) -> dict[str, str]:
        """Return the environment variables; the given ones win also after a restart, whatever os.environ has then."""
        return {**os.environ, **self._environ}

    def _write_configuration(self) -> None:
        conf = self.directory / "conf"
        conf.mkdir(exist_ok=True)
        (conf / "hive-site.xml").write_text(hive_site({**self.defaults(), **self._settings}))
        (conf / "metastore-log4j2.properties").write_text(LOG4J)

    def defaults(self) -> dict[str, str]:
        """Return the settings of hive-site.xml where the caller gave no others."""
        return {
            "javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={self.directory}/derby;create=true",
            "datanucleus.schema.autoCreateAll": "true",
            "hive.metastore.schema.verification": "false",
            "hive.metastore.warehouse.dir": self.warehouse.as_uri(),
            # Its asynchronous logger needs a library that Spark does not ship.
            "hive.async.log.enabled": "false",
        }

    def _command(self) -> list[str]:
        return self._java(SERVER, HOST, str(self.port))

    def _template(self, directory: Path) -> list[str]:
        """Return the command that creates the tables, in a directory where no metastore runs."""
        template = Metastore(directory, port=self.port, settings=self._settings)
        template._write_configuration()
        return template._java(metastore_template.SCHEMA, *metastore_template.classes(_spark_jars()))

    def _java(self, program: Path, *arguments: str) -> list[str]:
        jars = self._jars or _spark_jars()
        conf = self.directory / "conf"
        return [
            java_command() or "java",
            "-Xmx512m",
            # The process lives for minutes, too short for the optimizing compiler to pay off.
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            f"-Dlog4j2.configurationFile={conf / 'metastore-log4j2.properties'}",
            f"-Dderby.stream.error.file={self.directory / 'derby.log'}",
            # Scratch data may be lost in a power cut; waiting for the disk would slow down every test.
            "-Dderby.system.durability=test",
            "-cp",
            ":".join([str(conf), *compiler(), f"{jars}/*"]),
            # A Java runtime (JRE) has no compiler; Spark ships this one.
            "org.codehaus.janino.SimpleCompiler",
            str(program),
            program.stem,
            *arguments,
        ]

    def _wait(self) -> None:
        deadline = time.monotonic() + START_LIMIT
        while not answers(self.port):
            if self._process is None or has_ended(self._process) or time.monotonic() > deadline:
                self.stop()
                raise RuntimeError(f"the Hive Metastore did not start; see {self.log}:\n{tail(self.log)}")
            time.sleep(0.1)


def _spark_jars() -> Path:
    return paths.spark_home(paths.DEFAULT_SPARK) / "jars"


def compiler() -> list[str]:
    """Return the jars of Spark's compiler of Java. That of an older Hive does not run on every Java."""
    return [
        str(jar) for name in ("janino", "commons-compiler") for jar in _spark_jars().glob(f"{name}-*.jar")
    ]


def hive_site(settings: dict[str, str]) -> str:
    """Return a configuration file of Hive or Hadoop."""
    rows = (
        f"  <property><name>{escape(name)}</name><value>{escape(value)}</value></property>\n"
        for name, value in settings.items()
    )
    return f"<configuration>\n{''.join(rows)}</configuration>\n"


def answers(port: int) -> bool:
    """Return whether a metastore replies on the port. An open port is not enough: it may still create its schema."""
    try:
        with socket.create_connection((HOST, port), timeout=10) as connection:
            connection.sendall(_call("get_all_databases"))
            return _is_reply(connection.recv(8))
    except OSError:
        return False


def _call(method: str) -> bytes:
    """Return a Thrift call without arguments, in the strict binary protocol."""
    version_and_kind, sequence, no_arguments = 0x80010001, 0, b"\x00"
    name = method.encode()
    return struct.pack(">II", version_and_kind, len(name)) + name + struct.pack(">I", sequence) + no_arguments


def _is_reply(start: bytes) -> bool:
    reply = b"\x80\x01\x00\x02"
    return start.startswith(reply)
