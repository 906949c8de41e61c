"""The demo, run once for all tests that look at what it leaves; its Airflow, served once for all that clear tasks."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from demo.services import paths
from demo.workspace import Place
from tests.demo.airflow_client import Api, processes_below, python, serving

LIMIT = 1800  # seconds; less than the suite has, which would end it without a word of what the demo said


@dataclass(frozen=True)
class Demo:
    """A demo that has ended, and the processes that it left."""

    place: Place
    done: subprocess.CompletedProcess[str]
    processes: list[str]


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    place = Place(tmp_path_factory.mktemp("demo") / "demo")
    command = [python(), "-m", "demo.run", "--scratch", place.root]
    try:
        done = subprocess.run(command, cwd=paths.ROOT, capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired as error:
        pytest.fail(f"the demo did not end within {LIMIT} s; it said:\n{error.stdout!r}")
    return Demo(place, done, processes_below(place.root.parent))


@pytest.fixture(scope="session")
def api(demo: Demo) -> Iterator[Api]:
    """What `make up` runs. Stopped, it leaves no process."""
    with serving(demo.place) as running:
        yield running
    assert processes_below(demo.place.root.parent) == []
