"""A file where the jobs keep a directory, and the other way round: the message names what moves it away."""

from __future__ import annotations

import re

import pytest

from tests.crash.exits import CLEAN, ROLL, ROOT, ask, compacted, must_end, reasons, twice
from tests.crash.explorer import runs_of
from tests.crash.flat_table import HOME, append, only
from tests.crash.model_tree import AUTHORITY
from tests.crash.oracle import check
from tests.crash.scenario import EVENTS, FLAT, build
from tests.crash.simulated_cluster import SimulatedCluster

MOVE = re.compile(r"hdfs dfs -mv '([^']+)' <a directory outside the table>")
COMPACT = ("compact", "--table", FLAT, "--run-id", "r2")
HISTORY = ("history", "--table", FLAT)
CHECK = ("check", "--table", FLAT)


def move_away(sim: SimulatedCluster, text: str) -> None:
    """Do what the message says."""
    found = MOVE.search(text)
    assert found, text
    sim.tree.make_dirs(f"{AUTHORITY}/aside")
    sim.tree.rename(found[1], f"{AUTHORITY}/aside/moved")


class TestFileInPlaceOfTheHome:
    @pytest.mark.parametrize("words", [COMPACT, ROLL, HISTORY], ids=["compact", "rollback", "history"])
    def test_is_moved_away(self, words: tuple[str, ...]) -> None:
        sim = build()
        sim.tree.write(HOME, b"x")
        move_away(sim, twice(sim, *words))
        must_end(sim, *words)
        assert check(sim) == []

    def test_is_named_by_a_check_and_no_other_path_is(self) -> None:
        sim = build()
        sim.tree.write(HOME, b"x")
        twice(sim, *CHECK)
        findings = only(ask(sim, *CHECK))["findings"]
        (command,) = [finding["command"] for finding in findings if finding["command"]]
        move_away(sim, command)
        must_end(sim, *CHECK)

    @pytest.mark.parametrize("verb", ["analyze", "compact"])
    def test_fails_no_job_of_a_database(self, verb: str) -> None:
        sim = build()
        sim.tree.write(HOME, b"x")
        report = ask(sim, verb, "--database", "sales")
        found = {table["table"]: (table["outcome"], table["code"]) for table in report["tables"]}
        assert found[FLAT] == ("refused", "NOT_WRITABLE"), reasons(report)
        assert (report["exit_code"], found[EVENTS][1]) == (0, None)

    def test_of_a_partition_outside_the_root(self) -> None:
        sim = build()
        sim.tree.write(f"{AUTHORITY}/elsewhere/.lakekeeper-c", b"x")
        words = ("compact", "--table", EVENTS, "--run-id", "r1")
        move_away(sim, twice(sim, *words))
        must_end(sim, *words)
        assert check(sim) == []


class TestDirectoryWithTheNameOfARecord:
    @pytest.fixture
    def sim(self) -> SimulatedCluster:
        sim = compacted()
        (found,) = runs_of(sim, [FLAT])
        names = sorted(name for name, _ in sim.tree.files(f"{found.directory}/journal"))
        sim.tree.make_dirs(f"{found.directory}/journal/{int(names[-1][:6]) + 1:06d}.json")
        append(sim)()
        return sim

    @pytest.mark.parametrize("words", [COMPACT, ROLL, CLEAN, HISTORY], ids=lambda words: words[0])
    def test_hides_no_run_and_is_moved_away(self, sim: SimulatedCluster, words: tuple[str, ...]) -> None:
        move_away(sim, twice(sim, *words))
        must_end(sim, *words)
        must_end(sim, *ROLL)
        assert check(sim) == []

    def test_is_named_by_a_check(self, sim: SimulatedCluster) -> None:
        twice(sim, *CHECK)
        (finding,) = only(ask(sim, *CHECK))["findings"]
        move_away(sim, finding["command"])
        must_end(sim, *CHECK)


def test_a_commit_log_that_may_not_be_read_is_not_to_be_deleted() -> None:
    sim = compacted(EVENTS)
    number = sim.tree.find(f"{ROOT}/.lakekeeper/log/snapshot")
    assert number is not None
    sim.tree.change(number, owner="etl", mode=0o700)
    report = ask(sim, "check", "--table", EVENTS)
    assert report["exit_code"] == 1, reasons(report)
    assert [finding["command"] for finding in only(report)["findings"]] == [None]
