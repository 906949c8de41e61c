"""The maintenance window: when tables may be rewritten. Pure: every method takes the time that it checks."""

from __future__ import annotations

import re
import zoneinfo
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime, timedelta, timezone
from typing import Any

from lakekeeper_provider.exceptions import UsageError, nearest

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_NAMES = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_CLOCK = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)|24:00")
_DAY = 24 * 60


@dataclass(frozen=True)
class MaintenanceWindow:
    """A period of the day, on some days of the week, by the clock of a time zone.

    A window whose end is not after its start runs over midnight; a day in ``days`` is the day on which it
    *opens*. Where the clock is set forward, a time that it skips counts as the moment of the change, so a
    window that lies in the skipped hour does not open; where it is set back, the first of the two equal
    times counts.

    Args:
        start: when it opens, ``HH:MM``
        end: when it closes, ``HH:MM``; ``24:00`` is the end of the day
        timezone: an IANA time zone such as ``Europe/Paris``
        days: the days on which it opens, such as ``["mon", "tue"]``; all of them by default
    """

    start: str
    end: str
    timezone: str = "UTC"
    days: Sequence[str] = DAYS

    def __post_init__(self) -> None:
        object.__setattr__(self, "start", _clock("start", self.start))
        object.__setattr__(self, "end", _clock("end", self.end))
        object.__setattr__(self, "days", _days(self.days))
        _zone(self.timezone)
        if self.start in (self.end, "24:00"):
            raise UsageError(
                f"the window {self.start}-{self.end} never opens; write 00:00-24:00 for the whole day"
            )

    @classmethod
    def of(cls, value: Any) -> MaintenanceWindow:
        """Accept a window, or a mapping with its fields."""
        if isinstance(value, cls):
            return value
        if not isinstance(value, Mapping):
            raise UsageError(f"window: expected start, end, timezone and days, got {value!r}")
        fields = ("start", "end", "timezone", "days")
        for key in value:
            if key not in fields:
                raise UsageError(f"window: unknown key {key!r}{nearest(key, fields)}")
        for key in ("start", "end"):
            if key not in value:
                raise UsageError(f"window: {key} is missing in {dict(value)!r}")
        return cls(**value)

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as JSON can hold them."""
        return {**asdict(self), "days": list(self.days)}

    def contains(self, instant: datetime) -> bool:
        """Tell whether the window is open."""
        return self.closes_at(instant) is not None

    def closes_at(self, instant: datetime) -> datetime | None:
        """Return when the open window closes, in UTC, or None where it is closed."""
        closing = None
        for opens, closes in self._periods(instant):
            # The second half follows 00:00-24:00 from one day into the next.
            if opens <= instant < closes or closing == opens:
                closing = closes
        return closing

    def next_open(self, instant: datetime) -> datetime:
        """Return when the window opens next, in UTC; ``instant`` itself where it is open."""
        if self.contains(instant):
            return instant.astimezone(timezone.utc)
        return min(opens for opens, _ in self._periods(instant) if opens > instant)

    def _periods(self, instant: datetime) -> Iterator[tuple[datetime, datetime]]:
        """Yield the openings around the instant: from the day before yesterday to two weeks ahead."""
        if instant.tzinfo is None:
            raise UsageError(f"the time has no time zone: {instant.isoformat()}")
        today = instant.astimezone(_zone(self.timezone)).date()
        for offset in range(-2, 16):
            day = today + timedelta(days=offset)
            opens, closes = self._period(day)
            if DAYS[day.weekday()] in self.days and opens < closes:
                yield opens, closes

    def _period(self, day: date) -> tuple[datetime, datetime]:
        start, end = _minutes(self.start), _minutes(self.end)
        last = day if end > start else day + timedelta(days=1)
        return self._instant(day, start), self._instant(last, end)

    def _instant(self, day: date, minutes: int) -> datetime:
        zone = _zone(self.timezone)
        local = datetime(day.year, day.month, day.day, tzinfo=zone) + timedelta(minutes=minutes)
        utc = local.astimezone(timezone.utc)
        return utc if _exists(local, zone) else _change_before(utc, zone)


def _exists(local: datetime, zone: zoneinfo.ZoneInfo) -> bool:
    back = local.astimezone(timezone.utc).astimezone(zone)
    return back.replace(tzinfo=None) == local.replace(tzinfo=None)


def _change_before(utc: datetime, zone: zoneinfo.ZoneInfo) -> datetime:
    """Return the minute in which the clock was set forward, shortly before ``utc``."""
    after = utc.astimezone(zone).utcoffset()
    while (utc - timedelta(minutes=1)).astimezone(zone).utcoffset() == after:
        utc -= timedelta(minutes=1)
    return utc


def _minutes(clock: str) -> int:
    hours, minutes = clock.split(":")
    return int(hours) * 60 + int(minutes)


def _clock(name: str, value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _DAY:
        value = f"{value // 60}:{value % 60:02}"  # YAML 1.1 reads an unquoted 22:00 as 22 * 60
    if not isinstance(value, str) or not _CLOCK.fullmatch(value.strip()):
        raise UsageError(f"window: {name} must be a time such as 22:00, got {value!r}")
    return value.strip().zfill(5)


def _days(value: Any) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise UsageError(f"window: days must be a list such as [mon, tue], got {value!r}")
    if not value:
        raise UsageError("a window without days never opens; leave days out for every day")
    chosen = {_day(day) for day in value}
    return tuple(day for day in DAYS if day in chosen)


def _day(value: Any) -> str:
    word = value.strip().lower() if isinstance(value, str) else ""
    if word not in DAYS and word not in _NAMES:
        raise UsageError(f"window: unknown day {value!r}{nearest(word, DAYS + _NAMES)}")
    return word[:3]


def _zone(name: str) -> zoneinfo.ZoneInfo:
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, TypeError, OSError):
        hint = nearest(name, zoneinfo.available_timezones())
        raise UsageError(f"window: unknown time zone {name!r}{hint}") from None
