"""Real Spark drivers as seen from outside: started ahead of time, commanded, stopped in mid-air, killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from demo.services import paths
from demo.services.processes import (
    has_ended,
    kill_session,
    session_members,
    spawn,
    start_time,
    state_of,
    stop,
    tail,
)

SCRIPT = Path(__file__).with_name("driver.py")
START_LIMIT = 180
WORK_LIMIT = 240
DEATH_LIMIT = 30


class DriverError(Exception):
    """A driver did not do what it must, or not in time."""


class Driver:
    """One spark-submit, its JVM and its Python: a session of processes of its own."""

    def __init__(self, folder: Path, environ: Mapping[str, str]) -> None:
        folder.mkdir(parents=True)
        self.folder = folder
        self.log = folder / "driver.log"
        self._commands = 0
        self._members: dict[int, int] = {}
        command = ["spark-submit", "--master", "local[1]", SCRIPT, folder]
        self.process: subprocess.Popen[bytes] = spawn(command, log=self.log, cwd=paths.ROOT, env=environ)

    def ready(self) -> Driver:
        self.wait(lambda: (self.folder / "ready").exists(), START_LIMIT, "it did not start")
        found = {pid: start_time(pid) for pid in session_members(self.process)}
        self._members = {pid: started for pid, started in found.items() if started is not None}
        if len(self._members) < 2:
            raise DriverError(f"expected a JVM and a Python, found the processes {sorted(self._members)}")
        return self

    def send(self, **command: Any) -> None:
        self._commands += 1
        staged = self.folder / "command.tmp"
        staged.write_text(json.dumps(command))
        staged.replace(self.folder / f"{self._commands:06d}.command.json")

    def job(self, verb: str, words: Sequence[str], *, last: bool = False, pause: int | None = None) -> None:
        """`pause`: the job stops itself when it has done so many renames from or to live directories."""
        self.send(verb=verb, words=list(words), last=last, pause=pause)

    def sql(self, *statements: str) -> list[list[list[Any]]]:
        self.send(sql=statements)
        rows: list[list[list[Any]]] = self.answer()["rows"]
        return rows

    @property
    def answered(self) -> bool:
        return self._answer.exists()

    @property
    def _answer(self) -> Path:
        return self.folder / f"{self._commands:06d}.answer.json"

    def answer(self, limit: float = WORK_LIMIT) -> dict[str, Any]:
        self.wait(lambda: self.answered, limit, "it did not answer")
        return dict(json.loads(self._answer.read_text()))

    def wait(self, done: Callable[[], bool], limit: float, otherwise: str) -> None:
        deadline = time.monotonic() + limit
        while not done():
            if has_ended(self.process) or time.monotonic() > deadline:
                raise DriverError(f"{self.folder.name}: {otherwise}; see {self.log}:\n{tail(self.log)}")
            time.sleep(0.01)

    def wait_until_paused(self) -> None:
        """Returns when the JVM and the Python have both stopped, as a job that is to pause stops them."""
        self.wait(self._is_paused, WORK_LIMIT, "it was to stop itself at a rename, and did not")

    def _alive(self) -> list[int]:
        return [pid for pid, started in self._members.items() if start_time(pid) == started]

    def _is_paused(self) -> bool:
        alive = self._alive()
        return bool(alive) and all(state_of(pid) == "T" for pid in alive)

    def resume(self) -> None:
        (self.folder / "resume").touch()
        os.killpg(self.process.pid, signal.SIGCONT)

    def kill(self) -> None:
        """kill -9 of all at once; returns when neither the JVM nor the Python is there any more."""
        os.killpg(self.process.pid, signal.SIGKILL)
        kill_session(self.process)
        self.process.wait()
        deadline = time.monotonic() + DEATH_LIMIT
        while alive := self._alive():
            if time.monotonic() > deadline:
                raise DriverError(f"processes {alive} survived their kill")
            time.sleep(0.002)

    def end(self, limit: float = WORK_LIMIT) -> int:
        """Waits for the process itself to end, and returns its exit code."""
        deadline = time.monotonic() + limit
        while not has_ended(self.process):
            if time.monotonic() > deadline:
                raise DriverError(f"{self.folder.name} does not end; see {self.log}:\n{tail(self.log)}")
            time.sleep(0.01)
        return self.process.wait()

    def close(self) -> None:
        """Whatever state it is in: a stopped process does not hear a polite request."""
        if self.process.returncode is None:
            self.resume()
            stop(self.process, timeout=5)


class Garage:
    """Starts drivers ahead of time, one at a time, and ends them all."""

    def __init__(self, folder: Path, environ: Mapping[str, str]) -> None:
        self._folder, self._environ = folder, environ
        self._all: list[Driver] = []
        self._next: Driver | None = None

    def start(self) -> Driver:
        driver = Driver(self._folder / f"driver-{len(self._all):04d}", self._environ)
        self._all.append(driver)
        return driver

    def warm(self) -> None:
        self._next = self._next or self.start()

    def take(self) -> Driver:
        self.warm()
        driver, self._next = self._next, None
        assert driver is not None
        return driver.ready()

    def close(self) -> None:
        for driver in self._all:
            driver.close()
