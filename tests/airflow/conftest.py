"""An Airflow of its own for these tests: a temporary home with a migrated database, and a spark-submit that records."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from demo.services import paths

ROOT = paths.ROOT
#: Airflow 2 has no pages of plugins like these.
collect_ignore = ["page"] if version("apache-airflow").startswith("2.") else []
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
        with self._locked():
            (self.home / "plan.json").write_text(json.dumps(verbs))

    @property
    def calls(self) -> list[dict[str, Any]]:
        with self._locked():
            return [json.loads(line) for line in self._read("calls.jsonl").splitlines()]

    @property
    def tables(self) -> dict[str, list[str]]:
        """The runs that stand, by table."""
        with self._locked():
            return json.loads(self._read("tables.json") or "{}")

    def add_tables(self, tables: dict[str, list[str]]) -> None:
        """Add tables to the model while spark-submits may be at work on it."""
        with self._locked():
            known = json.loads(self._read("tables.json") or "{}")
            (self.home / "tables.json").write_text(json.dumps({**known, **tables}))

    def _read(self, name: str) -> str:
        path = self.home / name
        return path.read_text() if path.exists() else ""

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Spark-submits that are at work hold this lock while they write."""
        with (self.home / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def connection(host: str = "local[2]", **extra: Any) -> str:
    return json.dumps({"conn_type": "spark", "host": host, "extra": extra})


@pytest.fixture(scope="session")
def airflow_db() -> Path:
    """The home of a migrated database. The migration is done once for each version of Airflow, until `make clean`."""
    home = Path(HOME.name)
    kept = paths.SCRATCH / "airflow-db" / f"{version('apache-airflow')}.db"
    if kept.exists():
        shutil.copy(kept, home / "airflow.db")
    else:
        migrate(home, dict(os.environ))
        kept.parent.mkdir(parents=True, exist_ok=True)
        unfinished = shutil.copy(home / "airflow.db", kept.with_suffix(f".{os.getpid()}"))
        Path(unfinished).replace(kept)
    return home


def migrate(home: Path, env: dict[str, str]) -> None:
    """Make the tables of Airflow's database."""
    command = [sys.executable, "-m", "airflow", "db", "migrate"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=home, env=env)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeSpark]:
    """The recording spark-submit on PATH, and a connection to it."""
    fake = FakeSpark(tmp_path / "fake")
    monkeypatch.setenv("FAKE_SPARK", str(fake.home))
    monkeypatch.setenv("PATH", f"{fake.home / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", connection())
    return fake
