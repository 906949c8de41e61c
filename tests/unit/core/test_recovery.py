"""Which state of a swap the identities of its three places tell, and which states the design has a rule for."""

from __future__ import annotations

import itertools
from pathlib import Path
from unittest import mock

import pytest

from spark_jobs.core.records.swap_state import SwapState, locate
from spark_jobs.protocol.swap.forward import ForwardSwap
from spark_jobs.protocol.swap.policy import SwapPolicy
from spark_jobs.protocol.swap.reverse import ReverseSwap

ROOT = Path(__file__).parents[3]


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


#: What the letters of a cell stand for.
_CELLS = {"-": (None,), "any": (None, "N", "X")}
_COLUMNS = 5


def _documented() -> list[tuple[set[tuple[str | None, ...]], str, str]]:
    """The rows of the table in docs/design.md: places, and what a compaction and a rollback do."""
    text = (ROOT / "docs" / "design.md").read_text()
    section = text.split("### 5.5 ")[1].split("### 5.6 ")[0]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if "|" in line
    ]
    found = []
    for row in (row for row in rows[2:] if row[0] != "anything else"):
        assert len(row) == _COLUMNS, row
        places = [
            [place for word in cell.split(" or ") for place in _CELLS.get(word, (word,))] for cell in row[:3]
        ]
        found.append((set(itertools.product(*places)), row[3], row[4]))
    return found


@pytest.mark.parametrize(("executor", "column"), [(ForwardSwap, 0), (ReverseSwap, 1)])
def test_the_table_of_the_design_has_exactly_the_states_that_have_an_action(
    executor: type[ForwardSwap] | type[ReverseSwap], column: int
) -> None:
    acting = executor(mock.Mock(), mock.Mock(), SwapPolicy())
    rows = _documented()
    for places in itertools.product([None, "L", "N", "X"], repeat=3):
        state = locate(*places, live_id="L", new_id="N")
        cells = [row[column + 1] for row in rows if places in row[0]]
        acts = [cell for cell in cells if cell != "-"]
        assert bool(acts) == acting.has_rule(state), (places, state, cells)
        assert bool(cells) == (state is not SwapState.UNKNOWN), (places, state)
