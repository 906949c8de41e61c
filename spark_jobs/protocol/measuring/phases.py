"""How long a job was in each of its phases, for the report."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

#: The phases in the order of a compaction, and what each includes.
PHASES = {
    "start": "Start Spark and its connections.",
    "list": "Read the metastore, find unfinished runs, list directories, plan.",
    "footers": "Read the footers of the files to rewrite.",
    "read": "Let Spark list the files to rewrite. In a joint write of small units this is part of `write`.",
    "write": "Write the new files, which includes reading the rows.",
    "verify": "Compare the new files with the old ones. Of a check: compare all files with the journals.",
    "swap": "Publish the journal, check each unit again, rename its directories. Of a cleanup: delete originals.",
    "register": "Create or update the backup table.",
    "log": "Close the run, and write the commit log.",
}


class Phases:
    """The time spans of each phase. Several threads may be in one phase, or in different ones, at the same time."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._spans: dict[str, list[tuple[float, float]]] = {phase: [] for phase in PHASES}
        self._lock = threading.Lock()

    @contextmanager
    def during(self, phase: str) -> Iterator[None]:
        """Count the time of the block for a phase, also if the block fails. Raise KeyError for an unknown phase."""
        spans, began = self._spans[phase], self._monotonic()
        try:
            yield
        finally:
            with self._lock:
                spans.append((began, self._monotonic()))

    def add(self, phase: str, seconds: float) -> None:
        """Count seconds that ended now."""
        now = self._monotonic()
        with self._lock:
            self._spans[phase].append((now - seconds, now))

    def seconds(self) -> dict[str, float]:
        """Return, for each phase that the job had, the seconds in which at least one thread was in it.

        Phases of different units overlap, so that the sum may be more than the time of the job.
        """
        with self._lock:
            return {phase: round(_covered(spans), 3) for phase, spans in self._spans.items() if spans}


def describe(seconds: Mapping[str, float]) -> str:
    """Return the seconds of each phase in one line."""
    return ", ".join(f"{phase} {spent:.1f} s" for phase, spent in seconds.items()) or "none"


def _covered(spans: list[tuple[float, float]]) -> float:
    """Return the length of the union of spans."""
    total, end = 0.0, float("-inf")
    for began, ended in sorted(spans):
        total += max(0.0, ended - max(began, end))
        end = max(end, ended)
    return total
