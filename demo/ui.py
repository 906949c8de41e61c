"""Start and stop the Airflow UI on the demo's tables.

python3 -m demo.ui up
python3 -m demo.ui down
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import asdict, dataclass

from demo import airflow_server, steps
from demo.services import airflow_components, environments, machine, paths
from demo.services.airflow_api import AirflowApi
from demo.services.commands import command
from demo.services.ports import free_port, is_free
from demo.services.processes import start_time, tail
from demo.workspace import AIRFLOW, DEFAULT, SPARK, Workspace

STATE_FILE = paths.SCRATCH / "ui.json"
PORT = 8080
ON_DEMAND = "lakekeeper_on_demand"
START_LIMIT = 240
STOP_LIMIT = 60


class UiRunning(Exception):
    """The UI runs on tables that are about to be deleted."""


@dataclass(frozen=True)
class Server:
    """The process of `airflow_server`; its start time distinguishes it from a later process with the same id."""

    pid: int
    started: int | None
    port: int

    @property
    def url(self) -> str:
        return airflow_server.address(self.port)

    @property
    def alive(self) -> bool:
        return _exists(self.pid) and start_time(self.pid) == self.started


def running_server() -> Server | None:
    """Return the server that `up` has started, if it still runs."""
    if not STATE_FILE.exists():
        return None
    server = Server(**json.loads(STATE_FILE.read_text()))
    return server if server.alive else None


def require_stopped(workspace: Workspace) -> None:
    """Raise UiRunning if the UI shows the tables of this workspace."""
    server = running_server()
    if server and workspace == DEFAULT:
        raise UiRunning(
            f"the Airflow UI runs on these tables at {server.url}; stop it first: {command('down')}"
        )


def up() -> int:
    """Start the UI, and print its address once it is healthy."""
    if server := running_server():
        print(f"the UI already runs\n{login(server)}")
        return 0
    if not DEFAULT.completed.exists():
        print(f"there are no tables to show yet; create them first: {command('demo')}", file=sys.stderr)
        return 1
    environments.ensure([AIRFLOW, SPARK])
    server = _start(PORT if is_free(PORT) else free_port())
    steps.announce(f"starting Airflow (log: {steps.relative_to_checkout(DEFAULT.log('ui'))})")
    if not _wait_until_healthy(server):
        _stop(server)
        print(f"error: Airflow did not start:\n{tail(DEFAULT.log('ui'))}", file=sys.stderr)
        return 1
    _unpause(server, ON_DEMAND)
    print(login(server))
    return 0


def _unpause(server: Server, dag_id: str) -> None:
    """Unpause the DAG by which the buttons of the pages act; its file may not have been read yet."""
    api = AirflowApi(server.url, timeout=60)
    api.log_in(*airflow_server.credentials(DEFAULT))
    deadline = time.monotonic() + START_LIMIT
    while server.alive and time.monotonic() < deadline:
        try:
            api.call("PATCH", f"/dags/{dag_id}?update_mask=is_paused", {"is_paused": False})
            return
        except OSError:
            time.sleep(1)


def _start(port: int) -> Server:
    """Start the server, which outlives this process."""
    with DEFAULT.log("ui").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "demo.airflow_server", str(port)],
            cwd=paths.ROOT,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    server = Server(process.pid, start_time(process.pid), port)
    STATE_FILE.write_text(json.dumps(asdict(server)))
    return server


def _wait_until_healthy(server: Server) -> bool:
    deadline = time.monotonic() + START_LIMIT
    while server.alive and time.monotonic() < deadline:
        if airflow_components.is_healthy(server.url):
            return True
        time.sleep(0.5)
    return False


def login(server: Server) -> str:
    """Return the text with the address of the page of the tables, the user and the password."""
    user, password = airflow_server.credentials(DEFAULT)
    page = f"{server.url}{airflow_server.PAGE}"
    return f"\n  {page}\n  user {user}, password {password}\n\n{command('down')} stops it."


def down() -> int:
    """Stop the UI, its database and its metastore."""
    server = running_server()
    if server is None:
        print("nothing to stop: the UI does not run")
    else:
        _stop(server)
        print(
            f"stopped the Airflow UI at {server.url}, its database and its metastore (process {server.pid})"
        )
    STATE_FILE.unlink(missing_ok=True)
    return 0


def _stop(server: Server) -> None:
    """Send SIGTERM, on which the server stops its children; after the limit SIGKILL, on which the kernel stops them."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        if server.alive:
            os.kill(server.pid, sign)
        deadline = time.monotonic() + STOP_LIMIT
        while server.alive and time.monotonic() < deadline:
            time.sleep(0.1)


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description="Start or stop the Airflow UI on the demo's tables.")
    parser.add_argument("action", choices=("up", "down"))
    action = parser.parse_args().action
    try:
        return up() if action == "up" else down()
    except machine.MachineError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
