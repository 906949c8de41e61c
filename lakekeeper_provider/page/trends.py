"""How the small files and the removed files of all tables have developed, by day."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

from lakekeeper_provider.page.tables import Point
from lakekeeper_provider.report.backlog import NIGHTS, Backlog, Night

DAY = 86_400
#: For so many days figures are summed up and shown.
DAYS = 30
#: A sparkline has at most so many points.
SPARK = 40


@dataclass
class Levels:
    """A sum over all tables at the end of each of the last ``DAYS`` days, the oldest first.

    Args:
        first: the first of these days, in days since the epoch
        changes: by day, how much more it was at its end than at that of the day before
        unknown: so many of the first days nothing was known of any table
    """

    first: int
    changes: list[float] = field(default_factory=lambda: [0.0] * DAYS)
    unknown: int = DAYS

    def add(self, values: Iterable[tuple[float, float]]) -> None:
        """Add a table by times and values: it keeps its last known value on the days without one."""
        before = 0.0
        for place, value in self._by_place(values).items():
            self.changes[max(place, 0)] += value - before
            self.unknown = min(self.unknown, max(place, 0))
            before = value

    def _by_place(self, values: Iterable[tuple[float, float]]) -> dict[int, float]:
        """Return the last known value of each day; the day is negative before the first one."""
        days = ((int(at // DAY) - self.first, value) for at, value in values if not math.isnan(value))
        return {place: value for place, value in days if place < DAYS}

    @property
    def by_day(self) -> Sequence[float]:
        return list(accumulate(self.changes))

    @property
    def known(self) -> Sequence[float]:
        """Return the values without the first days, on which nothing was known."""
        return self.by_day[self.unknown :]


@dataclass
class Trends:
    """The small files of all tables, the bytes of originals, and by day how many files less there were by jobs."""

    small: Levels
    held: Levels
    removed: list[float]

    @classmethod
    def until(cls, now: float) -> Trends:
        """Return trends without tables.

        Args:
            now: seconds since the epoch
        """
        first = int(now // DAY) - DAYS + 1
        return cls(Levels(first), Levels(first), [0.0] * DAYS)

    def add(self, points: Sequence[Point], removals: Iterable[tuple[float, float]]) -> None:
        """Add a table. A rollback brings files back."""
        self.small.add((point.at, point.small) for point in points)
        self.held.add((point.at, point.held) for point in points)
        for at, files in removals:
            place = int(at // DAY) - self.small.first
            if 0 <= place < DAYS:
                self.removed[place] += files

    @property
    def removed_known(self) -> Sequence[float]:
        """Return the files removed without the first days, on which nothing was known."""
        return self.removed[min(self.small.unknown, self.held.unknown) :]

    @property
    def backlog(self) -> Backlog:
        """Return the last week, of which each day is a night on which anything was removed."""
        small = self.small.by_day
        days = list(zip(self.removed, small))[-NIGHTS:]
        nights = [Night(0, round(removed), round(left)) for removed, left in days if removed > 0]
        # What has come since the last one is left, too.
        return Backlog([*nights[:-1], *(replace(each, left=round(small[-1])) for each in nights[-1:])])


def thinned(values: Sequence[float]) -> Sequence[float]:
    """Return at most ``SPARK`` values, the last one among them."""
    step = math.ceil(len(values) / SPARK)
    return values if step <= 1 else values[::-1][::step][::-1]
