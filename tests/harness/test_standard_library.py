"""`make demo` and `make test` start with a Python that has no packages installed."""

from __future__ import annotations

import subprocess
import sys

import pytest

from demo.services import paths

MODULES = (
    *("demo.run", "demo.ui", "demo.airflow_server"),
    *("demo.services.environments", "demo.services.machine", "benchmarks.run"),
    *("tests.harness.suite", "tests.harness.wheel", "tests.cluster.run", "tests.cluster.tried"),
)


@pytest.mark.parametrize("module", MODULES)
def test_what_make_starts_imports_the_standard_library_only(module):
    # -S: without the packages of this environment.
    command = [sys.executable, "-S", "-c", f"import {module}"]
    done = subprocess.run(command, cwd=paths.ROOT, capture_output=True, text=True)

    assert done.returncode == 0, done.stderr
