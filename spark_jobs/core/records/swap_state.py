"""The swap state, which follows from the locations of the directories (docs/design/protocol.md).

Only identities decide, never the return codes of calls.
"""

from __future__ import annotations

from enum import Enum


class SwapState(Enum):
    """The state of a swap: the locations of the originals (L), the rewritten directory (N) and foreign ones (X).

    The values are used in messages, after the path of the live directory and "is".
    """

    NOT_SWAPPED = "not swapped: the originals are live, and the rewritten directory exists"
    BETWEEN_RENAMES = "between the renames"
    SWAPPED = "swapped"
    OLD_ONLY = (
        "without a live directory: the originals are in __originals_*, and there is no rewritten directory"
    )
    LIVE_ONLY = "not swapped: the originals are live, and the rewritten directory does not exist"
    FOREIGN_LIVE_IN_GAP = "between the renames, and a writer has recreated the live directory"
    FOREIGN_LIVE_AND_ASIDE = "with a foreign directory live, and another one in __originals_* or __aside_*"
    FOREIGN_OLD_AND_ASIDE = "between the renames, with foreign directories in __originals_* and __aside_*"
    FOREIGN_LIVE_OLD_GONE = (
        "without the originals, with a foreign directory live, and another one in __aside_*"
    )
    SWAPPED_FOREIGN_OLD = "swapped, but the directory in __originals_* is foreign"
    FOREIGN_OLD_IN_GAP = "between the renames, with a foreign directory in __originals_*"
    FOREIGN_ASIDE_IN_GAP = "between the renames back, with a foreign directory in __aside_*"
    LIVE_FOREIGN_ASIDE = "not swapped: the originals are live, with a foreign directory in __aside_*"
    SWAPPED_FOREIGN_LIVE = "swapped, and overwritten since"
    FOREIGN_LIVE = "overwritten before the swap"
    DROPPED = "dropped: neither the live directory nor the originals exist"
    UNKNOWN = "in a state that no rule covers"


X = "X"


def locate(live: str | None, old: str | None, new: str | None, live_id: str, new_id: str) -> SwapState:
    """Return the swap state.

    Args:
        live, old: the current identities of the directories at these paths; None if there is no directory.
        new: the current identity at the path of the rewritten directory while it is not live.
        live_id, new_id: the journaled identities of the originals and of the rewritten directory.
    """
    known = {None: None, live_id: "L", new_id: "N"}
    state = (known.get(live, X), known.get(old, X), known.get(new, X))
    return STATES.get(state, SwapState.UNKNOWN)


#: The state by what is live, in `old`, and in `new` (or `aside`).
STATES: dict[tuple[str | None, str | None, str | None], SwapState] = {
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
