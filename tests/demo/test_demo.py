"""`make demo`, from nothing to its table; then `make up`, and a rollback as a person does it in the UI."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.demo import serve
from tests.demo.place import DAG, Place
from tests.demo.tables import TABLES
from tests.harness import paths
from tests.harness.metastore import free_port
from tests.harness.processes import spawn, stop

pytestmark = pytest.mark.live
PATIENCE = 300  # seconds; a hung server must not hang the tests
File = tuple[str, int, int]


@pytest.fixture(scope="module")
def demo(tmp_path_factory) -> tuple[Place, subprocess.CompletedProcess[str]]:
    place = Place(tmp_path_factory.mktemp("demo") / "demo")
    command = [_python(), "-m", "tests.demo.run", "--scratch", place.root]
    return place, subprocess.run(command, cwd=paths.ROOT, capture_output=True, text=True)


def test_the_demo_keeps_its_promises(demo):
    place, done = demo
    assert done.returncode == 0, done.stdout + done.stderr
    for files in ("500 -> 1", "600 -> 3", "900 -> 9"):
        assert files in done.stdout
    assert not list(_processes_below(place.root.parent))


def test_a_cleared_rollback_task_restores_every_file(demo):
    """Names, sizes and times, with rows that were added since; a second clear finds nothing to do."""
    place, _ = demo
    originals = {table.name: _originals(place, table.name) for table in TABLES}
    assert [len(files) for files in originals.values()] == [table.files for table in TABLES]
    added = _append(place, "lakekeeper_flat")

    with _serving(place) as api:
        run = api.get(f"/dags/{DAG}/dagRuns?order_by=-run_after")["dag_runs"][0]["dag_run_id"]
        for _ in range(2):
            assert api.clear_alone(run, "rollback") == "success"
            for table in TABLES:
                restored = _live(place, table.name)
                assert originals[table.name] <= restored
                new = restored - originals[table.name]
                assert [size for _, size, _ in new] == ([added] if table.name == "lakekeeper_flat" else [])
    assert not list(_processes_below(place.root.parent))


def _originals(place: Place, table: str) -> set[File]:
    """The files of the backup, by the operating system's own listing."""
    folder = place.warehouse / "demo"
    found = list(folder.glob(f"{table}/.lakekeeper/*.*/__old_*")) + list(
        folder.glob(f".lakekeeper-{table}/*.*/__old_*/{table}")
    )
    [old] = found
    return _files(old)


def _live(place: Place, table: str) -> set[File]:
    return _files(place.warehouse / "demo" / table)


def _files(folder: Path) -> set[File]:
    found = set()
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            if not name.startswith("."):
                path = Path(parent, name)
                stat = path.stat()
                found.add((str(path.relative_to(folder)), stat.st_size, stat.st_mtime_ns))
    return found


def _append(place: Place, table: str) -> int:
    """A writer that adds a file after the compaction; returns its size."""
    folder = place.warehouse / "demo" / table
    source = next(folder.glob("*.parquet"))
    return (folder / "part-late.parquet").write_bytes(source.read_bytes())


class Api:
    """Airflow's REST API, as the person who is logged in."""

    def __init__(self, url: str, user: str, password: str) -> None:
        self._url, self._token = url, ""
        body = {"username": user, "password": password}
        self._token = self._call("POST", "/auth/token", body)["access_token"]

    def get(self, path: str) -> Any:
        return self._call("GET", f"/api/v2{path}")

    def clear_alone(self, run: str, task: str) -> str:
        """Clear one task of a finished DAG run, wait for its end, and return the task's state."""
        before = self._try(run, task)
        body = {"dry_run": False, "only_failed": False, "dag_run_id": run, "task_ids": [task]}
        self._call("POST", f"/api/v2/dags/{DAG}/clearTaskInstances", body)
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            state = self.get(f"/dags/{DAG}/dagRuns/{run}")["state"]
            if state in ("success", "failed") and self._try(run, task) > before:
                return str(self.get(f"/dags/{DAG}/dagRuns/{run}/taskInstances/{task}")["state"])
            time.sleep(0.5)
        raise AssertionError(f"gave up waiting for {task} of {run}")

    def _try(self, run: str, task: str) -> int:
        return int(self.get(f"/dags/{DAG}/dagRuns/{run}/taskInstances/{task}")["try_number"])

    def _call(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self._token}"}
        request = urllib.request.Request(f"{self._url}{path}", data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{method} {path}: {error.code} {error.read()[:500]!r}") from None


@contextmanager
def _serving(place: Place) -> Iterator[Api]:
    """What `make up` runs, on the tables of this test."""
    port = free_port()
    command = [_python(), "-m", "tests.demo.serve", str(port), str(place.root)]
    process = spawn(command, log=place.log("serve"), cwd=paths.ROOT)
    url = f"http://127.0.0.1:{port}"
    try:
        deadline = time.monotonic() + PATIENCE
        while not serve.is_healthy(url):
            assert time.monotonic() < deadline, place.log("serve").read_text()[-2000:]
            time.sleep(0.5)
        yield Api(url, *serve.credentials(place))
    finally:
        stop(process, patience=60)


def _python() -> str:
    """The one below the environment: the stamps of the environments tell it from others."""
    return str(Path(sys.executable).resolve())


def _processes_below(folder: Path) -> list[str]:
    """Command lines that name the folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = entry.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if str(folder) in command:
            found.append(command)
    return found
