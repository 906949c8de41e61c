"""One server of the cluster: a process on loopback, with its log, ended when we end."""

from __future__ import annotations

import atexit
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from demo.services.java import java_command
from demo.services.ports import HOST
from demo.services.processes import has_ended, kill, own_environ, spawn, stop, tail

START_LIMIT = 90
#: What Hadoop's libraries still reach into, and Java 17 has closed.
OPENED = ("java.base/java.lang", "java.base/java.util", "java.base/java.net", "java.base/java.nio")


class NotStarted(Exception):
    """A server died, or took too long; the message has the end of its log."""


@dataclass
class Server:
    """`ready` tells whether it serves yet; `command` is what follows `java`, unless it is none of Java's."""

    name: str
    command: Sequence[str]
    folder: Path
    ready: Callable[[], bool]
    environ: Mapping[str, str] = field(default_factory=dict)
    java: bool = True
    _process: subprocess.Popen[bytes] | None = None

    @property
    def log(self) -> Path:
        return self.folder / f"{self.name}.log"

    def start(self, *, wait: bool = True) -> None:
        command = [java_command() or "java", *opened(), *self.command] if self.java else self.command
        environ = {**own_environ(), **self.environ}
        self._process = spawn(command, log=self.log, cwd=self.folder, env=environ)
        atexit.register(self.stop)
        if wait:
            self.wait()

    def wait(self) -> None:
        deadline = time.monotonic() + START_LIMIT
        while not self.ready():
            if not self.runs() or time.monotonic() > deadline:
                self.stop()
                raise NotStarted(f"{self.name} did not start; see {self.log}:\n{tail(self.log)}")
            time.sleep(0.1)

    def runs(self) -> bool:
        return self._process is not None and not has_ended(self._process)

    def kill(self) -> None:
        """As a power cut would: no handler runs."""
        if self._process is not None:
            kill(self._process)
            self.stop()

    def stop(self) -> None:
        atexit.unregister(self.stop)
        process, self._process = self._process, None
        if process is not None:
            stop(process)


def listens(port: int) -> bool:
    """Is anybody there? Enough for a server that opens its port last."""
    try:
        with socket.create_connection((HOST, port), timeout=1):
            return True
    except OSError:
        return False


def opened() -> list[str]:
    return [f"--add-opens={package}=ALL-UNNAMED" for package in OPENED]
