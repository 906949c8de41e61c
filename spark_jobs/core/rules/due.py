"""Which of the units with small files are due: old enough (`idle_for`), and the trigger conditions hold.

The conditions act on top of the thresholds (`core/rules/health.py`), and flag no unit by themselves. A unit that is not
due is healthy, with a reason that names the condition, what was found and the bound.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from spark_jobs.core.values.file_times import AHEAD, future_from
from spark_jobs.core.values.model import FileListing

_UNITS = (("d", 86400), ("h", 3600), ("m", 60))


@dataclass(frozen=True)
class FileFigures:
    """Figures of the data files of a unit that its health does not have.

    Attributes:
        newest: the mtime of the newest file that is not in the future, in ms since the epoch; None without any.
        small_files, small_bytes: of the files that are smaller than `small_below` bytes.
        large_files, large_bytes: of the files of at least `large_from` bytes, if that is not 0.
    """

    newest: int | None
    small_files: int
    small_below: int
    small_bytes: int = 0
    large_files: int = 0
    large_bytes: int = 0
    large_from: int = 0

    @classmethod
    def of(cls, files: FileListing, small_below: int, future: int, large_from: int = 0) -> FileFigures:
        # guard: future_is_not_young
        newest = max((file.mtime for file in files.data if file.mtime < future), default=None)
        small = [file.length for file in files.data if file.length < small_below]
        large = [file.length for file in files.data if large_from and file.length >= large_from]
        return cls(newest, len(small), small_below, sum(small), len(large), sum(large), large_from)


@dataclass(frozen=True)
class Candidate:
    """A unit with small files, which is compacted if it is due.

    Attributes:
        files, average: the number of its data files, and their average size in bytes.
        figures: None if no condition needs them.
    """

    key: str
    files: int
    average: int
    figures: FileFigures | None = None


@dataclass(frozen=True)
class Conditions:
    """The conditions that are given; the others are None. `average_size` is in bytes.

    Attributes:
        any_trigger: a unit is due if any trigger condition holds, and not only if all of them do.
    """

    idle_for: timedelta | None = None
    any_trigger: bool = False
    unit_files: int | None = None
    small_files: int | None = None
    growth: int | None = None
    interval: timedelta | None = None
    average_size: int | None = None

    @property
    def triggers(self) -> bool:
        """Tell whether there is a trigger condition."""
        conditions = (self.unit_files, self.small_files, self.growth, self.interval, self.average_size)
        return any(bound is not None for bound in conditions)

    @property
    def given(self) -> bool:
        return bool(self.idle_for) or self.triggers

    @property
    def of_log(self) -> bool:
        """Tell whether the commit log is needed."""
        return self.growth is not None or self.interval is not None

    def can_judge(self, figures: FileFigures | None, small_below: int, now: datetime) -> bool:
        """Tell whether a unit can be judged by figures of an earlier listing.

        A driver whose clock was ahead may have kept the time of a file that lies in the future of this one.
        """
        if not self.idle_for and self.small_files is None:
            return True
        if figures is None or (figures.newest or 0) >= future_from(now):
            return False
        return self.small_files is None or figures.small_below == small_below


@dataclass(frozen=True)
class LogFigures:
    """What the commit log says of a table.

    Attributes:
        last: the time of the last compaction; None if there was none.
        written: by unit, how many files compactions have written there that are not replaced or rolled back since.
    """

    last: datetime | None = None
    written: Mapping[str, int] = field(default_factory=dict)

    def added(self, unit: Candidate) -> int:
        """Return how many files of a unit no compaction has written."""
        return max(0, unit.files - self.written.get(unit.key, 0))


@dataclass(frozen=True)
class Judge:
    """Judges the units of one table.

    Attributes:
        small_files: the number of small files of the table.
        growth: the number of files of the table that no compaction has written.
        deferred: the keys of units that an earlier compaction has found due, and left to the next one. The trigger
            conditions are not judged again of them: after that compaction, they may not hold any more.
    """

    conditions: Conditions
    now: datetime
    log: LogFigures = LogFigures()
    small_files: int = 0
    growth: int = 0
    deferred: Collection[str] = ()

    @classmethod
    def of(
        cls,
        conditions: Conditions,
        candidates: Collection[Candidate],
        log: LogFigures,
        now: datetime,
        deferred: Collection[str] = (),
    ) -> Judge:
        """Return the judge by all candidates of a table. Those that are too young do not count."""
        old = [unit for unit in candidates if _idle_reason(unit, conditions, now) is None]
        small = sum(unit.figures.small_files for unit in old if unit.figures)
        return cls(conditions, now, log, small, sum(map(log.added, old)), deferred)

    def reason(self, unit: Candidate) -> str | None:
        """Return why the unit is not due; None if it is."""
        young = _idle_reason(unit, self.conditions, self.now)
        if young or not self.conditions.triggers or unit.key in self.deferred:
            return young
        checks = list(self._checks(unit))
        failed = [text for holds, text in checks if not holds]
        due = len(failed) < len(checks) if self.conditions.any_trigger else not failed
        return None if due else "; ".join(failed)

    def _checks(self, unit: Candidate) -> Iterator[tuple[bool, str]]:
        """Return of each trigger condition whether it holds, and the condition with what was found."""
        of = self.conditions
        if of.unit_files is not None:
            text = f"trigger_unit_files is {of.unit_files}, and it has {unit.files} files"
            yield unit.files >= of.unit_files, text
        if of.small_files is not None:
            text = (
                f"trigger_small_files is {of.small_files}, and the table has {self.small_files} small files"
            )
            yield self.small_files >= of.small_files, text
        if of.growth is not None:
            text = (
                f"trigger_growth is {of.growth}, and {self.growth} files were added since the last compaction"
            )
            yield self.log.last is None or self.growth >= of.growth, text
        if of.interval is not None:
            yield self._interval(of.interval)
        if of.average_size is not None:
            text = f"trigger_average_size is {of.average_size} bytes, and its average file has {unit.average} bytes"
            yield unit.average < of.average_size, text

    def _interval(self, interval: timedelta) -> tuple[bool, str]:
        if self.log.last is None or self.log.last - self.now > AHEAD:  # guard: future_compaction_is_no_last
            return True, ""
        since = max(self.now - self.log.last, timedelta())
        text = f"trigger_interval is {exact(interval)}, and the last compaction was {rounded(since)} ago"
        return since >= interval, text


def too_young(newest: int | None, idle_for: timedelta | None, now: datetime) -> str | None:
    """Return why a unit must not be compacted yet; None if it may be.

    A file that is newer than `now`, because clocks differ, has the age 0.

    Args:
        newest: the mtime of its newest file, in ms since the epoch; None without files.
    """
    if newest is None or not idle_for:
        return None
    age = max(timedelta(), timedelta(milliseconds=int(now.timestamp() * 1000) - newest))
    return f"its newest file is {rounded(age)} old; idle_for is {exact(idle_for)}" if age < idle_for else None


def _idle_reason(unit: Candidate, conditions: Conditions, now: datetime) -> str | None:
    return too_young(unit.figures.newest if unit.figures else None, conditions.idle_for, now)


def exact(time: timedelta) -> str:
    """Return a time as options are written, in the largest unit of which it is a whole number: `7d`, `36h`, `45m`."""
    seconds = int(time.total_seconds())
    return next(
        (f"{seconds // size}{name}" for name, size in _UNITS if seconds and seconds % size == 0),
        f"{seconds}s",
    )


def rounded(time: timedelta) -> str:
    """Return a time in one unit, rounded down: from two days in days, from two hours in hours, and so on."""
    seconds = int(time.total_seconds())
    return next((f"{seconds // size}{name}" for name, size in _UNITS if seconds >= 2 * size), f"{seconds}s")
