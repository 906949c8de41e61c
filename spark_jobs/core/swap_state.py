"""Which directory is where, and what that means. Identities decide, never return codes (docs/design.md, section 5)."""

from __future__ import annotations

from enum import Enum


class SwapState(Enum):
    """What a look at the places of an intent adds up to: the originals (L), what was rewritten (N), another (X)."""

    NOT_SWAPPED = "with the originals live and the rewritten directory aside"
    BETWEEN_RENAMES = "between the renames"
    SWAPPED = "swapped"
    OLD_ONLY = "with the originals aside and nothing that replaces them"
    LIVE_ONLY = "with the originals live and the rewritten directory gone"
    FOREIGN_LIVE_IN_GAP = "between the renames, and somebody made the live directory anew"
    FOREIGN_LIVE_AND_ASIDE = "with somebody else's directory live, and another one aside"
    FOREIGN_OLD_AND_ASIDE = "between the renames, with two directories of somebody else aside"
    FOREIGN_LIVE_OLD_GONE = (
        "without the originals, with somebody else's directory live, and another one aside"
    )
    SWAPPED_FOREIGN_OLD = "swapped, but what went aside is somebody else's directory"
    FOREIGN_OLD_IN_GAP = "between the renames, with somebody else's directory aside"
    FOREIGN_ASIDE_IN_GAP = "between the renames back, with somebody else's directory aside"
    LIVE_FOREIGN_ASIDE = "with the originals live, and somebody else's directory aside"
    SWAPPED_FOREIGN_LIVE = "swapped, and overwritten since"
    FOREIGN_LIVE = "overwritten before the swap"
    DROPPED = "dropped by somebody"
    UNKNOWN = "a state that no rule covers"


X = "X"


def locate(live: str | None, old: str | None, new: str | None, live_id: str, new_id: str) -> SwapState:
    """`live`, `old` and `new` are the identities found there now (None: nothing); `live_id` and `new_id` the
    journaled ones. `new` stands for wherever the rewritten directory may be when it is not live."""
    known = {None: None, live_id: "L", new_id: "N"}
    places = (known.get(live, X), known.get(old, X), known.get(new, X))
    return _TABLE.get(places, SwapState.UNKNOWN)


_TABLE: dict[tuple[str | None, str | None, str | None], SwapState] = {
    ("L", None, "N"): SwapState.NOT_SWAPPED,
    ("L", None, None): SwapState.LIVE_ONLY,
    ("L", None, X): SwapState.LIVE_FOREIGN_ASIDE,
    ("N", "L", None): SwapState.SWAPPED,
    ("N", X, None): SwapState.SWAPPED_FOREIGN_OLD,
    (None, "L", "N"): SwapState.BETWEEN_RENAMES,
    (None, "L", None): SwapState.OLD_ONLY,
    (None, "L", X): SwapState.FOREIGN_ASIDE_IN_GAP,
    (None, X, "N"): SwapState.FOREIGN_OLD_IN_GAP,
    (None, X, None): SwapState.FOREIGN_OLD_IN_GAP,
    (None, X, X): SwapState.FOREIGN_OLD_AND_ASIDE,
    (None, None, "N"): SwapState.DROPPED,
    (None, None, X): SwapState.FOREIGN_ASIDE_IN_GAP,
    (None, None, None): SwapState.DROPPED,
    (X, "L", "N"): SwapState.FOREIGN_LIVE_IN_GAP,
    (X, "L", None): SwapState.SWAPPED_FOREIGN_LIVE,
    (X, "L", X): SwapState.FOREIGN_LIVE_AND_ASIDE,
    (X, X, "N"): SwapState.FOREIGN_LIVE_AND_ASIDE,
    (X, X, None): SwapState.FOREIGN_LIVE_AND_ASIDE,
    (X, X, X): SwapState.FOREIGN_LIVE_AND_ASIDE,
    (X, None, "N"): SwapState.FOREIGN_LIVE,
    (X, None, None): SwapState.FOREIGN_LIVE,
    (X, None, X): SwapState.FOREIGN_LIVE_OLD_GONE,
}
