"""Measure the pages over many tables, on PostgreSQL or SQLite.

    python3 -m benchmarks.pages [--tables 10000] [--nights 50] [--database postgres|sqlite] [--requests 100]

It prints the seconds of the first page after the start of the API server, of pages once everything is read (median and
95th percentile), of the pass that reads everything, how much the API server has grown, and for how long its event loop
was held at most: a request that does nothing is sent all the time beside the others.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.request import urlopen

from demo.services import airflow_components, environments, paths, processes
from demo.services.ports import HOST, free_port
from demo.services.postgres import Postgres, binaries

ENV = "airflow-3.3"
PATIENCE = 180
PAGES = (
    "/lakekeeper/",
    "/lakekeeper/?sort=name&page=17",
    "/lakekeeper/?name=table_01&sort=average",
    "/lakekeeper/?code=METADATA_NOT_KEPT",
    "/lakekeeper/?database=db07&sort=held",
    "/lakekeeper/table?server=default&name=db07.table_00407",
)
#: A route of Airflow's that its event loop answers by itself.
_NOTHING = "/api/v2/version"


class Server:
    """An API server with the pages."""

    def __init__(self, home: Path, environ: dict[str, str]) -> None:
        self.port = free_port()
        self._url = f"http://{HOST}:{self.port}"
        arguments = airflow_components.components(self.port)["api-server"]
        command = [airflow_components.program(ENV), *arguments]
        own = {**environ, **airflow_components.server_environ(self._url)}
        self.process = processes.spawn(command, log=home / "api-server.log", cwd=home, env=own)
        self._token = ""

    def wait(self) -> None:
        """Wait until it answers, and log in."""
        until = time.monotonic() + PATIENCE
        while True:
            try:
                with urlopen(f"{self._url}/auth/token", timeout=5) as answer:
                    self._token = json.load(answer)["access_token"]
                return
            except OSError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.2)

    def get(self, path: str) -> tuple[float, str]:
        """Return the seconds of a request, and its page."""
        connection = http.client.HTTPConnection(HOST, self.port, timeout=PATIENCE)
        began = time.perf_counter()
        connection.request("GET", path, headers={"Authorization": f"Bearer {self._token}"})
        answer = connection.getresponse()
        page = answer.read().decode()
        seconds = time.perf_counter() - began
        if answer.status != 200:
            raise RuntimeError(f"{path}: {answer.status} {page[:200]}")
        return seconds, page

    def memory(self) -> float:
        """Return its memory in MB (proc(5), Pss: shared pages count in part), with that of its children."""
        return sum(map(_memory, _family(self.process.pid))) / 1024


def _family(pid: int) -> list[int]:
    listed = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(each for child in listed for each in _family(int(child)))]


def _memory(pid: int) -> int:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


class Pulse(threading.Thread):
    """Asks for nothing again and again, and keeps the slowest answer: so long the event loop was held."""

    def __init__(self, server: Server) -> None:
        super().__init__(daemon=True)
        self._server, self._ended, self.slowest = server, threading.Event(), 0.0

    def run(self) -> None:
        while not self._ended.wait(0.02):
            self.slowest = max(self.slowest, self._server.get(_NOTHING)[0])

    def stop(self) -> float:
        self._ended.set()
        self.join()
        return self.slowest


@contextmanager
def database(kind: str, home: Path) -> Iterator[str]:
    if kind == "sqlite":
        yield f"sqlite:///{home}/airflow.db"
        return
    with Postgres(home / "postgres", binaries(ENV)) as postgres:
        yield postgres.sqlalchemy_url


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure the pages over many tables.")
    parser.add_argument("--tables", type=int, default=10_000)
    parser.add_argument("--nights", type=int, default=50)
    parser.add_argument("--database", choices=("postgres", "sqlite"), default="postgres")
    parser.add_argument("--requests", type=int, default=100)
    asked = parser.parse_args()
    environments.ensure([ENV])
    with ExitStack() as stack:
        home = Path(stack.enter_context(TemporaryDirectory(prefix="lakekeeper-pages-")))
        url = stack.enter_context(database(asked.database, home))
        environ = _environ(home, url)
        for words in (
            ("-m", "airflow", "db", "migrate"),
            ("-m", "benchmarks.pages.make_events", str(asked.tables), str(asked.nights)),
        ):
            began = time.monotonic()
            _run(words, environ, home)
            print(f"{' '.join(words[1:3])}: {time.monotonic() - began:.0f} s", file=sys.stderr)
        server = Server(home, environ)
        stack.callback(processes.stop, server.process)
        server.wait()
        print(json.dumps(measure(server, asked.requests), indent=1))
    return 0


def measure(server: Server, requests: int) -> dict[str, float]:
    """Return what is printed, in seconds and MB."""
    server.get("/api/v2/dags")
    before = server.memory()
    pulse = Pulse(server)
    pulse.start()
    began = time.perf_counter()
    first, _ = server.get(PAGES[0])
    while "history is being read" in server.get(PAGES[0])[1]:
        time.sleep(0.5)
    complete = time.perf_counter() - began
    while_reading = pulse.stop()
    for path in PAGES:
        server.get(path)
    pulse = Pulse(server)
    pulse.start()
    times = sorted(server.get(PAGES[number % len(PAGES)])[0] for number in range(requests))
    return {
        "first page": round(first, 3),
        "everything read after": round(complete, 1),
        "event loop held while reading, at most": round(while_reading, 3),
        "warm, median": round(statistics.median(times), 3),
        "warm, 95th percentile": round(times[int(0.95 * len(times))], 3),
        "event loop held by pages, at most": round(pulse.stop(), 3),
        "grown by MB": round(server.memory() - before, 1),
    }


def _environ(home: Path, url: str) -> dict[str, str]:
    return {
        **os.environ,
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__DAGS_FOLDER": str(home / "dags"),
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_ALL_ADMINS": "True",
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": url,
        "AIRFLOW__API__SECRET_KEY": "only-for-this-benchmark",
        "AIRFLOW__API_AUTH__JWT_SECRET": "only-for-this-benchmark" + 64 * "0",
        "PYTHONPATH": str(paths.ROOT),
    }


def _run(words: tuple[str, ...], environ: dict[str, str], home: Path) -> None:
    command = [str(paths.env_python(ENV)), *words]
    done = subprocess.run(command, env=environ, cwd=home, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)}: {(done.stdout + done.stderr)[-2000:]}")


if __name__ == "__main__":
    sys.exit(main())
