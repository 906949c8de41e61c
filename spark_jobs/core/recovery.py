"""Which directory is where, and what that means. Identities decide, never return codes (docs/design.md, section 5)."""

from __future__ import annotations

from enum import Enum


class Where(Enum):
    """What a look at the three places of a prepared swap adds up to."""

    BEFORE = "before the first rename"
    GAP = "between the renames"
    SWAPPED = "swapped"
    NEW_LOST = "the originals are aside and nothing replaces them"
    RESTORED = "the originals are live and the rewritten directory is gone"
    UNKNOWN = "a state that no rule covers"


def locate(live: str | None, old: str | None, new: str | None, live_id: str, new_id: str) -> Where:
    """`live`, `old` and `new` are the identities found there now (None: nothing); `live_id` and `new_id` the
    journaled ones."""
    table = {
        (live_id, None, new_id): Where.BEFORE,
        (None, live_id, new_id): Where.GAP,
        (new_id, live_id, None): Where.SWAPPED,
        (None, live_id, None): Where.NEW_LOST,
        (live_id, None, None): Where.RESTORED,
    }
    return table.get((live, old, new), Where.UNKNOWN)
