"""A whole Airflow 3 on this machine: API server, scheduler, DAG processor and triggerer, for one test session."""

from __future__ import annotations

import os
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from demo.services import airflow_components, processes
from demo.services.airflow_api import AirflowApi
from demo.services.ports import HOST, free_port
from demo.services.postgres import Postgres, binaries
from tests.airflow.conftest import FakeSpark, connection, migrate
from tests.airflow.support import PATIENCE, wait_for
from tests.harness.statsd_server import StatsdServer

DAGS = Path(__file__).with_name("live_dags")
ENDED = ("success", "failed", "skipped", "upstream_failed")
DAG_IDS = {"live_rollback", "live_gated", "live_mapped", "live_window", "live_cleanup", "live_load"}


class LiveAirflow:
    """The server on a database of its own, and its REST API.

    Args:
        dags: the folder of its DAGs.
        dag_ids: those that must be there before a test begins.
        environ: of all its processes, and so of the tasks; it may hide the recording spark-submit behind a real one.
    """

    def __init__(
        self,
        home: Path,
        dags: Path = DAGS,
        dag_ids: Collection[str] = frozenset(DAG_IDS),
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self._dags, self._ids, self._more = dags, set(dag_ids), dict(environ or {})
        home.mkdir(parents=True, exist_ok=True)
        self.home, self.spark = home, FakeSpark(home / "fake")
        self._port = free_port()
        self.url = f"http://{HOST}:{self._port}"
        self._api = AirflowApi(self.url, timeout=PATIENCE)
        self._database = Postgres(home / "postgres", binaries("airflow-3.3"))
        self._children: dict[str, subprocess.Popen[bytes]] = {}
        self._running = ExitStack()
        self.statsd = StatsdServer()

    def __enter__(self) -> LiveAirflow:
        with ExitStack() as started:
            started.enter_context(self._database)
            migrate(self.home, self._environ())
            started.callback(self._stop)
            for component, arguments in airflow_components.components(self._port).items():
                self._children[component] = self._start(component, arguments)
            wait_for("the API", self._log_in)
            wait_for("the DAGs", lambda: self._dag_ids() >= self._ids)
            self._running = started.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._running.close()
        self.statsd.close()

    def _start(self, component: str, arguments: Sequence[str]) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "airflow", *arguments]
        log = self.home / f"{component}.log"
        return processes.spawn(command, log=log, cwd=self.home, env=self._environ())

    def _stop(self) -> None:
        """All at once: each of them takes its time."""
        with ThreadPoolExecutor() as pool:
            list(pool.map(lambda child: processes.stop(child, timeout=3), self._children.values()))

    def _check_alive(self) -> None:
        for component, child in self._children.items():
            log = self.home / f"{component}.log"
            assert not processes.has_ended(child), f"the {component} ended by itself:\n{processes.tail(log)}"

    def _environ(self) -> dict[str, str]:
        return {
            **os.environ,
            **airflow_components.server_environ(self.url),
            **self.statsd.environ(),
            "AIRFLOW_HOME": str(self.home),
            "AIRFLOW__CORE__DAGS_FOLDER": str(self._dags),
            "AIRFLOW__CORE__PARALLELISM": "4",
            "AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "True",
            "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_ALL_ADMINS": "True",
            "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": self._database.sqlalchemy_url,
            "AIRFLOW__API__SECRET_KEY": "only-for-this-test-session",
            "AIRFLOW__API_AUTH__JWT_SECRET": "only-for-this-test-session-0123456789abcdef",
            "AIRFLOW__SCHEDULER__SCHEDULER_IDLE_SLEEP_TIME": "0.2",
            # The DAGs do not change.
            "AIRFLOW__DAG_PROCESSOR__MIN_FILE_PROCESS_INTERVAL": "3600",
            "AIRFLOW__LOGGING__BASE_LOG_FOLDER": str(self.home / "logs"),
            "AIRFLOW_CONN_SPARK_DEFAULT": connection(),
            "FAKE_SPARK": str(self.spark.home),
            "PATH": f"{self.spark.home / 'bin'}{os.pathsep}{os.environ['PATH']}",
            **self._more,
        }

    def _log_in(self) -> bool:
        """Get a token; return whether the server gave one, which it does once it has started."""
        self._check_alive()
        try:
            self._api.token = self._api.request("GET", "/auth/token")["access_token"]
        except (urllib.error.URLError, ConnectionError):
            return False
        return True

    def _dag_ids(self) -> set[str]:
        return {dag["dag_id"] for dag in self.call("GET", "/dags")["dags"]}

    def call(self, method: str, path: str, body: Any = None) -> Any:
        return self._api.call(method, path, body)

    def page(self, path: str) -> str:
        """Return a page of the provider, as a browser gets it."""
        request = urllib.request.Request(
            f"{self.url}{path}", headers={"Authorization": f"Bearer {self._api.token}"}
        )
        with urllib.request.urlopen(request, timeout=PATIENCE) as response:
            return str(response.read().decode())

    def trigger(self, dag_id: str, **conf: Any) -> LiveRun:
        run = self.call("POST", f"/dags/{dag_id}/dagRuns", {"logical_date": None, "conf": conf})
        return LiveRun(self, dag_id, run["dag_run_id"], str(conf.get("table")))

    def unpause(self, dag_id: str) -> None:
        self.call("PATCH", f"/dags/{dag_id}", {"is_paused": False})

    def runs_of(self, dag_id: str, table: str) -> list[LiveRun]:
        """The DAG runs that there are, oldest first, whoever started them."""
        found = self.call("GET", f"/dags/{dag_id}/dagRuns?order_by=run_after")["dag_runs"]
        return [LiveRun(self, dag_id, run["dag_run_id"], table) for run in found]


class LiveRun:
    """One DAG run."""

    def __init__(self, airflow: LiveAirflow, dag_id: str, run_id: str, table: str) -> None:
        self.airflow, self.table = airflow, table
        self._dag, self._id = dag_id, run_id
        self.path = f"/dags/{dag_id}/dagRuns/{run_id}"

    def page(self) -> str:
        """Return the page of the provider about this run."""
        return self.airflow.page(
            f"/lakekeeper/run?{urllib.parse.urlencode({'dag_id': self._dag, 'run_id': self._id})}"
        )

    def info(self) -> dict[str, Any]:
        found: dict[str, Any] = self.airflow.call("GET", self.path)
        return found

    def end(self, *, after: datetime | None = None) -> str:
        """Wait for the end of the DAG run; return its state. Patience begins at the given time, if it is to come."""
        wait = (after - datetime.now(timezone.utc)).total_seconds() if after else 0
        ended = lambda: self.info()["state"] in ("success", "failed")  # noqa: E731
        wait_for(f"the end of {self._id}", ended, max(0, wait) + PATIENCE)
        return str(self.info()["state"])

    def tasks(self, task_id: str) -> list[dict[str, Any]]:
        found = self.airflow.call("GET", f"{self.path}/taskInstances")["task_instances"]
        return sorted((ti for ti in found if ti["task_id"] == task_id), key=lambda ti: int(ti["map_index"]))

    def states(self) -> str:
        """Every task's state and the end of the failed ones' logs, for an assertion's message."""
        found = self.airflow.call("GET", f"{self.path}/taskInstances")["task_instances"]
        lines = [f"{ti['task_id']} {ti['state']} try {ti['try_number']}" for ti in found]
        for ti in found:
            if ti["state"] == "failed":
                logs = sorted((self.airflow.home / "logs").glob(f"**/task_id={ti['task_id']}/**/*.log"))
                lines += [path.read_text()[-1500:] for path in logs[-1:]]
        return "\n".join(lines)

    def log(self, task_id: str, map_index: int) -> str:
        """Return the log of the last try of a mapped task."""
        place = f"**/run_id={self._id}/task_id={task_id}/map_index={map_index}/attempt=*.log"
        return max((self.airflow.home / "logs").glob(place)).read_text()

    def state(self, task_id: str) -> Any:
        [instance] = self.tasks(task_id)
        return instance["state"]

    def wait(self, task_id: str, *states: str) -> str:
        """Wait until the task is in one of the states; return the one that was seen."""

        def seen() -> str | None:
            state = self.state(task_id)
            return state if state in states else None

        found: str = wait_for(f"{task_id} to be {' or '.join(states)}", seen)
        return found

    def wait_for_worker(self, task_id: str) -> None:
        """Wait until the scheduler has seen the end of the worker of a task that now waits for something else.

        A task that is resumed before that meets a scheduler that takes the end of its first worker for its death.
        """
        ended = f"TaskInstance Finished: dag_id={self._dag}, task_id={task_id}, run_id={self._id},"
        log = self.airflow.home / "scheduler.log"
        wait_for(
            f"the end of the first worker of {task_id}", lambda: ended in log.read_text(errors="replace")
        )

    def clear(self, *tasks: str | list[Any], downstream: bool = False) -> None:
        """Clear tasks, as the UI does; without any, the whole run."""
        body = {
            "dry_run": False,
            "only_failed": False,
            "dag_run_id": self._id,
            "include_downstream": downstream,
        }
        if tasks:
            self.airflow.call(
                "POST", f"/dags/{self._dag}/clearTaskInstances", {**body, "task_ids": list(tasks)}
            )
        else:
            self.airflow.call("POST", f"{self.path}/clear", {"dry_run": False, "only_failed": False})

    def flag(self, word: str) -> Path:
        """A file that steers the DAG."""
        return self.airflow.spark.home / f"{self.table}.{word}"

    def runs(self, table: str | None = None) -> list[str]:
        """The compactions of the table that stand."""
        return self.airflow.spark.tables.get(table or self.table, [])

    def rollbacks(self) -> int:
        """How often a rollback was submitted for the table."""
        calls = (call["argv"] for call in self.airflow.spark.calls)
        mine = (argv for argv in calls if any(self.table in word for word in argv))
        return sum(any(word.endswith("/rollback.py") for word in argv) for argv in mine)
