"""What the DAG runs of last night have done, as far as somebody may see it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lakekeeper_provider.page.records import number
from lakekeeper_provider.page.tables import View
from lakekeeper_provider.page.tracks import TRIED, Newest

#: A night ends with the newest compaction. It is longer than a maintenance window, and shorter than a day.
_SECONDS = 12 * 3_600


@dataclass(frozen=True)
class Night:
    """The newest compactions of all tables, of one night.

    Args:
        runs: DAG and DAG run, with how many tables each has compacted, most first
        tables: of how many tables anything was compacted
        partitions: how many of each outcome
        at: when the last one ended, in seconds since the epoch
    """

    runs: Sequence[tuple[str, str, int]]
    tables: int
    partitions: Mapping[str, int]
    at: float

    @property
    def compacted(self) -> int:
        return self.partitions.get("compacted", 0)

    @property
    def deferred(self) -> int:
        return self.partitions.get("deferred", 0) + self.partitions.get("changed", 0)

    @property
    def failed(self) -> int:
        return self.partitions.get("failed", 0) + self.partitions.get("quarantined", 0)


def last_night(views: Sequence[View], on_demand: str) -> Night | None:
    """Return what was compacted last night; None if nothing was ever tried.

    Args:
        on_demand: the DAG that persons trigger: what it has compacted is a night only if no other DAG has compacted
    """
    newest = _attempts(views, besides=on_demand) or _attempts(views)
    if not newest:
        return None
    ended = max(each.at for each in newest)
    found = [each for each in newest if each.at > ended - _SECONDS]
    records = [each.record for each in found]
    return Night(
        runs=_runs(found),
        tables=sum(bool(each.get("rewritten")) for each in records),
        partitions=outcomes(records),
        at=ended,
    )


def _attempts(views: Iterable[View], besides: str | None = None) -> list[Newest]:
    return [found for view in views if (found := view.newest(TRIED, besides=besides)) is not None]


def _runs(found: Iterable[Newest]) -> list[tuple[str, str, int]]:
    tables: Counter[tuple[str, str]] = Counter()
    for each in found:
        tables[each.source.dag_id, each.source.run_id] += bool(each.record.get("rewritten"))
    return [(*run, many) for run, many in tables.most_common()]


def outcomes(records: Iterable[Mapping[str, Any]]) -> Counter[str]:
    """Return how many partitions have ended how."""
    found: Counter[str] = Counter()
    for record in records:
        told = record.get("outcomes")
        found.update({str(k): int(number(n)) for k, n in told.items()} if isinstance(told, dict) else {})
    return found
