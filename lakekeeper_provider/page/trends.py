"""How the small files and the removed files of all tables have developed, by day."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from lakekeeper_provider.page.tables import Point
from lakekeeper_provider.report.backlog import NIGHTS, Backlog, Night

DAY = 86_400
#: For so many days figures are summed up and shown.
DAYS = 30
#: A sparkline has at most so many points.
SPARK = 40


@dataclass
class Trends:
    """Sums over all tables of the last ``DAYS`` days, the oldest first.

    Args:
        first: the first of these days, in days since the epoch
        changes: by day, how many more small files there were at its end than at that of the day before
        removed: by day, how many files less there were by jobs; a rollback brings files back
        unknown: so many of the first days nothing was known of any table
    """

    first: int
    changes: list[float]
    removed: list[float]
    unknown: int = DAYS

    @classmethod
    def until(cls, now: float) -> Trends:
        """Return trends without tables.

        Args:
            now: seconds since the epoch
        """
        return cls(int(now // DAY) - DAYS + 1, [0.0] * DAYS, [0.0] * DAYS)

    def add(self, points: Iterable[Point], removals: Iterable[tuple[float, float]]) -> None:
        """Add a table: it keeps its last known value on the days without one."""
        before = 0.0
        for place, small in self._by_place((point.at, point.small) for point in points).items():
            self.changes[max(place, 0)] += small - before
            self.unknown = min(self.unknown, max(place, 0))
            before = small
        for at, files in removals:
            place = int(at // DAY) - self.first
            if 0 <= place < DAYS:
                self.removed[place] += files
                self.unknown = min(self.unknown, place)

    def known(self, values: Sequence[float]) -> Sequence[float]:
        """Return values by day without the days on which nothing was known."""
        return values[self.unknown :]

    def _by_place(self, values: Iterable[tuple[float, float]]) -> dict[int, float]:
        """Return the last known value of each day; the day is negative before the first one."""
        days = ((int(at // DAY) - self.first, value) for at, value in values if not math.isnan(value))
        return {place: value for place, value in days if place < DAYS}

    @property
    def small(self) -> Sequence[float]:
        """Return the small files at the end of each day."""
        total, sums = 0.0, []
        for change in self.changes:
            total += change
            sums.append(total)
        return sums

    @property
    def backlog(self) -> Backlog:
        """Return the last week, of which each day is a night on which anything was removed."""
        small = self.small
        days = list(zip(self.removed, small))[-NIGHTS:]
        nights = [Night(0, round(removed), round(left)) for removed, left in days if removed > 0]
        # What has come since the last one is left, too.
        return Backlog([*nights[:-1], *(replace(each, left=round(small[-1])) for each in nights[-1:])])


def thinned(values: Sequence[float]) -> Sequence[float]:
    """Return at most ``SPARK`` values, the last one among them."""
    step = math.ceil(len(values) / SPARK)
    return values if step <= 1 else values[::-1][::step][::-1]
