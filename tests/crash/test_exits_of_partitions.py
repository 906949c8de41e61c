"""Partitions that DDL has moved, renamed or dropped since a run: the message names the statement that ends it."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from spark_jobs.core.values.model import TableName
from tests.crash import writers
from tests.crash.exits import ROOT, ask, compacted, killed, must_end, old_of, reasons, set_location, twice
from tests.crash.fault_injection import Fault
from tests.crash.flat_table import AT_ONCE, only, outcomes
from tests.crash.model_tree import AUTHORITY
from tests.crash.oracle import check, live_rows
from tests.crash.scenario import EVENTS, build
from tests.crash.simulated_cluster import SimulatedCluster

LIVE = f"{ROOT}/k=a"
ARCHIVE = f"{AUTHORITY}/archive/k=a"
CLEAN = ("cleanup", "--table", EVENTS, *AT_ONCE)
CHECK = ("check", "--table", EVENTS)
ROLL = ("rollback", "--table", EVENTS, "--run-id", "r1")
SET_LOCATION = re.compile(r"ALTER TABLE sales\.events PARTITION \(`k`='(\w+)'\) SET LOCATION '([^']+)'")
ADD_PARTITION = re.compile(r"ALTER TABLE sales\.events ADD PARTITION \(`k`='(\w+)'\) LOCATION '([^']+)'")


def says(sim: SimulatedCluster, *words: str) -> str:
    """What a verb says of a state that it fails on twice; a check says it in the command of a finding."""
    text = twice(sim, *words)
    if words[0] != "check":
        return text
    return " | ".join(str(finding["command"]) for finding in only(ask(sim, *words))["findings"])


def give_location_back(sim: SimulatedCluster, text: str) -> None:
    """Do what the message says; the metastore makes no directory."""
    found = SET_LOCATION.search(text)
    assert found, text
    set_location(sim, EVENTS, found[2], found[1])


def roll_back(sim: SimulatedCluster, text: str) -> None:
    """Other units of the run may have been cleaned up meanwhile."""
    assert f"lakekeeper {' '.join(ROLL)}" in text
    report = ask(sim, *ROLL)
    restored = {unit["unit"]["k"] for unit in only(report)["units"] if unit["outcome"] == "restored"}
    assert "a" in restored, reasons(report)


def rename(sim: SimulatedCluster, old: str, new: str) -> None:
    """ALTER TABLE ... RENAME TO PARTITION, which leaves the directory of an external table where it is."""
    name = TableName.parse(EVENTS)
    known = sim.metastore.get(name)
    partitions = dict(known.partitions)
    place = partitions.pop(writers.spec_of(sim, EVENTS, (old,)))
    partitions[writers.spec_of(sim, EVENTS, (new,))] = place
    sim.metastore.put(name, replace(known, partitions=partitions))


class TestMoved:
    @pytest.mark.parametrize("words", [CLEAN, CHECK], ids=["cleanup", "check"])
    @pytest.mark.parametrize("live", ["kept", "deleted"])
    def test_to_a_directory_that_does_not_exist(self, words: tuple[str, ...], live: str) -> None:
        sim = compacted(EVENTS)
        set_location(sim, EVENTS, ARCHIVE, "a")
        if live == "deleted":
            sim.tree.remove(LIVE, recursive=True)
        text = says(sim, *words)
        give_location_back(sim, text)
        roll_back(sim, text)
        must_end(sim, *words)
        assert check(sim) == []

    def test_to_a_directory_without_data(self) -> None:
        sim = compacted(EVENTS)
        sim.tree.make_dirs(ARCHIVE)
        set_location(sim, EVENTS, ARCHIVE, "a")
        text = twice(sim, *CLEAN)
        assert "hdfs dfs -mv" not in text
        give_location_back(sim, text)
        roll_back(sim, text)
        must_end(sim, *CLEAN)
        assert check(sim) == []

    def test_to_its_originals(self) -> None:
        sim = compacted(EVENTS)
        set_location(sim, EVENTS, old_of(sim, "a"), "a")
        text = twice(sim, *CLEAN)
        give_location_back(sim, text)
        roll_back(sim, text)
        must_end(sim, *CLEAN)
        assert check(sim) == []

    def test_to_its_originals_and_nothing_is_rolled_back(self) -> None:
        sim = compacted(EVENTS)
        set_location(sim, EVENTS, old_of(sim, "a"), "a")
        give_location_back(sim, twice(sim, *CLEAN))
        must_end(sim, *CLEAN)
        assert check(sim) == []

    @pytest.mark.parametrize("place", ["archive", "originals"])
    def test_and_rolled_back(self, place: str) -> None:
        sim = compacted(EVENTS)
        set_location(sim, EVENTS, ARCHIVE if place == "archive" else old_of(sim, "a"), "a")
        text = twice(sim, *ROLL)
        assert ("lakekeeper cleanup" in text) == (place == "archive"), (
            "a cleanup does not end the other state"
        )
        give_location_back(sim, text)
        roll_back(sim, text)
        assert check(sim) == []


class TestAnotherPartitionOnOriginals:
    def test_a_cleanup_says_that_it_needs_a_directory_of_its_own(self) -> None:
        sim = compacted(EVENTS)
        writers.add_partition(sim, EVENTS, "x", location=old_of(sim, "a"))
        assert "a directory of its own (ALTER TABLE" in twice(sim, *CLEAN)
        set_location(sim, EVENTS, f"{ROOT}/k=x", "x")
        sim.tree.make_dirs(f"{ROOT}/k=x")
        must_end(sim, *CLEAN)


class TestRenamed:
    def test_and_emptied(self) -> None:
        sim = compacted(EVENTS)
        before = live_rows(sim, EVENTS)
        rename(sim, "a", "z")
        for file, _ in sim.tree.files(LIVE):
            sim.tree.remove(f"{LIVE}/{file}")
        text = twice(sim, *CLEAN)
        assert f"hdfs dfs -mv '{LIVE}'" in text
        sim.tree.make_dirs(f"{AUTHORITY}/aside")
        sim.tree.rename(LIVE, f"{AUTHORITY}/aside/a")
        roll_back(sim, text)
        must_end(sim, *CLEAN)
        assert live_rows(sim, EVENTS) == before

    def test_between_the_renames_of_a_swap_keeps_its_rows(self) -> None:
        """The rewritten directory is gone too, so that its rows are only in the originals."""
        sim = build()
        before = live_rows(sim, EVENTS)
        killed(Fault.crash_before(lambda point: point.op == "rename" and point.args[1] == LIVE), EVENTS, sim)
        (rewritten,) = [
            path for path, _, _ in sim.tree.walk(ROOT) if re.search(r"__compact_tmp_\d+/k=a$", path)
        ]
        sim.tree.remove(rewritten, recursive=True)
        rename(sim, "a", "z")
        must_end(sim, *CLEAN)
        assert live_rows(sim, EVENTS) == before

    def test_and_rolled_back(self) -> None:
        sim = compacted(EVENTS)
        before = live_rows(sim, EVENTS)
        rename(sim, "a", "z")
        report = ask(sim, *ROLL)
        assert (report["exit_code"], set(outcomes(report)), live_rows(sim, EVENTS)) == (
            0,
            {"restored"},
            before,
        )

    def test_is_not_to_be_added_again_under_its_old_name(self) -> None:
        """Its rows would be in the table twice."""
        sim = compacted(EVENTS)
        rename(sim, "a", "z")
        assert [text for text in only(ask(sim, *ROLL))["warnings"] if "add it again" in text] == []


def add_partition(sim: SimulatedCluster, text: str) -> None:
    """Do what the message says; the metastore makes a directory that is missing."""
    found = ADD_PARTITION.search(text)
    assert found, text
    writers.add_partition(sim, EVENTS, found[1], location=found[2])
    empty = re.search(r"hdfs dfs -rmdir '([^']+)'", text)
    if empty:
        assert list(sim.tree.files(empty[1])) == []
        sim.tree.remove(empty[1])


class TestDropped:
    @pytest.mark.parametrize("delete_data", [False, True])
    def test_and_added_again(self, delete_data: bool) -> None:
        sim = compacted(EVENTS)
        writers.drop_partition(sim, EVENTS, "a", delete_data=delete_data)
        text = twice(sim, *ROLL)
        add_partition(sim, text)
        roll_back(sim, text)
        assert live_rows(sim, EVENTS)

    def test_and_cleaned_up(self) -> None:
        sim = compacted(EVENTS)
        writers.drop_partition(sim, EVENTS, "a")
        assert "`lakekeeper cleanup --table sales.events`" in twice(sim, *ROLL)
        must_end(sim, *CLEAN)
