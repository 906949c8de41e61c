"""Ways out of runs that no job ends by itself: the named act ends them, and no row is lost by it."""

from __future__ import annotations

import re

import pytest

from tests.crash import writers
from tests.crash.exits import (
    ACT,
    CLEAN,
    FORGET,
    MONTH,
    ROLL,
    ask,
    claimed,
    compacted,
    killed,
    must_end,
    twice,
)
from tests.crash.explorer import runs_of
from tests.crash.fault_injection import Fault
from tests.crash.flat_table import HOME, LIVE, compact, into, only, originals, out
from tests.crash.model_tree import AUTHORITY
from tests.crash.oracle import check, live_rows
from tests.crash.scenario import FLAT, WAREHOUSE, build
from tests.crash.simulated_cluster import SimulatedCluster
from tests.crash.test_copied_tables import declare

SOON = "the next run resolves it"
_DELETE = re.compile(r"hdfs dfs -rm -r '([^']+)'")
_MOVE = re.compile(r"hdfs dfs -mv '([^']+)' (?:'([^']+)'|<a directory outside the table>)")


def follow(sim: SimulatedCluster, text: str) -> None:
    """Do what the HDFS commands in a text say, in their order."""
    for number, (source, target) in enumerate(_MOVE.findall(text)):
        sim.tree.make_dirs(f"{AUTHORITY}/aside")
        sim.tree.rename(source, target or f"{AUTHORITY}/aside/{number}")
    for path in _DELETE.findall(text):
        sim.tree.remove(path, recursive=True)


class TestStagingOfDeadWriters:
    """A staging directory that nobody removes: "the next run" never is the one that resolves it."""

    def test_beside_a_live_directory_that_was_deleted(self) -> None:
        sim = compacted()
        sim.tree.remove(LIVE, recursive=True)
        sim.tree.make_dirs(f"{WAREHOUSE}/.hive-staging_hive_of-another-table")
        sim.advance(MONTH)
        assert "lakekeeper rollback" in twice(sim, *CLEAN)
        follow(sim, twice(sim, *ROLL))
        must_end(sim, *ROLL)
        assert check(sim) == []

    def test_in_the_originals_of_an_appender(self) -> None:
        sim = killed(Fault.crash_after(into))
        sim.tree.write(f"{originals(sim)}/_temporary/0/x", b"x", parents=True)
        writers.overwrite_by_recreation(sim, LIVE, sim.ledger.fresh(2))
        self.ends(sim)

    def test_in_the_originals_and_in_the_live_directory(self) -> None:
        sim = killed(Fault.crash_after(into))
        for place in (originals(sim), LIVE):
            sim.tree.write(f"{place}/_temporary/0/x", b"x", parents=True)
        self.ends(sim)

    def ends(self, sim: SimulatedCluster) -> None:
        declare(sim, FLAT, "lakekeeper.writers", "append")
        sim.advance(MONTH)
        text = twice(sim, *CLEAN)
        assert SOON not in text
        follow(sim, text)
        must_end(sim, *CLEAN)
        assert check(sim) == []

    @pytest.mark.parametrize("words", [CLEAN, ROLL])
    def test_in_originals_that_are_held(self, words: tuple[str, ...]) -> None:
        sim = compacted()
        sim.tree.write(f"{originals(sim)}/.hive-staging_hive_1/-ext-1/000000_0", b"x", parents=True)
        sim.advance(MONTH)
        follow(sim, twice(sim, *words))
        must_end(sim, *words)

    @pytest.mark.parametrize("verb", ["cleanup", "check"])
    def test_in_originals_that_a_cleanup_has_claimed(self, verb: str) -> None:
        sim = compacted()
        sim.tree.write(f"{claimed(sim)}/_temporary/0/x", b"x", parents=True)
        words = CLEAN if verb == "cleanup" else ("check", "--table", FLAT)
        text = twice(sim, *words)
        must_end(sim, *FORGET)  # the command of the check's finding
        must_end(sim, *words)
        assert verb == "check" or ACT.search(text)


class TestRecreated:
    def test_sub_directories_of_an_appender_are_moved_by_a_person(self) -> None:
        sim = build()

        def write() -> None:
            writers.overwrite_by_recreation(sim, LIVE, sim.ledger.fresh(2))
            sim.tree.write(f"{LIVE}/HIVE_UNION_SUBDIR_1/part-0.parquet", b"x", parents=True)

        compact(sim.client(Fault.hook(into, write)))
        declare(sim, FLAT, "lakekeeper.writers", "append")
        sim.advance(MONTH)
        text = twice(sim, *CLEAN)
        assert SOON not in text
        follow(sim, text)
        must_end(sim, *CLEAN)

    def test_while_its_writer_is_not_known_the_intent_is_not_forgotten(self) -> None:
        """Setting the table property ends it. Each of the directories may have rows of the table."""
        sim = build()
        recreate = Fault.hook(into, lambda: writers.overwrite_by_recreation(sim, LIVE, sim.ledger.fresh(2)))
        compact(sim.client(recreate))
        before = live_rows(sim, FLAT)
        ask(sim, *FORGET)
        declare(sim, FLAT, "lakekeeper.writers", "append")
        must_end(sim, *CLEAN)
        assert sum(live_rows(sim, FLAT).values()) > sum(before.values())
        assert check(sim) == []

    @pytest.mark.parametrize("live", ["originals", "foreign"])
    def test_a_directory_of_somebody_in_undone_is_ended_by_forget(self, live: str) -> None:
        sim = killed(Fault.crash_before(out))
        (found,) = runs_of(sim, [FLAT])
        swap = next(iter(found.state.units.values())).swap
        sim.tree.write(f"{found.path(swap.aside)}/part-0.parquet", b"x", parents=True)
        sim.tree.remove(found.path(swap.new), recursive=True)
        if live == "foreign":
            writers.overwrite_by_recreation(sim, LIVE, sim.ledger.fresh(2))
        before = live_rows(sim, FLAT)
        assert "lakekeeper forget" in twice(sim, *CLEAN)
        (finding,) = [
            each
            for each in only(ask(sim, "check", "--table", FLAT))["findings"]
            if each["severity"] == "damage"
        ]
        assert "lakekeeper forget" in finding["command"]
        must_end(sim, *FORGET)
        must_end(sim, *CLEAN)
        assert live_rows(sim, FLAT) == before


class TestClaimed:
    """A cleanup has claimed originals, and died before it deleted them all."""

    def test_a_directory_in_them_does_not_stop_the_whole_rollback(self) -> None:
        sim = compacted()
        sim.tree.write(f"{claimed(sim)}/sub/part-0.parquet", b"x", parents=True)
        text = twice(sim, *ROLL)
        assert "lakekeeper forget --table sales.flat --run-id r1" in text
        follow(sim, text)
        must_end(sim, *ROLL)
        assert check(sim) == []

    def test_a_part_of_them_without_a_live_directory_is_left_to_a_person(self) -> None:
        sim = compacted()
        place = claimed(sim)
        sim.tree.remove(f"{place}/{sim.tree.files(place)[0][0]}")
        sim.tree.remove(LIVE, recursive=True)
        text = twice(sim, *CLEAN)
        assert "lakekeeper rollback" not in text
        assert re.search(rf"hdfs dfs -cp -p '\S+/__claimed_\d+/flat' '{LIVE}'", text)
        assert "lakekeeper forget" in twice(sim, *ROLL, "--run-id", "r1")
        must_end(sim, *FORGET)
        must_end(sim, *CLEAN)
        assert [path for path, _, inode in sim.tree.walk(HOME) if "/__claimed_" in path and not inode.is_dir]


class TestUnreadable:
    """The run died between its renames, so that the rows are in its directory only."""

    def test_a_directory_with_wrong_permissions_needs_a_chmod_only(self) -> None:
        sim = killed(Fault.crash_before(into))
        (found,) = runs_of(sim, [FLAT])
        number = sim.tree.find(found.directory)
        assert number is not None
        sim.tree.change(number, mode=0o777)
        assert "hdfs dfs -chmod go-w" in twice(sim, *CLEAN)
        (finding,) = [
            each
            for each in only(ask(sim, "check", "--table", FLAT))["findings"]
            if each["code"] == "JOURNAL_UNREADABLE"
        ]
        assert finding["command"] == f"hdfs dfs -chmod go-w '{found.directory}'"
        sim.tree.change(number, mode=0o700)
        must_end(sim, "compact", "--table", FLAT, "--run-id", "r2")
        assert check(sim) == []

    @pytest.mark.parametrize("source", ["cleanup", "JOURNAL_UNREADABLE", "LIVE_MISSING"])
    def test_the_originals_go_back_before_the_run_is_moved_away(self, source: str) -> None:
        sim = self.torn()
        text = twice(sim, *CLEAN)
        if source != "cleanup":
            (text,) = [
                each["command"]
                for each in only(ask(sim, "check", "--table", FLAT))["findings"]
                if each["code"] == source
            ]
        follow(sim, text)
        if source == "LIVE_MISSING":
            follow(sim, twice(sim, *CLEAN))
        must_end(sim, "compact", "--table", FLAT, "--run-id", "r2")
        assert check(sim) == []

    def test_a_check_does_not_advise_to_drop_what_is_missing(self) -> None:
        sim = self.torn()
        (finding,) = [
            each
            for each in only(ask(sim, "check", "--table", FLAT))["findings"]
            if each["code"] == "LIVE_MISSING"
        ]
        assert finding["severity"] == "damage"
        assert "DROP" not in finding["command"]

    def torn(self) -> SimulatedCluster:
        sim = killed(Fault.crash_before(into))
        (found,) = runs_of(sim, [FLAT])
        name, _ = sorted(sim.tree.files(f"{found.directory}/journal"))[-1]
        sim.tree.write(f"{found.directory}/journal/{name}", b"{", overwrite=True)
        return sim
