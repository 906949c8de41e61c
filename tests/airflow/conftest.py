"""An Airflow of its own for these tests: a temporary home with a migrated database, and a spark-submit that records."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Before anything imports Airflow, and whatever the user's own setting: their database must not be touched.
HOME = tempfile.TemporaryDirectory(prefix="lakekeeper-airflow-")
os.environ.update(
    {
        "AIRFLOW_HOME": HOME.name,
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__DAGS_FOLDER": str(ROOT / "example_dags"),
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{HOME.name}/airflow.db",
        "AIRFLOW__METRICS__TIMER_UNIT_CONSISTENCY": "True",
        "AIRFLOW__SENSORS__DEFAULT_TIMEOUT": "600",
        "PYTHONPATH": str(ROOT),
    }
)


class FakeSpark:
    """The recording spark-submit, seen from a test."""

    def __init__(self, home: Path) -> None:
        self.home = home
        (home / "bin").mkdir(parents=True)
        script = home / "bin" / "spark-submit"
        source = Path(__file__).with_name("fake_spark_submit.py").read_text()
        script.write_text(f"#!{sys.executable}\n{source}")
        script.chmod(0o755)

    def plan(self, **verbs: Any) -> None:
        """Say what goes wrong, by verb."""
        (self.home / "plan.json").write_text(json.dumps(verbs))

    @property
    def calls(self) -> list[dict[str, Any]]:
        path = self.home / "calls.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    @property
    def tables(self) -> dict[str, list[str]]:
        """The runs that stand, by table."""
        path = self.home / "tables.json"
        return json.loads(path.read_text()) if path.exists() else {}


def connection(host: str = "local[2]", **extra: Any) -> str:
    return json.dumps({"conn_type": "spark", "host": host, "extra": extra})


@pytest.fixture(scope="session")
def airflow_db() -> Path:
    """The home of a migrated database; `pristine.db` beside it stays as it was before any test ran a DAG."""
    home = Path(HOME.name)
    done = subprocess.run(
        [sys.executable, "-m", "airflow", "db", "migrate"], capture_output=True, text=True, cwd=home
    )
    assert done.returncode == 0, done.stdout + done.stderr
    shutil.copy(home / "airflow.db", home / "pristine.db")
    return home


@pytest.fixture
def spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeSpark]:
    """The recording spark-submit on PATH, and a connection to it."""
    fake = FakeSpark(tmp_path / "fake")
    monkeypatch.setenv("FAKE_SPARK", str(fake.home))
    monkeypatch.setenv("PATH", f"{fake.home / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", connection())
    return fake
