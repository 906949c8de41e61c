"""Run a DAG on a running Airflow as a user does, by its REST API, and wait for its end."""

from __future__ import annotations

import time
import urllib.error
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from demo import airflow_server, steps
from demo.services import airflow_components
from demo.services.airflow_api import AirflowApi
from demo.services.ports import free_port
from demo.services.processes import tail
from demo.workspace import Workspace

START_LIMIT = 240
REQUEST_LIMIT = 60
POLL_SECONDS = 0.5


@contextmanager
def airflow(env: Mapping[str, str], workspace: Workspace) -> Iterator[Airflow]:
    """Start Airflow, and stop it at the end of the block. `Airflow.log_in` waits until it is up.

    Args:
        env: the variables of Airflow.
        workspace: the folder of the demo.
    """
    port = free_port()
    logs = steps.relative_to_checkout(workspace.log("ui-scheduler").with_name("ui-*.log"))
    steps.announce(f"starting Airflow (logs: {logs})")
    with airflow_server.running(workspace, env, port) as components:
        yield Airflow(workspace, components, airflow_server.address(port))


class Airflow:
    """A running Airflow, as a user who has logged in."""

    def __init__(self, workspace: Workspace, components: airflow_server.Components, url: str) -> None:
        self._workspace, self._components, self._url = workspace, components, url
        self._api = AirflowApi(url, timeout=REQUEST_LIMIT)

    def log_in(self) -> None:
        """Wait until all components are healthy, and get a token.

        Raises:
            StepFailed: Airflow did not start or has ended; the message has the end of a log.
        """
        self._wait("Airflow did not start", lambda: airflow_components.is_healthy(self._url), START_LIMIT)
        self._api.log_in(*airflow_server.credentials(self._workspace))

    def run(self, dag: str) -> None:
        """Start a run of a DAG, and wait for its end; print the tasks that run from time to time.

        The DAG stays active, so that its tasks can be cleared.

        Raises:
            StepFailed: Airflow has ended, or the run failed; the message has the end of a log.
        """
        tasks = steps.relative_to_checkout(self._workspace.airflow_home / "logs")
        steps.announce(f"running the DAG {dag} (logs: {tasks})")
        self._wait(f"Airflow does not know the DAG {dag}", lambda: self._knows(dag), START_LIMIT)
        self._api.call("PATCH", f"/dags/{dag}", {"is_paused": False})
        created = self._api.call("POST", f"/dags/{dag}/dagRuns", {"logical_date": None})
        path = f"/dags/{dag}/dagRuns/{created['dag_run_id']}"
        heartbeat = steps.Heartbeat(lambda: self._running_tasks(path))
        while (state := self._api.call("GET", path)["state"]) not in ("success", "failed"):
            self._check_components(f"the run of {dag} was interrupted")
            heartbeat.beat()
            time.sleep(POLL_SECONDS)
        if state == "failed":
            raise steps.StepFailed(f"the run of {dag} failed:\n{self._failures(path)}")

    def _knows(self, dag: str) -> bool:
        try:
            self._api.call("GET", f"/dags/{dag}")
        except urllib.error.URLError:
            return False
        return True

    def _running_tasks(self, path: str) -> str:
        return ", ".join(map(_named, self._tasks(path, "running")))

    def _tasks(self, path: str, state: str) -> list[dict[str, Any]]:
        found = self._api.call("GET", f"{path}/taskInstances?state={state}&limit=100")["task_instances"]
        return list(found)

    def _failures(self, path: str) -> str:
        """Return the names of the failed tasks, each with the end of its log."""
        folder = self._workspace.airflow_home / "logs"
        return "\n".join(
            f"{_named(task)}: {end_of_log(folder, task)}" for task in self._tasks(path, "failed")
        )

    def _wait(self, problem: str, condition: Callable[[], bool], limit: float) -> None:
        """Wait for a condition; raise StepFailed after the limit, in seconds, or if a component has ended."""
        deadline = time.monotonic() + limit
        while not condition():
            self._check_components(problem)
            if time.monotonic() > deadline:
                raise steps.StepFailed(f"{problem} within {limit:.0f} s")
            time.sleep(POLL_SECONDS)

    def _check_components(self, problem: str) -> None:
        """Raise StepFailed if a component of Airflow has ended."""
        if name := airflow_server.ended(self._components):
            log = self._workspace.log(f"ui-{name.split(', ')[0]}")
            raise steps.StepFailed(f"{problem}: {name} ended.\n{tail(log)}")


def end_of_log(folder: Path, task: Mapping[str, Any]) -> str:
    """Return the end of the log of a task instance's last attempt, of no other one of a mapped task."""
    of_task = f"**/run_id={task['dag_run_id']}/task_id={task['task_id']}"
    of_instance = f"{of_task}/map_index={task['map_index']}" if task["map_index"] >= 0 else of_task
    logs = sorted(folder.glob(f"{of_instance}/*.log"), key=lambda log: log.stat().st_mtime)
    return tail(logs[-1]) if logs else "(no log)"


def _named(task: Mapping[str, Any]) -> str:
    """Return the name of a task instance; that of a mapped one with its table, as the UI shows it."""
    index = task.get("rendered_map_index") or task["map_index"]
    return str(task["task_id"]) if task["map_index"] < 0 else f"{task['task_id']} [{index}]"
