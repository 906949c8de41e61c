"""Units that analyses find day after day, and that no compaction has rewritten: since when, and what each one has met.

They are derived from outcomes of jobs, as a hint for a person: nothing is decided by them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import Any

from spark_jobs.core.commit_log.snapshots import packed, unpacked
from spark_jobs.core.printable import printable
from spark_jobs.core.record_files import built
from spark_jobs.core.wire import UnitReport

#: So many attempts are kept of a unit, and so many characters of a reason.
_MOST_ATTEMPTS, _LONGEST_REASON = 7, 300
#: Two analyses of one unit that is open are not farther apart.
_LONGEST_GAP = timedelta(days=8)


@dataclass(frozen=True)
class Attempt:
    """Why a job has not compacted a unit. `at` is its time (ISO 8601, UTC)."""

    at: str
    outcome: str
    code: str | None = None
    reason: str | None = None

    @classmethod
    def of(cls, report: UnitReport, now: str) -> Attempt:
        reason = report.reason[:_LONGEST_REASON] if report.reason else None
        return cls(now, str(report.outcome), report.code, reason)

    def to_json(self) -> dict[str, str | None]:
        """Return the fields of a report, whose sentences are lines."""
        return {**vars(self), "reason": None if self.reason is None else printable(self.reason)}

    @property
    def _kind(self) -> tuple[str, str, str | None]:
        return _day(self.at), self.outcome, self.code

    def repeats(self, others: Iterable[Attempt]) -> bool:
        """Tell whether one of the others has the same outcome and code on the same day."""
        return any(self._kind == other._kind for other in others)


@dataclass(frozen=True)
class OpenUnit:
    """A unit with small files that was not compacted since an analysis has found it first.

    Attributes:
        since: when it was found first (ISO 8601, UTC).
        days: the number of days on which jobs have found it.
        last: the last one of these days.
        attempts: the last ones, oldest first.
    """

    since: str
    days: int = 0
    last: str = ""
    attempts: tuple[Attempt, ...] = ()

    def found(self, now: str) -> OpenUnit:
        """Return the unit after an analysis that has found it again. Several ones on one day count once.

        If no job has met it for long, it may have been healthy in between, which no analysis had to note.
        """
        day = _day(now)
        if date.fromisoformat(day) - date.fromisoformat(max(self.last, _day(self.since))) > _LONGEST_GAP:
            return OpenUnit(now).found(now)
        return self if self.last == day else replace(self, days=self.days + 1, last=day)

    def tried(self, attempt: Attempt) -> OpenUnit:
        """Return the unit after a job that has found it and not compacted it."""
        unit = self.found(attempt.at)
        if attempt.repeats(unit.attempts):
            return unit
        return replace(unit, attempts=(*unit.attempts, attempt)[-_MOST_ATTEMPTS:])

    def on(self, now: str) -> OpenUnit | None:
        """Return the unit as an analysis of this time reports it; None if nothing of an earlier day is known."""
        found = self.found(now)
        return found if _day(self.since) < _day(now) and found.days > 1 else None

    def to_json(self) -> dict[str, Any]:
        """Return the fields of a report."""
        return {
            "open_since": self.since,
            "open_days": self.days,
            "open_attempts": [attempt.to_json() for attempt in self.attempts],
        }


@dataclass(frozen=True)
class Waiting:
    """What jobs have left undone of one table.

    Attributes:
        deferred: when each unit that was deferred was deferred first, by key (ISO 8601).
        open: the units that are open, by key.
    """

    deferred: Mapping[str, str] = field(default_factory=dict)
    open: Mapping[str, OpenUnit] = field(default_factory=dict)

    def analysed(self, found: Collection[str], ended: Collection[str], now: str) -> Waiting:
        """Return this after an analysis.

        Args:
            found: the units with small files, refused or not.
            ended: those without.
        """
        before = {key: unit for key, unit in self.open.items() if key not in ended}
        now_found = {key: before.get(key, OpenUnit(now)).found(now) for key in found}
        return replace(self, open={**before, **now_found})

    def tried(self, attempts: Mapping[str, Attempt], ended: Collection[str]) -> Waiting:
        """Return this after a job.

        Args:
            attempts: of the units that were not compacted.
            ended: those that were, or do not need it.
        """
        before = {key: unit for key, unit in self.open.items() if key not in ended}
        tried = {key: before.get(key, OpenUnit(each.at)).tried(each) for key, each in attempts.items()}
        return replace(self, open={**before, **tried})

    def defer(
        self, deferred: Collection[str], ended: Collection[str], had_turn: Collection[str], now: str
    ) -> Waiting:
        """Return this after a compaction.

        Args:
            had_turn: those that have failed. They count as deferred now: a unit that was first in each job, and failed
                alone as a canary, would keep all others from being compacted.
        """
        since = {key: now if key in had_turn else at for key, at in self.deferred.items() if key not in ended}
        return replace(self, deferred={**since, **{key: self.deferred.get(key, now) for key in deferred}})

    def of(self, units: Collection[str]) -> Waiting:
        """Return this without units that the table does not have.

        A partition that was dropped is forgotten: one of the same values that is created later is another one.
        """
        deferred = {key: at for key, at in self.deferred.items() if key in units}
        return Waiting(deferred, {key: unit for key, unit in self.open.items() if key in units})


def encode(waiting: Waiting) -> bytes:
    """Return the content of a file. An attempt that many units share is written once."""
    attempts = list(dict.fromkeys(each for unit in waiting.open.values() for each in unit.attempts))
    numbers = {attempt: number for number, attempt in enumerate(attempts)}
    rows = {
        key: {**vars(unit), "attempts": [numbers[each] for each in unit.attempts]}
        for key, unit in waiting.open.items()
    }
    return packed({"deferred": waiting.deferred, "attempts": [vars(each) for each in attempts], "open": rows})


def decode(data: bytes) -> Waiting:
    """Decode the content of a file. Raise one of `DECODING_ERRORS` if it is none."""
    body = unpacked(data)
    attempts = [built(Attempt, row) for row in body["attempts"]]
    units = {
        str(key): _decoded({**row, "attempts": tuple(attempts[number] for number in row["attempts"])})
        for key, row in body["open"].items()
    }
    return Waiting({str(key): str(at) for key, at in body["deferred"].items()}, units)


def _decoded(row: Mapping[str, Any]) -> OpenUnit:
    unit = built(OpenUnit, row)
    for day in (_day(unit.since), unit.last or _day(unit.since)):
        date.fromisoformat(day)  # It is compared with other days.
    return unit


def _day(instant: str) -> str:
    return instant[:10]
