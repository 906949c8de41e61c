"""A HiveServer2 embedded in a process of its own, with one session that stays open: statements go in, rows come out."""

from __future__ import annotations

import atexit
import os
import socket
import struct
import subprocess
import time
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from demo.services.metastore import LOG4J, hive_site
from demo.services.ports import HOST, free_port
from demo.services.processes import has_ended, own_environ, spawn, stop, tail
from tests.engines import jars, java_programs

START_LIMIT = 600
#: The longest that a statement may take.
LIMIT = 900
#: Values of a row as text; None is a null.
Row = tuple[str | None, ...]
#: In winter and in summer it is not UTC, in which the jobs run.
ZONE = "Europe/Paris"
_SERIALIZER = "org/apache/hadoop/hive/ql/exec/SerializationUtilities$ArrayListSubListSerializer.class"
#: Fields of a JDK class by name, as the class file has them: where Java 8 calls them so, Java 17 has others.
_FIELDS = {b"\x01\x00\x06parent": b"\x01\x00\x04root", b"\x01\x00\x0cparentOffset": b"\x01\x00\x06offset"}
#: A filter on a plain scan is no MapReduce job, and it skips what the statistics of the files exclude.
SESSION = (
    "SET hive.fetch.task.conversion=more",
    "SET hive.fetch.task.conversion.threshold=-1",
    "SET hive.optimize.index.filter=true",
    "SET hive.compute.query.using.stats=false",
    "SET hive.query.results.cache.enabled=false",
    "SET hive.stats.autogather=false",
    "SET hive.merge.mapfiles=false",
    "SET hive.exec.dynamic.partition.mode=nonstrict",
)


class QueryFailed(Exception):
    """A statement failed; the message is the engine's."""


class HiveServer:
    """One process, its folder and its session.

    Arguments:
        name: the libraries, `hive3` or `hive4`.
        metastore: the address of a metastore; empty for one of its own, in this process.
    """

    def __init__(self, name: str, folder: Path, metastore: str = "") -> None:
        self._name, self._folder, self._metastore = name, folder.resolve(), metastore
        self.log = self._folder / "hive.log"
        self._port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: socket.socket | None = None
        self._input: BinaryIO | None = None

    def start(self) -> HiveServer:
        """Start the process. It is ready when `connect` returns."""
        conf = self._folder / "conf"
        conf.mkdir(parents=True, exist_ok=True)
        for file in ("hive-site.xml", "core-site.xml"):
            (conf / file).write_text(hive_site(self._settings()))
        for file in ("hive-log4j2.properties", "log4j2.properties"):
            (conf / file).write_text(LOG4J)
        self._process = spawn(self._command(conf), log=self.log, cwd=self._folder, env=own_environ())
        atexit.register(self.stop)
        return self

    def connect(self) -> HiveServer:
        """Wait for the session, and configure it."""
        if self._connection is not None:
            return self
        deadline = time.monotonic() + START_LIMIT
        while self._connection is None:
            try:
                self._connection = socket.create_connection((HOST, self._port), timeout=LIMIT)
            except OSError:
                self._still_starting(deadline)
        self._input = self._connection.makefile("rb")
        for statement in SESSION:
            self.ask(statement)
        return self

    def ask(self, statement: str) -> list[Row]:
        """Return the rows of a statement; none if it has no result.

        Raises:
            QueryFailed: Hive says that it failed.
        """
        if self._connection is None:
            raise RuntimeError("the session is not open: call connect")
        text = statement.encode()
        self._connection.sendall(struct.pack(">i", len(text)) + text)
        rows: list[Row] = []
        while (columns := self._number()) > 0:
            rows.append(tuple(self._text() for _ in range(columns)))
        if columns < 0:
            raise QueryFailed(self._text())
        return rows

    def stop(self) -> None:
        """End the session and the process."""
        atexit.unregister(self.stop)
        if self._connection is not None:
            self._connection.close()
        process, self._process, self._connection = self._process, None, None
        if process is not None:
            stop(process)

    def _still_starting(self, deadline: float) -> None:
        if self._process is None or has_ended(self._process) or time.monotonic() > deadline:
            self.stop()
            raise RuntimeError(f"{self._name} did not start; see {self.log}:\n{tail(self.log)}")
        time.sleep(0.2)

    def _number(self) -> int:
        (number,) = struct.unpack(">i", self._bytes(4))
        return int(number)

    def _text(self) -> str | None:
        length = self._number()
        return None if length < 0 else self._bytes(length).decode()

    def _bytes(self, length: int) -> bytes:
        found = self._input.read(length) if self._input else b""
        if len(found) < length:
            raise RuntimeError(f"{self._name} has ended; see {self.log}:\n{tail(self.log)}")
        return found

    def _command(self, conf: Path) -> list[str]:
        home = jars.folder(self._name)
        places = [conf, patched(home, self._folder / "patched"), *sorted(home.glob("*.jar"))]
        options = [
            "-Xmx1g",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            f"-Duser.timezone={ZONE}",
            f"-Dlog4j2.configurationFile={conf / 'hive-log4j2.properties'}",
            f"-Dderby.stream.error.file={self._folder / 'derby.log'}",
            "-Dderby.system.durability=test",
        ]
        arguments = [str(self._port), os.pathsep.join(map(str, places))]
        return java_programs.command("HiveStatements", arguments, options=options)

    def _settings(self) -> dict[str, str]:
        return {**_embedded(self._folder), **_metastore(self._folder, self._metastore)}


def _embedded(folder: Path) -> Mapping[str, str]:
    """MapReduce in this process, on the local disk; no transactions, and nothing beside the queries."""
    return {
        "fs.defaultFS": "file:///",
        "hadoop.tmp.dir": str(folder / "hadoop"),
        "mapreduce.framework.name": "local",
        "mapreduce.jobtracker.address": "local",
        "hive.execution.engine": "mr",
        "hive.exec.mode.local.auto": "true",
        "hive.exec.submit.local.task.via.child": "false",
        "hive.exec.scratchdir": str(folder / "scratch"),
        "hive.exec.local.scratchdir": str(folder / "local-scratch"),
        "hive.downloaded.resources.dir": str(folder / "resources"),
        "hive.querylog.location": str(folder / "querylog"),
        "hive.async.log.enabled": "false",
        "hive.create.as.acid": "false",
        "hive.create.as.insert.only": "false",
        "hive.strict.managed.tables": "false",
        "hive.support.concurrency": "false",
        "hive.notification.event.poll.interval": "0",
        "hive.server2.authentication": "NONE",
        "hive.server2.enable.doAs": "false",
        "hive.server2.logging.operation.enabled": "false",
        "hive.server2.materializedviews.registry.impl": "DUMMY",
        "hive.server2.metrics.enabled": "false",
    }


def _metastore(folder: Path, uri: str) -> Mapping[str, str]:
    """The address of a metastore, or the settings of one in this process."""
    common = {
        "hive.metastore.warehouse.dir": (folder / "warehouse").as_uri(),
        "hive.metastore.event.db.notification.api.auth": "false",
    }
    if uri:
        return {**common, "hive.metastore.uris": uri}
    return {
        **common,
        "javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={folder / 'derby'};create=true",
        "datanucleus.schema.autoCreateAll": "true",
        "hive.metastore.schema.verification": "false",
    }


def patched(home: Path, folder: Path) -> Path:
    """Return a folder with the classes of Hive that are others on Java 17; it stands before the jars.

    Hive 3.1 serializes a part of an ArrayList by private fields of Java 8: the list it is a part of, and where it
    begins. Java 17 names them otherwise (HIVE-22097). A class file refers to names by their number, so that another
    name changes nothing else.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if found := list(home.glob("hive-exec-3.1.*.jar")):
        target = folder / _SERIALIZER
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(_renamed(zipfile.ZipFile(found[0]).read(_SERIALIZER), _FIELDS))
    return folder


def _renamed(code: bytes, names: Mapping[bytes, bytes]) -> bytes:
    for old, new in names.items():
        if code.count(old) != 1:
            raise RuntimeError(f"{_SERIALIZER} has {old!r} {code.count(old)} times; once was expected")
        code = code.replace(old, new)
    return code


def ask_all(server: HiveServer, statements: Sequence[str]) -> None:
    """Run statements that have no result. Raises QueryFailed at the first one that fails, with its text."""
    for statement in statements:
        try:
            server.ask(statement)
        except QueryFailed as error:
            raise QueryFailed(f"{statement}: {error}") from None
