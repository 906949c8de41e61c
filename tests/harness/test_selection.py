"""Which tests `make test` runs, and which it leaves to `make test-all`: told by pytest itself, on a small folder."""

from __future__ import annotations

import subprocess
import sys

import pytest

from demo.services import paths

TESTS = """
import pytest

def test_plain(): pass

@pytest.mark.full
def test_thorough(): pass

@pytest.mark.one_version
def test_driver_logic(): pass

@pytest.mark.parametrize("cell", [1, pytest.param(2, marks=pytest.mark.full)])
def test_cell(cell): pass
"""


@pytest.fixture
def collected(tmp_path):
    """The names that run and those that are left, as pytest in a Python of this environment's name has it."""
    (tmp_path / "test_a.py").write_text(TESTS)
    left = tmp_path / "left.txt"

    def collect(chosen, env, *options):
        prefix = f"import sys, pytest; sys.prefix = '/x/{env}'; "
        words = [str(tmp_path / "test_a.py"), "-q", "--collect-only", "-p", "tests.harness.selection"]
        words += [
            f"--test-set={chosen}",
            f"--left-out={left}",
            f"--rootdir={tmp_path}",
            "-c",
            "/dev/null",
            *options,
        ]
        done = subprocess.run(
            [sys.executable, "-c", f"{prefix}sys.exit(pytest.main({words!r}))"],
            cwd=paths.ROOT,
            capture_output=True,
            text=True,
        )
        assert done.returncode in (0, 5), done.stdout + done.stderr
        return _names(done.stdout), _names(left.read_text())

    return collect


def _names(text: str) -> list[str]:
    return [line.partition("::")[2] for line in text.splitlines() if "::" in line]


ALL = ["test_plain", "test_thorough", "test_driver_logic", "test_cell[1]", "test_cell[2]"]


def test_plain_pytest_runs_everything(collected):
    assert collected("all", "spark-4.3") == (ALL, [])


def test_the_default_set_on_the_reference_version(collected):
    kept = ["test_plain", "test_driver_logic", "test_cell[1]"]

    assert collected("default", "spark-3.5") == (kept, ["test_thorough", "test_cell[2]"])
    assert collected("default", "airflow-3.3") == (kept, ["test_thorough", "test_cell[2]"])


def test_the_default_set_on_another_version(collected):
    left = ["test_thorough", "test_driver_logic", "test_cell[2]"]

    assert collected("default", "spark-4.3") == (["test_plain", "test_cell[1]"], left)


def test_what_other_options_exclude_is_not_called_left(collected):
    assert collected("default", "spark-4.3", "-k", "cell") == (["test_cell[1]"], ["test_cell[2]"])
