"""The row of each table in the list, and the figures of all tables with their trends."""

from __future__ import annotations

import logging
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from lakekeeper_provider.options.option import ANALYZE, COMPACT
from lakekeeper_provider.options.parsers import seconds
from lakekeeper_provider.page.records import number
from lakekeeper_provider.page.tables import Point, View
from lakekeeper_provider.page.tracks import HELD, RESTORED, RETENTION, SWAPPED, TRIED, WHOLE, Newest
from lakekeeper_provider.page.trends import Trends, thinned
from lakekeeper_provider.report.backlog import Backlog

log = logging.getLogger(__name__)

#: What a cleanup like the newest one does with the oldest originals: none has run yet, it keeps as many compactions as
#: there are, it may delete them the next time it runs, it may from a certain time on, or it is not known.
NEVER, KEPT, NEXT, AGED, UNCLEAR = "never", "kept", "next", "aged", "unclear"


@dataclass(frozen=True, slots=True)
class Row:
    """A table in the list. A figure that is not known is None.

    Args:
        small: the files of partitions that are worth a compaction
        undoable: the newest compaction that has rewritten anything; None if it was rolled back
        codes: of its warnings and refusals, with how often
        cleanup: what becomes of the oldest originals: ``NEVER`` and the like
        held_until: when a cleanup may delete them, in seconds since the epoch
        spark: files over time
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
    codes: dict[str, int]
    held_bytes: float
    held_runs: int
    held_since: str | None
    cleanup: str
    held_until: float | None
    open_since: str | None
    spark: Sequence[float]

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


def row(view: View, now: float) -> Row:
    """Return the row of a table.

    Args:
        now: seconds since the epoch
    """
    return _row(view, list(view.points()), now)


def _row(view: View, points: Sequence[Point], now: float) -> Row:
    last = view.newest()
    assert last is not None  # noqa: S101 - a view has a track, and a track an observation
    looked = view.newest(ANALYZE, COMPACT) or last
    record, found = last.record, looked.record
    size = points[-1]
    held = _held(view)
    cleanup, until = _retention(held, view.newest(RETENTION), now)
    return Row(
        server=view.server,
        name=view.name,
        files=_known(size.files),
        bytes=_known(size.bytes),
        small=_known(size.small),
        flagged=_flagged(view),
        verb=last.verb,
        outcome=str(record.get("outcome")),
        reason=record.get("reason"),
        at=last.at,
        last=last,
        undoable=_undoable(view),
        codes=_codes(record, found),
        held_bytes=number(held.get("held_bytes")),
        held_runs=int(number(held.get("held_runs"))),
        held_since=held.get("held_since"),
        cleanup=cleanup,
        held_until=until,
        open_since=_open_since(found),
        spark=array("d", thinned([point.files for point in points if point.files == point.files])),
    )


def _held(view: View) -> dict[str, Any]:
    """Return what is held, as the newest job says that has looked."""
    newest = view.newest(HELD)
    return newest.record if newest is not None else {}


def _flagged(view: View) -> int:
    """Return how many partitions are worth a compaction: the newest analysis of all, less what was compacted since.

    Without an analysis, those that the newest compaction has left.
    """
    analysed, tried = view.newest(WHOLE), view.newest(TRIED)
    if analysed is not None:
        return max(int(number(analysed.record.get("flagged"))) - view.compacted_after(analysed.at), 0)
    return _count(tried.record, ("deferred", "failed", "changed")) if tried else 0


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


def _retention(held: Mapping[str, Any], cleaned: Newest | None, now: float) -> tuple[str, float | None]:
    """Return what a cleanup like the newest one does with the oldest originals, and from when on."""
    if cleaned is None:
        return NEVER, None
    older_than, keep_last = cleaned.retention
    if number(keep_last) >= number(held.get("held_runs")):
        return KEPT, None
    if older_than is None:
        return NEXT, None
    until = _later(epoch(held.get("held_since")), older_than)
    if until is None:
        return UNCLEAR, None
    return (AGED if until > now else NEXT), until


def _later(began: float | None, age: Any) -> float | None:
    """Return a time and an age after it, such as ``7d``; None where one of them is none."""
    try:
        return began + seconds(age) if began is not None and isinstance(age, str) else None
    except (ValueError, KeyError, IndexError, OverflowError):
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


def _undoable(view: View) -> Newest | None:
    """Return the newest compaction that has rewritten anything; None if it was rolled back since."""
    newest, back = view.newest(SWAPPED), view.newest(RESTORED)
    return newest if newest is None or back is None or back.at < newest.at else None


@dataclass(frozen=True)
class Figures:
    """The figures of all tables that somebody may see.

    Args:
        small_tables: those that have any
        unknown: tables of which no analysis has looked at all partitions
        cleanups: of how many tables the originals are held how: ``NEVER`` and the like
        held_until: when the first originals may be deleted
        open_since: since when the table that waits longest has waited, and its name
        trends: small files and removed files by day
    """

    tables: int
    small: float
    small_tables: int
    unknown: int
    held_bytes: float
    held_tables: int
    cleanups: Mapping[str, int]
    held_until: float | None
    open_since: tuple[str, str] | None
    trends: Trends

    @property
    def removed(self) -> float:
        """Return how many files were removed in all days that are shown, less those that were brought back."""
        return max(sum(self.trends.removed), 0.0)

    @property
    def backlog(self) -> Backlog:
        return self.trends.backlog


def of_all(views: Iterable[View], now: float) -> tuple[list[Row], Figures]:
    """Return the rows of tables, and their sums.

    Args:
        now: seconds since the epoch
    """
    rows, trends = [], Trends.until(now)
    for view in views:
        points = list(view.points())
        try:
            rows.append(_row(view, points, now))
        except Exception as error:  # One table that cannot be shown hides no other.
            log.warning("a table is left out of the list: %r", error)
        else:
            trends.add(points, view.removals())
    return rows, _figures(rows, trends)


def _figures(rows: Sequence[Row], trends: Trends) -> Figures:
    waiting = [(each.open_since, each.name) for each in rows if each.open_since]
    held = [each for each in rows if each.can_be_rolled_back]
    until = [each.held_until for each in held if each.held_until is not None]
    return Figures(
        tables=len(rows),
        small=sum(each.small or 0 for each in rows),
        small_tables=sum(bool(each.small) for each in rows),
        unknown=sum(each.small is None for each in rows),
        held_bytes=sum(each.held_bytes for each in rows),
        held_tables=len(held),
        cleanups=Counter(each.cleanup for each in held),
        held_until=min(until, default=None),
        open_since=min(waiting, default=None),
        trends=trends,
    )
