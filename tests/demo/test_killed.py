"""Compactions that are killed in the middle, and tried again by Airflow itself."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from demo import report
from demo.run import measure_tables
from demo.tables import TABLES, DemoTable
from demo.workspace import DAG, Workspace
from tests.demo.airflow_client import TIMEOUT, AirflowClient, running_metastore

# `make test` kills drivers in tests/soak, and tasks in tests/airflow.
pytestmark = [pytest.mark.live, pytest.mark.full]


def test_killed_compactions_end_like_undisturbed_ones(demo, api):
    """Of the first table the driver is killed, of the second the driver and the Airflow task around it, of the third
    the Airflow task alone: its driver lives on, and the next try must not get in its way."""
    workspace = demo.workspace
    _roll_back(api)
    metastore = running_metastore(workspace)
    before = measure_tables(workspace, metastore, "before-kills")
    known = {table: set(_journals(workspace, table)) for table in TABLES}
    run = api.trigger()
    for table, victims in zip(TABLES, ({"driver"}, {"driver", "task"}, {"task"}), strict=True):
        _kill_in_the_middle(_Run(workspace, api, run, table, known[table]), victims)
    state = _end(api, run)
    tries = [task["try_number"] for task in api.tasks(run, "compact")]
    after = measure_tables(workspace, metastore, "after-kills", "--repair")

    assert state == "success"
    assert [number > 1 for number in tries] == [True] * len(TABLES)
    assert report.problems(before, after) == []
    for table in TABLES:
        assert _unfinished(workspace, table) == []


def _roll_back(api: AirflowClient) -> None:
    """Many small files again, however often that has been asked for before."""
    run = api.get(f"/dags/{DAG}/dagRuns?order_by=run_after")["dag_runs"][0]["dag_run_id"]
    assert api.clear_task(run, "rollback") == "success"


@dataclass(frozen=True)
class _Run:
    """The compaction of one table in a DAG run; `known` are the journals of earlier ones."""

    workspace: Workspace
    api: AirflowClient
    run: str
    table: DemoTable
    known: set[Path]

    def check(self, deadline: float, missing: str) -> None:
        """What is awaited can still come."""
        state = self.api.state(self.run)
        assert state in ("queued", "running"), f"the DAG run is {state}, and {missing}"
        assert time.monotonic() < deadline, missing

    def drivers(self) -> list[int]:
        return _drivers(self.workspace, self.table)

    def has_begun(self) -> bool:
        return bool(set(_journals(self.workspace, self.table)) - self.known)


def _kill_in_the_middle(run: _Run, victims: set[str]) -> None:
    """While it writes: the first files of the rewrite are there, and the job is not done."""
    drivers = _stopped_while_writing(run)
    doomed = [*(drivers if "driver" in victims else []), *(_tasks(drivers) if "task" in victims else [])]
    for pid in doomed:
        os.kill(pid, signal.SIGKILL)
    _signal(drivers, signal.SIGCONT)


def _stopped_while_writing(run: _Run) -> list[int]:
    """The processes of the driver, stopped at a moment when it writes: stopped ones cannot be done before the kill.

    It runs in short slices once it has begun, for what it does is looked at while it is stopped.
    """
    deadline = time.monotonic() + 3 * TIMEOUT
    while not (run.has_begun() and run.drivers()):
        run.check(deadline, f"the compaction of {run.table.name} did not begin")
        time.sleep(0.05)
    while True:
        drivers = run.drivers()
        _signal(drivers, signal.SIGSTOP)
        if _writing(run.workspace, run.table, run.known) and _all_stopped(drivers):
            return drivers
        _signal(drivers, signal.SIGCONT)
        assert run.drivers(), f"the driver of {run.table.name} ended before it was seen to write"
        run.check(deadline, f"the compaction of {run.table.name} was not seen to write")
        time.sleep(0.02)


def _signal(pids: list[int], sign: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, sign)


def _all_stopped(pids: list[int]) -> bool:
    """A signal takes its time: one that is still running may yet come to its end."""
    return bool(pids) and all(_state(pid) == b"T" for pid in pids)


def _home(workspace: Workspace, table: DemoTable) -> Path:
    folder = workspace.warehouse / "demo"
    return folder / table.name / ".lakekeeper" if table.keys else folder / f".lakekeeper-{table.name}"


def _journals(workspace: Workspace, table: DemoTable) -> Iterator[Path]:
    return _home(workspace, table).glob("*.*/journal")


def _writing(workspace: Workspace, table: DemoTable, known: set[Path]) -> bool:
    """Has a run that was not there before begun to write?"""
    fresh = [journal.parent for journal in _journals(workspace, table) if journal not in known]
    return any(True for run in fresh for _ in run.glob("__compact_tmp_*/**/*.parquet"))


def _unfinished(workspace: Workspace, table: DemoTable) -> list[str]:
    """What a run leaves only while it is at work."""
    return [
        str(path)
        for path in _home(workspace, table).glob("*.*/__*")
        if not path.name.startswith("__originals_")
    ]


def _drivers(workspace: Workspace, table: DemoTable) -> list[int]:
    """The processes of the compaction's driver in this workspace: spark-submit's JVM and its Python."""
    return [
        pid
        for pid in (int(path.name) for path in Path("/proc").glob("[0-9]*"))
        if b"compact.py" in _read(pid, "cmdline") and str(workspace.root).encode() in _read(pid, "environ")
        if table.full_name.encode() in _read(pid, "cmdline")
    ]


def _tasks(drivers: list[int]) -> list[int]:
    """The Airflow process that started the driver: not 0, a process that is gone, nor 1, who adopts orphans.

    A signal to 0 would end the tests themselves.
    """
    parents = {_parent(pid) for pid in drivers} - set(drivers)
    return sorted(parents - {0, 1})


def _parent(pid: int) -> int:
    return int(_stat(pid)[1])


def _state(pid: int) -> bytes:
    return _stat(pid)[0]


def _stat(pid: int) -> list[bytes]:
    """What follows the name, which may hold anything."""
    return _read(pid, "stat").rpartition(b")")[2].split() or [b"gone", b"0"]


def _read(pid: int, name: str) -> bytes:
    try:
        return Path("/proc", str(pid), name).read_bytes()
    except OSError:
        return b""


def _end(api: AirflowClient, run: str) -> str:
    deadline = time.monotonic() + 3 * TIMEOUT
    while time.monotonic() < deadline:
        state = api.state(run)
        if state in ("success", "failed"):
            return state
        time.sleep(0.5)
    raise AssertionError(f"gave up waiting for {run}")
