"""Run the steps of the demo: print their titles, durations and logs."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from demo.services import paths
from demo.services.processes import has_ended, kill_session, spawn, stop, tail

START = time.monotonic()
HEARTBEAT_SECONDS = 15


class StepFailed(Exception):
    """A step has failed; the message contains the end of its log."""


def announce(title: str) -> None:
    """Print the title of a step, with the seconds since the start."""
    print(f"[{time.monotonic() - START:4.0f} s] {title}", flush=True)


def run(title: str, command: Sequence[str | Path], *, log: Path, env: Mapping[str, str]) -> None:
    """Run a program with its output in a log, print a line from time to time, and kill the processes that it left."""
    announce(f"{title} (log: {relative_to_checkout(log)})")
    process = spawn(command, log=log, cwd=paths.ROOT, env=env)
    try:
        start = last_line = time.monotonic()
        while not has_ended(process):
            time.sleep(0.1)
            last_line = _heartbeat(start, last_line, log)
        kill_session(process)
    finally:
        code = stop(process)
    if code:
        raise StepFailed(f"{title}: failed with {code}. The end of {relative_to_checkout(log)}:\n{tail(log)}")


def _heartbeat(start: float, last_line: float, log: Path) -> float:
    """Print a line if the last one is old enough; return the time of the last one."""
    now = time.monotonic()
    if now - last_line < HEARTBEAT_SECONDS:
        return last_line
    print(f"         ... {now - start:.0f} s{_current_task(log)}", flush=True)
    return now


def _current_task(log: Path) -> str:
    """Return the task that `airflow dags test` has started last; empty in logs of other programs."""
    started = re.findall(
        r"\[DAG TEST\] starting task_id=(\S+) map_index=(\S+)", log.read_text(errors="replace")
    )
    if not started:
        return ""
    task, index = started[-1]
    return f", {task}" if index == "-1" else f", {task} [{index}]"


def relative_to_checkout(path: Path) -> str:
    """Return the path relative to the checkout; the absolute path if it is not in the checkout."""
    return str(path.relative_to(paths.ROOT)) if path.is_relative_to(paths.ROOT) else str(path)
