"""The process behind `make up`: a metastore, Airflow's database and its parts, until it is told to stop.

Each part leads a session of its own, so that stopping one takes along whatever it started.
"""

from __future__ import annotations

import json
import secrets
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from types import FrameType

from demo.services import paths
from demo.services.processes import has_ended, spawn, stop
from demo.workspace import DEMO, Place, airflow_command

USER = "admin"
HEALTH = ("metadatabase", "scheduler", "dag_processor", "triggerer")


class Told(Exception):
    """Somebody asked us to stop."""


def serve(place: Place, port: int) -> int:
    with ExitStack() as stack:
        metastore = stack.enter_context(place.metastore())
        database = stack.enter_context(place.database())
        env = {**place.airflow_environ(metastore, database), **ui_environ(place, port)}
        parts = {}
        for name, command in components(port).items():
            parts[name] = spawn(command, log=place.log(f"ui-{name}"), cwd=paths.ROOT, env=env)
            stack.callback(stop, parts[name], patience=20)
        return _until_one_ends(parts)


def components(port: int) -> dict[str, list[str]]:
    return {
        "api-server": airflow_command(
            "api-server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1"
        ),
        "scheduler": airflow_command("scheduler", "--skip-serve-logs"),
        "dag-processor": airflow_command("dag-processor"),
        "triggerer": airflow_command("triggerer", "--skip-serve-logs"),
    }


def ui_environ(place: Place, port: int) -> dict[str, str]:
    url = f"http://127.0.0.1:{port}"
    credentials(place)
    return {
        "AIRFLOW__API__BASE_URL": url,
        "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"{url}/execution/",
        "AIRFLOW__CORE__EXECUTOR": "LocalExecutor",
        # As in production: a task whose worker or driver dies is tried again, and goes on with its own run.
        "AIRFLOW__CORE__DEFAULT_TASK_RETRIES": "3",
        "AIRFLOW__CORE__DEFAULT_TASK_RETRY_DELAY": "5",
        # Each task is a Spark driver.
        "AIRFLOW__CORE__PARALLELISM": "3",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS": f"{USER}:admin",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": str(_password_file(place)),
        "AIRFLOW__DAG_PROCESSOR__REFRESH_INTERVAL": "30",
    }


def credentials(place: Place) -> tuple[str, str]:
    """User and password; made up once, in a file that only its owner reads."""
    kept = _password_file(place)
    if not kept.exists():
        kept.touch(mode=0o600)
        kept.write_text(json.dumps({USER: secrets.token_urlsafe(9)}))
    return USER, json.loads(kept.read_text())[USER]


def _password_file(place: Place) -> Path:
    return place.airflow_home / "passwords.json"


def is_healthy(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/api/v2/monitor/health", timeout=5) as answer:
            health: Mapping[str, Mapping[str, str]] = json.load(answer)
    except (OSError, ValueError):
        return False
    return all(health[part]["status"] == "healthy" for part in HEALTH)


def _until_one_ends(parts: Mapping[str, subprocess.Popen[bytes]]) -> int:
    try:
        while not (ended := [name for name, process in parts.items() if has_ended(process)]):
            time.sleep(0.5)
    except Told:
        return 0
    print(f"{', '.join(ended)} ended by itself; see its log beside this one", flush=True)
    return 1


def _told(_sign: int, _frame: FrameType | None) -> None:
    # Once is enough: a second signal must not cut the stopping short.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise Told


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _told)
    try:
        sys.exit(serve(Place(Path(sys.argv[2])) if len(sys.argv) > 2 else DEMO, int(sys.argv[1])))
    except Told:
        sys.exit(0)
