"""Run the steps of the demo: print their titles, durations and logs."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
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


class Heartbeat:
    """Prints a line from time to time, so that a long step is seen to work.

    Args:
        what: returns what is being done now; may be empty.
    """

    def __init__(self, what: Callable[[], str] = str) -> None:
        self._what = what
        self._start = self._last = time.monotonic()

    def beat(self) -> None:
        """Print a line if the last one is old enough."""
        now = time.monotonic()
        if now - self._last < HEARTBEAT_SECONDS:
            return
        self._last = now
        print(
            "         ... " + ", ".join(filter(None, [f"{now - self._start:.0f} s", self._what()])),
            flush=True,
        )


def run(title: str, command: Sequence[str | Path], *, log: Path, env: Mapping[str, str]) -> None:
    """Run a program with its output in a log, print a line from time to time, and kill the processes that it left."""
    announce(f"{title} (log: {relative_to_checkout(log)})")
    process = spawn(command, log=log, cwd=paths.ROOT, env=env)
    heartbeat = Heartbeat()
    try:
        while not has_ended(process):
            time.sleep(0.1)
            heartbeat.beat()
        kill_session(process)
    finally:
        code = stop(process)
    if code:
        raise StepFailed(f"{title}: failed with {code}. The end of {relative_to_checkout(log)}:\n{tail(log)}")


def relative_to_checkout(path: Path) -> str:
    """Return the path relative to the checkout; the absolute path if it is not in the checkout."""
    return str(path.relative_to(paths.ROOT)) if path.is_relative_to(paths.ROOT) else str(path)
