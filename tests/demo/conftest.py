"""Run the demo once for all tests of its result, and its Airflow once for all tests that clear tasks."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from demo.services import paths
from demo.workspace import Workspace
from tests.demo.airflow_client import AirflowClient, python, running_airflow
from tests.harness.process_table import processes_naming

LIMIT = 1800  # seconds; less than that of the suite, which would be stopped without the demo's output


@dataclass(frozen=True)
class Demo:
    """A demo that has ended, and the processes that it left."""

    workspace: Workspace
    done: subprocess.CompletedProcess[str]
    processes: list[str]


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    workspace = Workspace(tmp_path_factory.mktemp("demo") / "demo")
    command = [python(), "-m", "demo.run", "--scratch", workspace.root]
    try:
        done = subprocess.run(command, cwd=paths.ROOT, capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired as error:
        pytest.fail(f"the demo did not end within {LIMIT} s; it said:\n{error.stdout!r}")
    return Demo(workspace, done, processes_naming(workspace.root.parent))


@pytest.fixture(scope="session")
def api(demo: Demo) -> Iterator[AirflowClient]:
    """What `make up` runs. Stopped, it leaves no process."""
    with running_airflow(demo.workspace) as client:
        yield client
    assert processes_naming(demo.workspace.root.parent) == []
