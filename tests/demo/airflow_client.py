"""Run the demo's Airflow on the tables of a test, and use its REST API as a logged-in user."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from demo import airflow_server
from demo.services import airflow_components, paths
from demo.services.airflow_api import AirflowApi
from demo.services.metastore import Metastore
from demo.services.ports import free_port
from demo.services.processes import has_ended, spawn, stop, tail
from demo.workspace import DAG, Workspace

TIMEOUT = 300  # seconds; a server that hangs must not hang the tests
REQUEST_TIMEOUT = 60


class AirflowClient:
    """The runs and tasks of the demo's DAG."""

    def __init__(self, url: str, user: str, password: str) -> None:
        self.url = url
        self._api = AirflowApi(url, timeout=REQUEST_TIMEOUT)
        self._api.log_in(user, password)

    @property
    def token(self) -> str:
        """The token of the user, as a browser has it."""
        return self._api.token

    def get(self, path: str) -> Any:
        return self._api.call("GET", path)

    def trigger(self) -> str:
        """Start the demo's DAG; return the id of the run."""
        return str(self._api.call("POST", f"/dags/{DAG}/dagRuns", {"logical_date": None})["dag_run_id"])

    def unpause(self, dag_id: str) -> None:
        self._api.call("PATCH", f"/dags/{dag_id}?update_mask=is_paused", {"is_paused": False})

    def state(self, run: str) -> str:
        return str(self.get(f"/dags/{DAG}/dagRuns/{run}")["state"])

    def tasks(self, run: str, task: str) -> list[dict[str, Any]]:
        """Return the instances of a task, one for each table."""
        found = self.get(f"/dags/{DAG}/dagRuns/{run}/taskInstances")["task_instances"]
        return sorted((ti for ti in found if ti["task_id"] == task), key=lambda ti: int(ti["map_index"]))

    def clear_task(self, run: str, task: str) -> str:
        """Clear one task of a finished DAG run, wait for its end, and return the task's state."""
        before = self._tries(run, task)
        body = {"dry_run": False, "only_failed": False, "dag_run_id": run, "task_ids": [task]}
        self._api.call("POST", f"/dags/{DAG}/clearTaskInstances", body)
        deadline = time.monotonic() + TIMEOUT
        while time.monotonic() < deadline:
            if self.state(run) in ("success", "failed") and self._tries(run, task) > before:
                return str(self.get(f"/dags/{DAG}/dagRuns/{run}/taskInstances/{task}")["state"])
            time.sleep(0.5)
        raise AssertionError(f"gave up waiting for {task} of {run}")

    def _tries(self, run: str, task: str) -> int:
        return int(self.get(f"/dags/{DAG}/dagRuns/{run}/taskInstances/{task}")["try_number"])


@contextmanager
def running_airflow(workspace: Workspace) -> Iterator[AirflowClient]:
    """Run the server that `make up` runs, on the tables of this workspace."""
    port = free_port()
    command = [python(), "-m", "demo.airflow_server", str(port), str(workspace.root)]
    process = spawn(command, log=workspace.log("serve"), cwd=paths.ROOT)
    try:
        url = airflow_server.address(port)
        _wait_until_healthy(workspace, process, url)
        yield AirflowClient(url, *airflow_server.credentials(workspace))
    finally:
        stop(process, timeout=60)


def _wait_until_healthy(workspace: Workspace, process: subprocess.Popen[bytes], url: str) -> None:
    deadline = time.monotonic() + TIMEOUT
    while not airflow_components.is_healthy(url):
        failed = has_ended(process) or time.monotonic() > deadline
        assert not failed, f"Airflow did not start:\n{tail(workspace.log('serve'))}"
        time.sleep(0.5)


def running_metastore(workspace: Workspace) -> Metastore:
    """Return the metastore that the server has started, with its port from Spark's configuration."""
    settings = (workspace.root / "spark-conf" / "spark-defaults.conf").read_text()
    [port] = re.findall(r"hive\.metastore\.uris thrift://.*:(\d+)", settings)
    return Metastore(workspace.root / "metastore", port=int(port))


def python() -> str:
    """Return the Python from which the environment was created: the stamps of environments depend on it."""
    return str(Path(sys.executable).resolve())
