"""The row of each table in the list, and the figures of all tables with their trends."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from lakekeeper_provider.options.option import ANALYZE, CLEANUP, COMPACT, ROLLBACK
from lakekeeper_provider.options.parsers import seconds
from lakekeeper_provider.page.observations import number
from lakekeeper_provider.page.tables import HELD, SWAPPED, Newest, View

DAY = 86_400
#: For so many days figures are summed up and shown.
DAYS = 30
#: The pace is that of so many days.
_PACE_DAYS = 7
#: A sparkline has at most so many points.
SPARK = 40


@dataclass(frozen=True)
class Row:
    """A table in the list. A figure that is not known is None.

    Args:
        small: the files of partitions that are worth a compaction
        undoable: the newest compaction that has rewritten anything; None if it was rolled back
        attempted: the newest compaction, whatever became of it
        codes: of its warnings and refusals, with how often
        held_until: when a cleanup may delete the oldest originals, in seconds since the epoch
        spark: files over time
        removed: files less by compactions, by day
        history: by day, the small files at its end
    """

    server: str
    name: str
    files: float | None
    bytes: float | None
    small: float | None
    flagged: int
    verb: str
    outcome: str
    reason: str | None
    at: float
    last: Newest
    undoable: Newest | None
    attempted: Newest | None
    codes: dict[str, int]
    held_bytes: float
    held_runs: int
    held_since: str | None
    held_until: float | None
    open_since: str | None
    spark: Sequence[float]
    removed: dict[int, float] = field(default_factory=dict)
    history: dict[int, float] = field(default_factory=dict)

    @property
    def database(self) -> str:
        return self.name.partition(".")[0]

    @property
    def average(self) -> float | None:
        """Return the average size of a file in bytes."""
        return self.bytes / self.files if self.files and self.bytes is not None else None

    @property
    def can_be_rolled_back(self) -> bool:
        return self.held_runs > 0


def row(view: View) -> Row:
    """Return the row of a table."""
    last = view.newest()
    assert last is not None  # noqa: S101 - a view has a track, and a track an observation
    looked = view.newest(ANALYZE, COMPACT) or last
    record, found = last.record, looked.record
    points = list(view.points())
    now = points[-1]
    held = _held(view)
    return Row(
        server=view.server,
        name=view.name,
        files=_known(now.files),
        bytes=_known(now.bytes),
        small=_known(now.small),
        flagged=int(number(found.get("flagged"))) + _count(found, ("deferred", "failed", "changed")),
        verb=last.verb,
        outcome=str(record.get("outcome")),
        reason=record.get("reason"),
        at=last.at,
        last=last,
        undoable=_undoable(view),
        attempted=view.newest(COMPACT),
        codes=_codes(record, found),
        held_bytes=number(held.get("held_bytes")),
        held_runs=int(number(held.get("held_runs"))),
        held_since=held.get("held_since"),
        held_until=_until(held.get("held_since"), view.newest(CLEANUP)),
        open_since=_open_since(found),
        spark=_thinned([point.files for point in points if point.files == point.files]),
        removed=_removed(view),
        history=_by_day((point.at, point.small) for point in points),
    )


def _held(view: View) -> dict[str, Any]:
    """Return what is held: as the newest analysis or compaction says, less what was put back or deleted since."""
    newest = view.newest(HELD)
    if newest is None:
        return {}
    record = newest.record
    size, runs = number(record.get("held_bytes")), number(record.get("held_runs"))
    for later in (view.newest(ROLLBACK), view.newest(CLEANUP)):
        if later is not None and later.at > newest.at:
            size -= _gone(later.record)
            runs -= bool(later.record.get("rewritten"))
    held = {"held_bytes": max(size, 0.0), "held_runs": max(runs, 0) if size > 0 else 0}
    return {**record, **held}


def _gone(record: dict[str, Any]) -> float:
    """Return the bytes of originals that a rollback has put back, or a cleanup deleted."""
    told = record.get("rewritten") or {}
    return sum(map(number, (told.get("bytes_after"), record.get("freed_bytes"), record.get("trashed_bytes"))))


def _known(value: float) -> float | None:
    return value if value == value else None


def _count(record: dict[str, Any], outcomes: Iterable[str]) -> int:
    told = record.get("outcomes")
    return int(sum(number(told.get(each)) for each in outcomes)) if isinstance(told, dict) else 0


def _codes(*records: dict[str, Any]) -> dict[str, int]:
    found: dict[str, int] = {}
    for record in records:
        for key in ("warning_codes", "skipped"):
            told = record.get(key)
            found |= {str(code): int(number(n)) for code, n in told.items()} if isinstance(told, dict) else {}
        if record.get("code"):
            found.setdefault(str(record["code"]), 1)
    return found


def _until(since: Any, cleaned: Newest | None) -> float | None:
    """Return when the oldest originals are old enough for the cleanup, by the retention of the newest one."""
    began = epoch(since)
    older_than = cleaned.retention[0] if cleaned else None
    if began is None or not isinstance(older_than, str):
        return None
    try:
        return began + seconds(older_than)
    except (ValueError, KeyError, IndexError):
        return None


def epoch(text: Any) -> float | None:
    """Return a time of a report in seconds since the epoch."""
    try:
        return datetime.fromisoformat(str(text).replace("Z", "+00:00")).timestamp()
    except ValueError:
        return None


def _open_since(record: dict[str, Any]) -> str | None:
    told = [record.get(key) for key in ("open", "open_refused")]
    since = [str(each["since"]) for each in told if isinstance(each, dict) and each.get("since")]
    return min(since, default=None) or record.get("deferred_since")


def _thinned(values: Sequence[float]) -> Sequence[float]:
    """Return at most ``SPARK`` values, the last one among them."""
    step = math.ceil(len(values) / SPARK)
    return values if step <= 1 else values[::-1][::step][::-1]


def _removed(view: View) -> dict[int, float]:
    """Return how many files less there are by jobs, by day; a rollback brings files back."""
    days: dict[int, float] = {}
    for at, files in view.removals():
        day = int(at // DAY)
        days[day] = days.get(day, 0.0) + files
    return days


def _undoable(view: View) -> Newest | None:
    """Return the newest compaction that has rewritten anything; None if it was rolled back since."""
    newest, back = view.newest(SWAPPED), view.newest(ROLLBACK)
    if newest is None or back is None or back.at < newest.at or not back.record.get("rewritten"):
        return newest
    return None


def _by_day(values: Iterable[tuple[float, float]]) -> dict[int, float]:
    """Return the last known value of each day."""
    return {int(at // DAY): value for at, value in values if value == value}


@dataclass(frozen=True)
class Figures:
    """The figures of all tables that somebody may see.

    Args:
        removed: files removed in the last ``DAYS`` days
        unknown: tables of which no analysis has looked at all partitions
        small_by_day: the small files at the end of each day of these, the oldest first
        removed_by_day: likewise
        nights_left: at the pace of the last week; None if it does not shrink
        held_until: when the first originals may be deleted
        open_since: since when the table that waits longest has waited, and its name
    """

    tables: int
    small: float
    unknown: int
    removed: float
    held_bytes: float
    held_tables: int
    held_until: float | None
    small_by_day: Sequence[float]
    removed_by_day: Sequence[float]
    nights_left: float | None
    open_since: tuple[str, str] | None


def figures(rows: Sequence[Row], now: float) -> Figures:
    """Sum the rows up.

    Args:
        now: seconds since the epoch
    """
    today = int(now // DAY)
    days = range(today - DAYS + 1, today + 1)
    removed_by_day = _sums((each.removed for each in rows), days)
    small = sum(each.small or 0 for each in rows)
    waiting = [(each.open_since, each.name) for each in rows if each.open_since]
    until = [each.held_until for each in rows if each.held_until is not None and each.held_runs]
    return Figures(
        tables=len(rows),
        small=small,
        unknown=sum(each.small is None for each in rows),
        removed=sum(removed_by_day),
        held_bytes=sum(each.held_bytes for each in rows),
        held_tables=sum(each.held_runs > 0 for each in rows),
        held_until=min(until, default=None),
        small_by_day=_levels((each.history for each in rows), days),
        removed_by_day=removed_by_day,
        nights_left=_nights_left(small, removed_by_day),
        open_since=min(waiting, default=None),
    )


def _nights_left(small: float, removed_by_day: Sequence[float]) -> float | None:
    nights = [each for each in removed_by_day[-_PACE_DAYS:] if each > 0]
    return small * len(nights) / sum(nights) if nights else None


def _sums(tables: Iterable[dict[int, float]], days: range) -> list[float]:
    total = dict.fromkeys(days, 0.0)
    for table in tables:
        for day, value in table.items():
            if day in total:
                total[day] += value
    return list(total.values())


def _levels(tables: Iterable[dict[int, float]], days: range) -> list[float]:
    """Return the sums at the end of each day: a table keeps its last value on the days without one."""
    changes = dict.fromkeys(days, 0.0)
    for table in tables:
        before = 0.0
        for day, value in table.items():
            if day <= days[-1]:
                changes[max(day, days[0])] += value - before
                before = value
    total, sums = 0.0, []
    for day in days:
        total += changes[day]
        sums.append(total)
    return sums
