"""Running an operator without a scheduler."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from tests.harness import waiting

PATIENCE = 300  # seconds; a hung server must not hang the session


#: What task instances have pushed, as JSON: by DAG, run, task, map index and key.
XCOMS: dict[tuple[str, str, str, int, str], str] = {}


@dataclass
class TaskInstance:
    """The part of a task instance that the operators use."""

    try_number: int = 1
    task_id: str = "task"
    map_index: int = -1
    dag_id: str = "dag"
    run_id: str = "scheduled__2026-02-23T01:00:00+00:00"
    pushed: dict[str, Any] = field(default_factory=dict)

    def xcom_push(self, key: str, value: Any) -> None:
        self.pushed[key] = value
        XCOMS[self.dag_id, self.run_id, self.task_id, self.map_index, key] = json.dumps(value)

    def xcom_pull(self, *, key: str, dag_id: str, task_ids: str, map_indexes: int) -> Any:
        return json.loads(XCOMS.get((dag_id, self.run_id, task_ids, map_indexes, key), "null"))


@dataclass
class DagRun:
    run_id: str = "scheduled__2026-02-23T01:00:00+00:00"
    start_date: datetime = datetime(2026, 2, 23, 1, tzinfo=timezone.utc)


def context(**changes: Any) -> dict[str, Any]:
    return {"ti": TaskInstance(), "dag_run": DagRun(), **changes}


def dags_in(folder: Path) -> Any:
    """The DAGs of a folder, as Airflow reads them."""
    try:
        from airflow.dag_processing.dagbag import DagBag
    except ImportError:  # Airflow 2
        from airflow.models.dagbag import DagBag
    return DagBag(str(folder))


def dags_of(source: str, home: Path, monkeypatch: Any) -> Path:
    """Write DAGs into a folder, as a bundle of this Airflow: Airflow 3 runs only those of a bundle that it knows."""
    home.mkdir()
    (home / "dags.py").write_text(source)
    local = "airflow.dag_processing.bundles.local.LocalDagBundle"
    bundle = {"name": home.name, "classpath": local, "kwargs": {"path": str(home)}}
    monkeypatch.setenv("AIRFLOW__DAG_PROCESSOR__DAG_BUNDLE_CONFIG_LIST", json.dumps([bundle]))
    return home


def wait_for(what: str, check: Callable[[], Any], patience: float = PATIENCE) -> Any:
    """Wait until the check gives something true, and return it."""
    return waiting.wait_for(what, check, patience=patience)


def run_on_spark(environ: dict[str, str], script: Path, text: str, *words: object) -> None:
    """Write a script, and run it by a real spark-submit."""
    script.write_text(text)
    command = ["spark-submit", "--master", "local[2]", script, *words]
    done = subprocess.run(list(map(str, command)), env=environ, capture_output=True, text=True)
    assert done.returncode == 0, f"exit code {done.returncode}: {(done.stdout + done.stderr)[-3000:]}"


def logged(capfd: Any, caplog: Any) -> str:
    """Return the logs of a test: Airflow 3 writes them to standard output, Airflow 2 by handlers."""
    out, err = capfd.readouterr()
    return "\n".join([out, err, *(record.getMessage() for record in caplog.records)])


def after(argv: list[str], flag: str) -> str:
    return argv[argv.index(flag) + 1]
