"""Which state of a swap the identities of its three places tell."""

from __future__ import annotations

import itertools

from spark_jobs.core.swap_state import Where, locate


def test_every_state_that_no_rule_covers_is_left_alone() -> None:
    known = {
        ("L", None, "N"): Where.BEFORE,
        ("L", None, None): Where.RESTORED,
        ("L", None, "X"): Where.USURPED,
        ("N", "L", None): Where.SWAPPED,
        ("N", "X", None): Where.TAKEN,
        (None, "L", "N"): Where.GAP,
        (None, "L", None): Where.NEW_LOST,
        (None, "L", "X"): Where.DISPLACED,
        (None, "X", "N"): Where.TAKEN_GAP,
        (None, "X", None): Where.TAKEN_GAP,
        (None, "X", "X"): Where.BOTH_ASIDE,
        (None, None, "N"): Where.DROPPED,
        (None, None, "X"): Where.DISPLACED,
        (None, None, None): Where.DROPPED,
        ("X", "L", "N"): Where.RECREATED,
        ("X", "L", None): Where.SUPERSEDED,
        ("X", "L", "X"): Where.OVERTAKEN,
        ("X", "X", "N"): Where.OVERTAKEN,
        ("X", "X", None): Where.OVERTAKEN,
        ("X", "X", "X"): Where.OVERTAKEN,
        ("X", None, "N"): Where.OVERWRITTEN,
        ("X", None, None): Where.OVERWRITTEN,
        ("X", None, "X"): Where.OUTRUN,
    }
    for places in itertools.product([None, "L", "N", "X"], repeat=3):
        assert locate(*places, live_id="L", new_id="N") is known.get(places, Where.UNKNOWN)
