"""Units that analyses find day after day, and that no compaction has rewritten: since when, and what each one has met.

They are derived from outcomes of jobs, as a hint for a person: nothing is decided by them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any

from spark_jobs.core.messages.printable import printable
from spark_jobs.core.records.record_files import built, packed, unpacked
from spark_jobs.core.wire.report import UnitReport

#: This many attempts are kept of a unit, and this many characters of a reason.
_MOST_ATTEMPTS, _LONGEST_REASON = 7, 300
#: This many characters of an outcome, a code and a time; and the form of a time.
_LONGEST_WORD, _TIME = 64, "%Y-%m-%dT%H:%M:%SZ"
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

    def seen(self, now: str) -> OpenUnit:
        """Return the unit after an analysis that has found it again. Several ones on one day count once.

        If no job has met it for long, it may have been healthy in between, which no analysis had to note.
        """
        day = _day(now)
        if date.fromisoformat(day) - date.fromisoformat(max(self.last, _day(self.since))) > _LONGEST_GAP:
            return OpenUnit(now).seen(now)
        return self if self.last == day else replace(self, days=self.days + 1, last=day)

    def tried(self, attempt: Attempt) -> OpenUnit:
        """Return the unit after a job that has found it and not compacted it."""
        unit = self.seen(attempt.at)
        if attempt.repeats(unit.attempts):
            return unit
        return replace(unit, attempts=(*unit.attempts, attempt)[-_MOST_ATTEMPTS:])

    def on(self, now: str) -> OpenUnit | None:
        """Return the unit as an analysis of this time reports it; None if nothing of an earlier day is known."""
        again = self.seen(now)
        return again if _day(self.since) < _day(now) and again.days > 1 else None

    def to_json(self) -> dict[str, Any]:
        """Return the fields of a report."""
        return {
            "open_since": self.since,
            "open_days": self.days,
            "open_attempts": [attempt.to_json() for attempt in self.attempts],
        }


def analysed(
    before: Mapping[str, OpenUnit], keys: Collection[str], ended: Collection[str], now: str
) -> dict[str, OpenUnit]:
    """Return the open units after an analysis.

    Args:
        keys: the units with small files, refused or not.
        ended: those without.
    """
    left = {key: unit for key, unit in before.items() if key not in ended}
    return {**left, **{key: left.get(key, OpenUnit(now)).seen(now) for key in keys}}


def tried(
    before: Mapping[str, OpenUnit], attempts: Mapping[str, Attempt], ended: Collection[str]
) -> dict[str, OpenUnit]:
    """Return the open units after a compaction.

    Args:
        attempts: of the units that were not compacted.
        ended: those that were, or do not need it.
    """
    left = {key: unit for key, unit in before.items() if key not in ended}
    return {**left, **{key: left.get(key, OpenUnit(each.at)).tried(each) for key, each in attempts.items()}}


def encode(units: Mapping[str, OpenUnit]) -> bytes:
    """Return the content of a file. An attempt that many units share is written once."""
    attempts = list(dict.fromkeys(each for unit in units.values() for each in unit.attempts))
    numbers = {attempt: number for number, attempt in enumerate(attempts)}
    rows = {
        key: {**vars(unit), "attempts": [numbers[each] for each in unit.attempts]}
        for key, unit in units.items()
    }
    return packed({"attempts": [vars(each) for each in attempts], "open": rows})


def decode(data: bytes, name: str) -> dict[str, OpenUnit]:
    """Decode the content of the file `name`. Raise one of `DECODING_ERRORS` if it is none, and OtherVersion."""
    body = unpacked(data, name)
    attempts = [_attempt(row) for row in body["attempts"]]
    return {
        str(key): _decoded({**row, "attempts": tuple(attempts[number] for number in row["attempts"])})
        for key, row in body["open"].items()
    }


def _attempt(row: Mapping[str, Any]) -> Attempt:
    """Return an attempt, whose texts are no longer than the jobs write them: reports and XCom have them."""
    attempt = built(Attempt, row)
    for text in (attempt.at, attempt.outcome, attempt.code):
        if text is not None and len(text) > _LONGEST_WORD:
            raise ValueError(f"{text[:_LONGEST_WORD]!r} is too long")
    return replace(attempt, reason=attempt.reason and attempt.reason[:_LONGEST_REASON])


def _decoded(row: Mapping[str, Any]) -> OpenUnit:
    unit = built(OpenUnit, row)
    datetime.strptime(unit.since, _TIME)  # It goes into reports.
    for day in (_day(unit.since), unit.last or _day(unit.since)):
        date.fromisoformat(day)  # It is compared with other days.
    return unit


def _day(instant: str) -> str:
    return instant[:10]
