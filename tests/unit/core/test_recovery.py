"""Which state of a swap the identities of its three places tell, and which states the design has a rule for."""

from __future__ import annotations

import itertools

from spark_jobs.core.records.swap_state import SwapState, locate
from tests.contract import code_pages


def test_every_state_that_no_rule_covers_is_left_alone() -> None:
    known = {
        ("L", None, "N"): SwapState.NOT_SWAPPED,
        ("L", None, None): SwapState.LIVE_ONLY,
        ("L", None, "X"): SwapState.LIVE_FOREIGN_ASIDE,
        ("N", "L", None): SwapState.SWAPPED,
        ("N", "X", None): SwapState.SWAPPED_FOREIGN_OLD,
        (None, "L", "N"): SwapState.BETWEEN_RENAMES,
        (None, "L", None): SwapState.OLD_ONLY,
        (None, "L", "X"): SwapState.FOREIGN_ASIDE_IN_GAP,
        (None, "X", "N"): SwapState.FOREIGN_OLD_IN_GAP,
        (None, "X", None): SwapState.FOREIGN_OLD_IN_GAP,
        (None, "X", "X"): SwapState.FOREIGN_OLD_AND_ASIDE,
        (None, None, "N"): SwapState.DROPPED,
        (None, None, "X"): SwapState.FOREIGN_ASIDE_IN_GAP,
        (None, None, None): SwapState.DROPPED,
        ("X", "L", "N"): SwapState.FOREIGN_LIVE_IN_GAP,
        ("X", "L", None): SwapState.SWAPPED_FOREIGN_LIVE,
        ("X", "L", "X"): SwapState.FOREIGN_LIVE_AND_ASIDE,
        ("X", "X", "N"): SwapState.FOREIGN_LIVE_AND_ASIDE,
        ("X", "X", None): SwapState.FOREIGN_LIVE_AND_ASIDE,
        ("X", "X", "X"): SwapState.FOREIGN_LIVE_AND_ASIDE,
        ("X", None, "N"): SwapState.FOREIGN_LIVE,
        ("X", None, None): SwapState.FOREIGN_LIVE,
        ("X", None, "X"): SwapState.FOREIGN_LIVE_OLD_GONE,
    }
    for places in itertools.product([None, "L", "N", "X"], repeat=3):
        assert locate(*places, live_id="L", new_id="N") is known.get(places, SwapState.UNKNOWN)


def test_the_table_of_the_design_says_what_is_done_in_each_state() -> None:
    rows = list(code_pages.state_rows())
    assert len(rows) == len(SwapState)
    assert all(cell for row in rows for cell in row)
