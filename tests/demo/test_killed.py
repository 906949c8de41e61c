"""Compactions that are killed in the middle, and tried again by Airflow itself."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.demo import report
from tests.demo.place import DAG, Place
from tests.demo.run import measured
from tests.demo.served import PATIENCE, Api, processes_below, serving
from tests.demo.tables import TABLES, DemoTable

pytestmark = pytest.mark.live


def test_killed_compactions_end_like_undisturbed_ones(demo):
    """Of the first table the driver is killed, of the second the driver and the Airflow task around it, of the third
    the Airflow task alone: its driver lives on, and the next try must not get in its way."""
    place, _ = demo
    _roll_back(place)
    with place.metastore() as metastore:
        before = measured(place, metastore, "before-kills")
    with serving(place) as api:
        run = api.trigger()
        for table, victims in zip(TABLES, ({"driver"}, {"driver", "task"}, {"task"}), strict=True):
            _kill_in_the_middle(place, api, run, table, victims)
        state = _end(api, run)
        tries = [task["try_number"] for task in api.tasks(run, "compact")]
    with place.metastore() as metastore:
        after = measured(place, metastore, "after-kills", "--repair")

    assert state == "success"
    assert [number > 1 for number in tries] == [True] * len(TABLES)
    assert report.problems(before, after) == []
    for table in TABLES:
        assert _unfinished(place, table) == []
    assert not list(processes_below(place.root.parent))


def _roll_back(place: Place) -> None:
    """Many small files again, however often that has been asked for before."""
    with serving(place) as api:
        run = api.get(f"/dags/{DAG}/dagRuns?order_by=run_after")["dag_runs"][0]["dag_run_id"]
        assert api.clear_alone(run, "rollback") == "success"


def _kill_in_the_middle(place: Place, api: Api, run: str, table: DemoTable, victims: set[str]) -> None:
    """While it writes, or right after: the first files of the rewrite are there, and the job is not done."""
    known = set(_journals(place, table))
    deadline = time.monotonic() + 3 * PATIENCE
    while not (_writing(place, table, known) and _drivers(place, table)):
        assert api.state(run) in ("queued", "running")
        assert time.monotonic() < deadline, f"the compaction of {table.name} did not begin"
        time.sleep(0.05)
    drivers = _drivers(place, table)
    doomed = [*(drivers if "driver" in victims else []), *(_tasks(drivers) if "task" in victims else [])]
    for pid in doomed:
        os.kill(pid, signal.SIGKILL)


def _home(place: Place, table: DemoTable) -> Path:
    folder = place.warehouse / "demo"
    return folder / table.name / ".lakekeeper" if table.keys else folder / f".lakekeeper-{table.name}"


def _journals(place: Place, table: DemoTable) -> Iterator[Path]:
    return _home(place, table).glob("*.*/journal")


def _writing(place: Place, table: DemoTable, known: set[Path]) -> bool:
    """Has a run that was not there before begun to write?"""
    fresh = [journal.parent for journal in _journals(place, table) if journal not in known]
    return any(True for run in fresh for _ in run.glob("__compact_tmp_*/**/*.parquet"))


def _unfinished(place: Place, table: DemoTable) -> list[str]:
    """What a run leaves only while it is at work."""
    return [str(path) for path in _home(place, table).glob("*.*/__*") if not path.name.startswith("__old_")]


def _drivers(place: Place, table: DemoTable) -> list[int]:
    """The processes of the compaction's driver in this place: spark-submit's JVM and its Python."""
    return [
        pid
        for pid in (int(path.name) for path in Path("/proc").glob("[0-9]*"))
        if b"compact.py" in _read(pid, "cmdline") and str(place.root).encode() in _read(pid, "environ")
        if table.full_name.encode() in _read(pid, "cmdline")
    ]


def _tasks(drivers: list[int]) -> list[int]:
    """The Airflow process that started the driver."""
    parents = {_parent(pid) for pid in drivers} - set(drivers)
    return sorted(parents)


def _parent(pid: int) -> int:
    return int(_read(pid, "stat").rpartition(b")")[2].split()[1])


def _read(pid: int, name: str) -> bytes:
    try:
        return Path("/proc", str(pid), name).read_bytes()
    except OSError:
        return b""


def _end(api: Api, run: str) -> str:
    deadline = time.monotonic() + 3 * PATIENCE
    while time.monotonic() < deadline:
        state = api.state(run)
        if state in ("success", "failed"):
            return state
        time.sleep(0.5)
    raise AssertionError(f"gave up waiting for {run}")
