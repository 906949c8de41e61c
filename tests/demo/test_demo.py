"""`make demo`, from nothing to its table, in a folder of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.harness import paths

pytestmark = pytest.mark.live


def test_the_demo_keeps_its_promises(tmp_path):
    done = subprocess.run(
        [_python(), "-m", "tests.demo.run", "--scratch", tmp_path / "demo"],
        cwd=paths.ROOT,
        capture_output=True,
        text=True,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    for files in ("500 -> 1", "600 -> 3", "900 -> 9"):
        assert files in done.stdout
    assert not list(_processes_below(tmp_path))


def _python() -> str:
    """The one below the environment: the stamps of the environments tell it from others."""
    return str(Path(sys.executable).resolve())


def _processes_below(folder: Path) -> list[str]:
    """Command lines that name the folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = entry.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if str(folder) in command:
            found.append(command)
    return found
