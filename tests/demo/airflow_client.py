"""A person at the demo's Airflow: what `make up` runs, on the tables of a test, and its REST API."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from demo import airflow_server
from demo.services import paths
from demo.services.metastore import Metastore
from demo.services.ports import free_port
from demo.services.processes import has_ended, spawn, stop, tail
from demo.workspace import DAG, Place

PATIENCE = 300  # seconds; a hung server must not hang the tests


class Api:
    """Airflow's REST API, as the person who is logged in."""

    def __init__(self, url: str, user: str, password: str) -> None:
        self._url, self._token = url, ""
        body = {"username": user, "password": password}
        self._token = self._call("POST", "/auth/token", body)["access_token"]

    def get(self, path: str) -> Any:
        return self._call("GET", f"/api/v2{path}")

    def trigger(self) -> str:
        """Start the demo's DAG; return the id of the run."""
        return str(self._call("POST", f"/api/v2/dags/{DAG}/dagRuns", {"logical_date": None})["dag_run_id"])

    def state(self, run: str) -> str:
        return str(self.get(f"/dags/{DAG}/dagRuns/{run}")["state"])

    def tasks(self, run: str, task: str) -> list[dict[str, Any]]:
        """The instances of a task, one for each table."""
        found = self.get(f"/dags/{DAG}/dagRuns/{run}/taskInstances")["task_instances"]
        return sorted((ti for ti in found if ti["task_id"] == task), key=lambda ti: int(ti["map_index"]))

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
def serving(place: Place) -> Iterator[Api]:
    """What `make up` runs, on the tables of this test."""
    port = free_port()
    command = [python(), "-m", "demo.airflow_server", str(port), str(place.root)]
    process = spawn(command, log=place.log("serve"), cwd=paths.ROOT)
    try:
        url = f"http://127.0.0.1:{port}"
        _wait_until_healthy(place, process, url)
        yield Api(url, *airflow_server.credentials(place))
    finally:
        stop(process, patience=60)


def _wait_until_healthy(place: Place, process: subprocess.Popen[bytes], url: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not airflow_server.is_healthy(url):
        late = has_ended(process) or time.monotonic() > deadline
        assert not late, f"Airflow did not start:\n{tail(place.log('serve'))}"
        time.sleep(0.5)


def running_metastore(place: Place) -> Metastore:
    """The one that is served, to be asked and not to be started: where it is stands in Spark's configuration."""
    settings = (place.root / "spark-conf" / "spark-defaults.conf").read_text()
    [port] = re.findall(r"hive\.metastore\.uris thrift://.*:(\d+)", settings)
    return Metastore(place.root / "metastore", port=int(port))


def python() -> str:
    """The one below the environment: the stamps of the environments tell it from others."""
    return str(Path(sys.executable).resolve())


def processes_below(folder: Path) -> list[str]:
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
