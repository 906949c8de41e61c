"""The demo's steps: what is going on, for how long, and where its log is."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from demo.services import paths
from demo.services.processes import has_ended, spawn, stop, sweep, tail

BEGUN = time.monotonic()
HEARTBEAT = 15


class StepFailed(Exception):
    """A step did not work; the message holds the end of its log."""


def announce(title: str) -> None:
    print(f"[{time.monotonic() - BEGUN:4.0f} s] {title}", flush=True)


def run(title: str, command: Sequence[str | Path], *, log: Path, env: Mapping[str, str]) -> None:
    """Run a program with its output in a log, and show that it lives. What it leaves behind is ended."""
    announce(f"{title} (log: {shown(log)})")
    process = spawn(command, log=log, cwd=paths.ROOT, env=env)
    try:
        begun = beat = time.monotonic()
        while not has_ended(process):
            time.sleep(0.1)
            beat = _heartbeat(begun, beat, log)
        sweep(process)
    finally:
        code = stop(process)
    if code:
        raise StepFailed(f"{title}: failed with {code}. The end of {shown(log)}:\n{tail(log)}")


def _heartbeat(begun: float, last: float, log: Path) -> float:
    now = time.monotonic()
    if now - last < HEARTBEAT:
        return last
    print(f"         ... {now - begun:.0f} s{_current_task(log)}", flush=True)
    return now


def _current_task(log: Path) -> str:
    """Where Airflow's runner is, if that is what we are waiting for."""
    started = re.findall(
        r"\[DAG TEST\] starting task_id=(\S+) map_index=(\S+)", log.read_text(errors="replace")
    )
    if not started:
        return ""
    task, index = started[-1]
    return f", {task}" if index == "-1" else f", {task} [{index}]"


def shown(path: Path) -> str:
    """As the reader would type it from the checkout."""
    return str(path.relative_to(paths.ROOT)) if path.is_relative_to(paths.ROOT) else str(path)
