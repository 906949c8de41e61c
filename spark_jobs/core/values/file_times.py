"""Times of files and records: other clocks have set them, and anybody may set the time of a file.

A time more than a day ahead of the clock is no evidence: neither that a file is young, nor that its writer is active.
But nothing is deleted earlier because of it.
"""

from __future__ import annotations

import threading
from datetime import datetime, timedelta, timezone

from spark_jobs.core.messages.printable import shortened
from spark_jobs.core.messages.warning_codes import WarningCode

#: Clocks of machines differ by less.
AHEAD = timedelta(days=1)
#: This many files are named in a warning.
_NAMED = 3
_LEAST, _MOST = datetime(1970, 1, 1, tzinfo=timezone.utc), datetime(9998, 1, 1, tzinfo=timezone.utc)


def millis_of(time: datetime) -> int:
    """Return a time in ms since the epoch."""
    return int(time.timestamp() * 1000)


def time_of(millis: int) -> datetime:
    """Return a time in ms since the epoch; one that is in no calendar becomes the nearest one that is."""
    return datetime.fromtimestamp(min(max(millis, millis_of(_LEAST)), millis_of(_MOST)) / 1000, timezone.utc)


def future_from(now: datetime) -> int:
    """Return from when on a time is no evidence, in ms since the epoch."""
    return millis_of(now + AHEAD) + 1


class FutureFiles:
    """Collects the files of a table whose times are no evidence. Several threads may add to it."""

    def __init__(self) -> None:
        self._found: dict[str, int] = {}
        self._lock = threading.Lock()

    def add(self, path: str, mtime: int) -> None:
        with self._lock:
            self._found[path] = mtime

    def warnings(self) -> list[str]:
        """Return one warning that names some of them; none without any."""
        if not self._found:
            return []
        first = sorted(self._found.items())[:_NAMED]
        names = ", ".join(f"{shortened(path)} ({time_of(mtime):%Y-%m-%d})" for path, mtime in first)
        more = f", and {len(self._found) - _NAMED} more" if len(self._found) > _NAMED else ""
        count = f"the times of {len(self._found)} files or directories are in the future"
        return [WarningCode.TIME_IN_FUTURE.text(f"{count}, and are not used: {names}{more}")]
