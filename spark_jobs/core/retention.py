"""Which runs may give up their originals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True)
class Candidate:
    """A run that still holds originals, and when it swapped the last of them."""

    run_id: str
    committed_at: datetime


def expired(
    runs: Sequence[Candidate], now: datetime, older_than: timedelta | None, keep_last: int = 0
) -> list[Candidate]:
    """Runs past the retention, oldest first; the newest `keep_last` always stay."""
    newest_first = sorted(runs, key=lambda run: run.committed_at, reverse=True)
    spared = newest_first[keep_last:]
    due = [run for run in spared if older_than is None or now - run.committed_at >= older_than]
    return sorted(due, key=lambda run: run.committed_at)
