"""Run the services behind `make up` until SIGTERM: a metastore, Airflow's database and its components.

    python3 -m demo.airflow_server PORT [FOLDER]

Each component has a session of its own, so that it is stopped together with all processes that it started.
"""

from __future__ import annotations

import json
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType

from demo.services import airflow_components, paths
from demo.services.ports import HOST
from demo.services.processes import has_ended, spawn, stop
from demo.workspace import AIRFLOW, DEFAULT, Workspace

#: The processes by the names of the components.
Components = Mapping[str, "subprocess.Popen[bytes]"]

USER = "admin"
#: Where the tables are shown, below the address of the UI.
PAGE = "/plugin/lakekeeper"
POLL_SECONDS = 0.5


class Terminated(Exception):
    """The process has received SIGTERM."""


def serve(workspace: Workspace, port: int) -> int:
    """Run all services; return 0 after SIGTERM, 1 if a component ended."""
    with (
        workspace.metastore() as metastore,
        workspace.database() as database,
        running(workspace, workspace.airflow_environ(metastore, database), port) as components,
    ):
        return _wait_for_end(components)


@contextmanager
def running(workspace: Workspace, env: Mapping[str, str], port: int) -> Iterator[Components]:
    """Run the components of Airflow until the end of the block, each in a session of its own.

    Args:
        workspace: where their logs are.
        env: the variables of Airflow (`Workspace.airflow_environ`).
        port: for the API server.
    """
    with ExitStack() as stack:
        components = {}
        for name, arguments in airflow_components.components(port).items():
            components[name] = spawn(
                [airflow_components.program(AIRFLOW), *arguments],
                log=workspace.log(f"ui-{name}"),
                cwd=paths.ROOT,
                env={**env, **server_environ(workspace, port)},
            )
            stack.callback(stop, components[name], timeout=20)
        yield components


def ended(components: Components) -> str:
    """Return the names of the components that have ended, separated by commas."""
    return ", ".join(name for name, process in components.items() if has_ended(process))


def address(port: int) -> str:
    """Return the URL of the UI and of the REST API."""
    return f"http://{HOST}:{port}"


def server_environ(workspace: Workspace, port: int) -> dict[str, str]:
    """Return the variables of an Airflow with a server, in addition to those of `make demo`."""
    credentials(workspace)
    return {
        **airflow_components.server_environ(address(port)),
        # As in production: a task is retried if its worker or driver dies, and continues its own run.
        "AIRFLOW__CORE__DEFAULT_TASK_RETRIES": "3",
        "AIRFLOW__CORE__DEFAULT_TASK_RETRY_DELAY": "5",
        # Each task is a Spark driver.
        "AIRFLOW__CORE__PARALLELISM": "3",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS": f"{USER}:admin",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": str(_password_file(workspace)),
        "AIRFLOW__DAG_PROCESSOR__REFRESH_INTERVAL": "30",
        # A DAG that has changed is read at the next refresh all the same; the others take no processor meanwhile.
        "AIRFLOW__DAG_PROCESSOR__MIN_FILE_PROCESS_INTERVAL": "600",
    }


def credentials(workspace: Workspace) -> tuple[str, str]:
    """Return user and password; the password is generated once, into a file that only its owner can read."""
    file = _password_file(workspace)
    if not file.exists():
        file.touch(mode=0o600)
        file.write_text(json.dumps({USER: secrets.token_urlsafe(9)}))
    return USER, json.loads(file.read_text())[USER]


def _password_file(workspace: Workspace) -> Path:
    return workspace.airflow_home / "passwords.json"


def _wait_for_end(components: Components) -> int:
    try:
        while not (names := ended(components)):
            time.sleep(POLL_SECONDS)
    except Terminated:
        return 0
    print(f"{names} ended unexpectedly; see its log in the same directory as this one", flush=True)
    return 1


def _terminate(_signal: int, _frame: FrameType | None) -> None:
    # A second SIGTERM must not interrupt the stopping of the services.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise Terminated


def main() -> int:
    signal.signal(signal.SIGTERM, _terminate)
    workspace = Workspace(Path(sys.argv[2])) if len(sys.argv) > 2 else DEFAULT
    try:
        return serve(workspace, int(sys.argv[1]))
    except Terminated:
        return 0


if __name__ == "__main__":
    sys.exit(main())
