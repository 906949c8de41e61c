"""The row of each table in the list, and the figures of all tables with their trends."""

from __future__ import annotations

import logging
from array import array
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


@dataclass(frozen=True, slots=True)
class Row:
    """A table in the list. A figure that is not known is None.

    Args:
        small: the files of partitions that are worth a compaction
        undoable: the newest compaction that has rewritten anything; None if it was rolled back
        codes: of its warnings and refusals, with how often
        held_until: when a cleanup may delete the oldest originals, in seconds since the epoch
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


def row(view: View) -> Row:
    """Return the row of a table."""
    return _row(view, list(view.points()))


def _row(view: View, points: Sequence[Point]) -> Row:
    last = view.newest()
    assert last is not None  # noqa: S101 - a view has a track, and a track an observation
    looked = view.newest(ANALYZE, COMPACT) or last
    record, found = last.record, looked.record
    now = points[-1]
    held = _held(view)
    return Row(
        server=view.server,
        name=view.name,
        files=_known(now.files),
        bytes=_known(now.bytes),
        small=_known(now.small),
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
        held_until=_until(held, view.newest(RETENTION)),
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


def _until(held: Mapping[str, Any], cleaned: Newest | None) -> float | None:
    """Return when a cleanup like the newest one may delete the oldest originals; None if it will not, or at once."""
    began = epoch(held.get("held_since"))
    older_than, keep_last = cleaned.retention if cleaned else (None, None)
    if began is None or not isinstance(older_than, str) or number(keep_last) >= number(held.get("held_runs")):
        return None
    try:
        return began + seconds(older_than)
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
            rows.append(_row(view, points))
        except Exception as error:  # One table that cannot be shown hides no other.
            log.warning("a table is left out of the list: %r", error)
        else:
            trends.add(points, view.removals())
    return rows, _figures(rows, trends)


def _figures(rows: Sequence[Row], trends: Trends) -> Figures:
    waiting = [(each.open_since, each.name) for each in rows if each.open_since]
    until = [each.held_until for each in rows if each.held_until is not None and each.held_runs]
    return Figures(
        tables=len(rows),
        small=sum(each.small or 0 for each in rows),
        small_tables=sum(bool(each.small) for each in rows),
        unknown=sum(each.small is None for each in rows),
        held_bytes=sum(each.held_bytes for each in rows),
        held_tables=sum(each.held_runs > 0 for each in rows),
        held_until=min(until, default=None),
        open_since=min(waiting, default=None),
        trends=trends,
    )
