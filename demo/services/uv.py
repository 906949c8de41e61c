"""Run uv, which makes the environments and resolves their lock files."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from demo.services import package_index, paths, pythons
from demo.services.machine import MachineError

VERSION = "uv==0.13.8"
PROGRAM = paths.env_dir("tools") / "bin" / "uv"

STARTED = time.monotonic()


def ensure() -> None:
    """Install uv into the environment `tools`, unless it is there."""
    stamp = paths.env_dir("tools") / "stamp"
    if stamp.exists() and stamp.read_text() == VERSION:
        return
    print_progress(f"tools: {VERSION}")
    _run([sys.executable, "-m", "venv", paths.env_dir("tools")], hint=pythons.VENV_HINT)
    pip = [paths.env_python("tools"), "-m", "pip", "install", "--quiet", VERSION]
    _run(pip, hint=package_index.NETWORK_HINT)
    stamp.write_text(VERSION)


def run(*arguments: str | Path) -> None:
    """Run uv; raise MachineError if it fails."""
    # At a terminal, uv shows the progress of long downloads.
    quiet = [] if sys.stderr.isatty() else ["--quiet"]
    environ = {**os.environ, **package_index.uv_settings()}
    _run([PROGRAM, *arguments, *quiet], hint=package_index.NETWORK_HINT, env=environ)


def print_progress(text: str) -> None:
    print(f"[{time.monotonic() - STARTED:4.0f} s] {text}", flush=True)


def _run(command: list[str | Path], *, hint: str, env: dict[str, str] | None = None) -> None:
    words = [str(word) for word in command]
    if subprocess.run(words, env=env, cwd=paths.ROOT).returncode:
        raise MachineError(f"failed: {' '.join(words)}\n{hint}")
