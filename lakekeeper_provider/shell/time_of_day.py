"""A deadline as a person writes it in a crontab: a time of day instead of an instant."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

_TIME = re.compile(r"([01]?[0-9]|2[0-3]):([0-5][0-9])")


def instant(value: str, now: datetime) -> str:
    """Return the next time of this machine's clock that is ``HH:MM``, in ISO 8601; any other text as it is.

    Args:
        now: the present by this machine's clock, without a time zone
    """
    found = _TIME.fullmatch(value.strip())
    if found is None:
        return value
    today = now.replace(hour=int(found[1]), minute=int(found[2]), second=0, microsecond=0)
    # The zone comes last: across a change to summer time, tomorrow's offset is not that of today.
    return (today if today > now else today + timedelta(days=1)).astimezone().isoformat()
