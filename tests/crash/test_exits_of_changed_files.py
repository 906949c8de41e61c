"""Originals that were changed or deleted: the command of the message ends the state as it is printed."""

from __future__ import annotations

import re
import shlex

import pytest

from tests.crash import writers
from tests.crash.exits import CLEAN, ROLL, ask, compacted, killed, must_end, twice
from tests.crash.fault_injection import Fault
from tests.crash.flat_table import LIVE, into, originals
from tests.crash.model_tree import AUTHORITY
from tests.crash.oracle import live_rows
from tests.crash.scenario import FLAT
from tests.crash.simulated_cluster import SimulatedCluster
from tests.crash.test_copied_tables import declare

ASIDE = f"{AUTHORITY}/aside"


@pytest.mark.parametrize("words", [CLEAN, ROLL], ids=["cleanup", "rollback"])
def test_the_record_of_originals_that_were_deleted_is_ended(words: tuple[str, ...]) -> None:
    """`forget` without --yes only says what it would do."""
    sim = compacted()
    sim.tree.remove(originals(sim), recursive=True)
    found = re.search(r"`lakekeeper (forget [^`]+)`", twice(sim, *words))
    assert found
    ask(sim, *shlex.split(found[1]))
    must_end(sim, *words)


class TestOriginalThatAnAppenderHasChanged:
    """The compaction died between its renames, and the live directory was recreated: whose rows are in the file?"""

    @pytest.fixture
    def sim(self) -> SimulatedCluster:
        sim = killed(Fault.crash_after(into))
        sim.tree.write(self.changed(sim), b"other", overwrite=True)
        writers.overwrite_by_recreation(sim, LIVE, sim.ledger.fresh(2))
        declare(sim, FLAT, "lakekeeper.writers", "append")
        return sim

    @staticmethod
    def changed(sim: SimulatedCluster) -> str:
        return f"{originals(sim)}/{sim.tree.files(originals(sim))[0][0]}"

    @pytest.mark.parametrize("words", [CLEAN, ROLL], ids=["cleanup", "rollback"])
    def test_is_moved_away(self, sim: SimulatedCluster, words: tuple[str, ...]) -> None:
        before, text = live_rows(sim, FLAT), twice(sim, *words)
        found = re.search(r"hdfs dfs -mv '([^']+)' <a directory outside the table>", text)
        assert found, text
        assert found[1] == self.changed(sim)
        sim.tree.make_dirs(ASIDE)
        sim.tree.rename(found[1], f"{ASIDE}/changed")
        for ending in (CLEAN, CLEAN, words):  # The first one finishes the swap, the second one cleans it up.
            must_end(sim, *ending)
        assert live_rows(sim, FLAT) == before

    def test_the_file_and_all_others_are_kept_until_then(self, sim: SimulatedCluster) -> None:
        kept = {name for name, _ in sim.tree.files(originals(sim))}
        twice(sim, *CLEAN)
        assert {name for name, _ in sim.tree.files(originals(sim))} == kept
