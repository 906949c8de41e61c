"""The demo, run once for all tests that look at what it leaves."""

from __future__ import annotations

import subprocess

import pytest

from tests.demo.place import Place
from tests.demo.served import python
from tests.harness import paths


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Place, subprocess.CompletedProcess[str]]:
    place = Place(tmp_path_factory.mktemp("demo") / "demo")
    command = [python(), "-m", "tests.demo.run", "--scratch", place.root]
    return place, subprocess.run(command, cwd=paths.ROOT, capture_output=True, text=True)
