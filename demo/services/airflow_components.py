"""Start the components of Airflow 3 from an environment, and tell whether they are healthy."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Mapping

from demo.services import paths
from demo.services.ports import HOST

HEALTH = ("metadatabase", "scheduler", "dag_processor", "triggerer")


def program(env: str) -> str:
    """Return the `airflow` command of an environment."""
    return str(paths.env_dir(env) / "bin" / "airflow")


def components(port: int) -> dict[str, tuple[str, ...]]:
    """Return the arguments of `airflow` for each component; the API server listens on `port`."""
    return {
        "api-server": ("api-server", "--host", HOST, "--port", str(port), "--workers", "1"),
        # The servers of logs are for other hosts, and two Airflows would need the same port for them.
        "scheduler": ("scheduler", "--skip-serve-logs"),
        "dag-processor": ("dag-processor",),
        "triggerer": ("triggerer", "--skip-serve-logs"),
    }


def server_environ(url: str) -> dict[str, str]:
    """Return the variables by which all components find the API server."""
    return {
        "AIRFLOW__API__BASE_URL": url,
        "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"{url}/execution/",
        "AIRFLOW__CORE__EXECUTOR": "LocalExecutor",
    }


def is_healthy(url: str) -> bool:
    """Return whether all components and the database work, by the API server's own report."""
    try:
        with urllib.request.urlopen(f"{url}/api/v2/monitor/health", timeout=5) as response:
            health: Mapping[str, Mapping[str, str]] = json.load(response)
    except (OSError, ValueError):
        return False
    return all(health[part]["status"] == "healthy" for part in HEALTH)
