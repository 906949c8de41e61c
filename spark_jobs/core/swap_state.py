"""Which directory is where, and what that means. Identities decide, never return codes (docs/design.md, section 5)."""

from __future__ import annotations

from enum import Enum


class Where(Enum):
    """What a look at the places of an intent adds up to: the originals (L), what was rewritten (N), another (X)."""

    BEFORE = "with the originals live and the rewritten directory aside"
    GAP = "between the renames"
    SWAPPED = "swapped"
    NEW_LOST = "with the originals aside and nothing that replaces them"
    RESTORED = "with the originals live and the rewritten directory gone"
    RECREATED = "between the renames, and somebody made the live directory anew"
    OVERTAKEN = "with somebody else's directory live, and another one aside"
    BOTH_ASIDE = "between the renames, with two directories of somebody else aside"
    OUTRUN = "without the originals, with somebody else's directory live, and another one aside"
    TAKEN = "swapped, but what went aside is somebody else's directory"
    TAKEN_GAP = "between the renames, with somebody else's directory aside"
    DISPLACED = "between the renames back, with somebody else's directory aside"
    USURPED = "with the originals live, and somebody else's directory aside"
    SUPERSEDED = "swapped, and overwritten since"
    OVERWRITTEN = "overwritten before the swap"
    DROPPED = "dropped by somebody"
    UNKNOWN = "a state that no rule covers"


X = "X"


def locate(live: str | None, old: str | None, new: str | None, live_id: str, new_id: str) -> Where:
    """`live`, `old` and `new` are the identities found there now (None: nothing); `live_id` and `new_id` the
    journaled ones. `new` stands for wherever the rewritten directory may be when it is not live."""
    known = {None: None, live_id: "L", new_id: "N"}
    places = (known.get(live, X), known.get(old, X), known.get(new, X))
    return _TABLE.get(places, Where.UNKNOWN)


_TABLE: dict[tuple[str | None, str | None, str | None], Where] = {
    ("L", None, "N"): Where.BEFORE,
    ("L", None, None): Where.RESTORED,
    ("L", None, X): Where.USURPED,
    ("N", "L", None): Where.SWAPPED,
    ("N", X, None): Where.TAKEN,
    (None, "L", "N"): Where.GAP,
    (None, "L", None): Where.NEW_LOST,
    (None, "L", X): Where.DISPLACED,
    (None, X, "N"): Where.TAKEN_GAP,
    (None, X, None): Where.TAKEN_GAP,
    (None, X, X): Where.BOTH_ASIDE,
    (None, None, "N"): Where.DROPPED,
    (None, None, X): Where.DISPLACED,
    (None, None, None): Where.DROPPED,
    (X, "L", "N"): Where.RECREATED,
    (X, "L", None): Where.SUPERSEDED,
    (X, "L", X): Where.OVERTAKEN,
    (X, X, "N"): Where.OVERTAKEN,
    (X, X, None): Where.OVERTAKEN,
    (X, X, X): Where.OVERTAKEN,
    (X, None, "N"): Where.OVERWRITTEN,
    (X, None, None): Where.OVERWRITTEN,
    (X, None, X): Where.OUTRUN,
}
