"""Logs how far a long step is, from time to time."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from spark_jobs.core.values.amount import Amount
from spark_jobs.protocol.measuring.progress import Progress
from spark_jobs.protocol.ports import Clock

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
