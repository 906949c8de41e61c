"""How far the work on many units is: what is done, how fast, and about how long the rest takes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from spark_jobs.core.messages.readable import duration, human
from spark_jobs.core.values.amount import NONE, Amount
from spark_jobs.protocol.ports import Clock

#: Seconds between two lines about the progress.
INTERVAL = 15


class Progress:
    """The progress of a known amount of work.

    Args:
        total: all of it.
        now: the time at which it begins, in seconds of a clock that never jumps.
    """

    def __init__(self, total: Amount, now: float) -> None:
        self._total, self._began, self._shown = total, now, now
        self._done = NONE

    def add(self, done: Amount, now: float) -> str | None:
        """Add what was done; return a line about the whole if one is due: now and then, but not at the end."""
        self._done += done
        if now - self._shown < INTERVAL or self._done.units >= self._total.units:
            return None
        self._shown = now
        return self.text(now)

    def text(self, now: float) -> str:
        """Return what is done, the bytes of each second, and the time that the rest will take at this rate.

        The rate counts all that was done so far. The rest is measured in bytes, or in units if their bytes are not
        known before; it is not estimated in the first half minute.
        """
        done, total, seconds = self._done, self._total, max(now - self._began, 0.001)
        parts = [f"{done.units:,} of {total.units:,} units"]
        if total.files:
            parts += [f"{done.files:,} of {total.files:,} files"]
        if total.bytes:
            parts += [f"{human(done.bytes)} of {human(total.bytes)}", f"{human(done.bytes / seconds)}/s"]
        part = done.bytes / total.bytes if total.bytes else done.units / total.units
        # A first unit that was slow, because it was the first one, says nothing of the others.
        if part and seconds >= 2 * INTERVAL and done.units < total.units:
            parts.append(f"about {duration(seconds / part - seconds)} left")
        return ", ".join(parts)


log = logging.getLogger("lakekeeper")

Result = TypeVar("Result")


def with_progress(
    clock: Clock, what: str, total: Amount, results: Iterable[Result], done: Callable[[Result], Amount]
) -> Iterator[Result]:
    """Yield results as they come.

    Args:
        what: what is done to the units, for the log.
        total: all of the work.
        done: returns how much of it a result stands for.
    """
    progress = Progress(total, clock.monotonic())
    for result in results:
        if text := progress.add(done(result), clock.monotonic()):
            log.info("progress: %s %s", what, text)
        yield result
