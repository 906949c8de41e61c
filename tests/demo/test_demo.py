"""`make demo`, from nothing to its table; then `make up`, and a rollback as a person does it in the UI."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from demo.tables import TABLES
from demo.workspace import DAG, Workspace

pytestmark = pytest.mark.live
File = tuple[str, int, int]


def test_the_demo_keeps_its_promises(demo):
    assert demo.done.returncode == 0, demo.done.stdout + demo.done.stderr
    for files in ("500 -> 1", "600 -> 3", "900 -> 9"):
        assert files in demo.done.stdout
    assert demo.processes == []


def test_a_cleared_rollback_task_restores_every_file(demo, api):
    """Names, sizes and times, with rows that were added since; a second clear finds nothing to do."""
    workspace = demo.workspace
    originals = {table.name: _originals(workspace, table.name) for table in TABLES}
    assert [len(files) for files in originals.values()] == [table.files for table in TABLES]
    added = _append(workspace, "lakekeeper_flat")

    run = api.get(f"/dags/{DAG}/dagRuns?order_by=-run_after")["dag_runs"][0]["dag_run_id"]
    for _ in range(2):
        assert api.clear_task(run, "rollback") == "success"
        for table in TABLES:
            restored = _live(workspace, table.name)
            assert originals[table.name] <= restored
            new = restored - originals[table.name]
            assert [size for _, size, _ in new] == ([added] if table.name == "lakekeeper_flat" else [])


def _originals(workspace: Workspace, table: str) -> set[File]:
    """The files of the backup, by the operating system's own listing."""
    folder = workspace.warehouse / "demo"
    found = list(folder.glob(f"{table}/.lakekeeper/*.*/__originals_*")) + list(
        folder.glob(f".lakekeeper-{table}/*.*/__originals_*/{table}")
    )
    [old] = found
    return _files(old)


def _live(workspace: Workspace, table: str) -> set[File]:
    return _files(workspace.warehouse / "demo" / table)


def _files(folder: Path) -> set[File]:
    found = set()
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            if not name.startswith("."):
                path = Path(parent, name)
                stat = path.stat()
                found.add((str(path.relative_to(folder)), stat.st_size, stat.st_mtime_ns))
    return found


def _append(workspace: Workspace, table: str) -> int:
    """A writer that adds a file after the compaction; returns its size."""
    folder = workspace.warehouse / "demo" / table
    source = next(folder.glob("*.parquet"))
    return (folder / "part-late.parquet").write_bytes(source.read_bytes())
