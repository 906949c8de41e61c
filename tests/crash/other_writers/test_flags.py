"""Flags of other writers, and empty files that become rows, are in their place after each verb."""

from __future__ import annotations

from typing import Any

import pytest

from tests.crash import writers
from tests.crash.crashes import crash_states
from tests.crash.fault_injection import Fault
from tests.crash.flat_table import LIVE, compact, only, originals, out, writing, written
from tests.crash.model_spark import encode_rows
from tests.crash.oracle import check
from tests.crash.other_writers.pending_files import put, rollback
from tests.crash.scenario import FLAT, run
from tests.crash.simulated_cluster import SimulatedCluster

EMPTY = f"{LIVE}/events-17"


def fill(sim: SimulatedCluster, path: str = EMPTY) -> None:
    """A writer opens again what it had made empty, and commits rows in it (touchz and append, WebHDFS)."""
    ids, number = sim.ledger.fresh(3), sim.tree.find(path)
    assert number is not None
    sim.tree.tick()
    sim.tree.change(number, content=encode_rows(ids), mtime=sim.millis)
    sim.ledger.committed.update(ids)


def test_a_flag_is_there_in_the_moment_of_the_swap(sim: SimulatedCluster) -> None:
    put(sim, f"{LIVE}/_READY")
    seen: list[bool] = []

    def observe(_: int, phase: str, now: SimulatedCluster) -> None:
        if now.tree.find(LIVE) is not None and phase == "after":
            seen.append(now.tree.find(f"{LIVE}/_READY") is not None)

    compact(sim.client(observer=observe))
    assert all(seen)


@pytest.mark.parametrize("when", [out, writing])
@pytest.mark.parametrize("name", ["_READY", "DONE", "_SUCCESS"])
def test_a_flag_that_is_set_meanwhile_keeps_its_name(sim: SimulatedCluster, when: Any, name: str) -> None:
    report = compact(sim.client(Fault.hook(when, lambda: put(sim, f"{LIVE}/{name}"))))
    assert report["exit_code"] == 0
    for then in (compact, rollback):
        assert sim.tree.find(f"{LIVE}/{name}") is not None
        then(sim.client())
    assert sim.tree.find(f"{LIVE}/{name}") is not None


@pytest.mark.parametrize("when", [writing, written])
def test_a_flag_that_is_taken_away_meanwhile_does_not_come_back(sim: SimulatedCluster, when: Any) -> None:
    """Who takes it away is about to write."""
    put(sim, f"{LIVE}/_READY")
    report = compact(sim.client(Fault.hook(when, lambda: sim.tree.remove(f"{LIVE}/_READY"))))
    assert [unit["outcome"] for unit in only(report)["units"]] == ["changed"]
    assert sim.tree.find(f"{LIVE}/_READY") is None


def test_a_directory_with_a_flag_is_not_compacted_again_and_again(sim: SimulatedCluster) -> None:
    put(sim, f"{LIVE}/DONE")
    compact(sim.client())
    (unit,) = only(run(sim.client(), "analyze", "--table", FLAT))["units"]
    assert (unit["outcome"], unit["files"]) == ("healthy", 1)


def test_files_are_still_rows(sim: SimulatedCluster) -> None:
    """Nothing of the above takes a file of rows for anything else."""
    writers.append(sim, LIVE, sim.ledger.fresh(2))
    assert only(compact(sim.client()))["outcome"] == "done"
    assert check(sim) == []


@pytest.mark.parametrize("when", [writing, written, out])
def test_an_empty_file_that_gets_rows_meanwhile_is_no_flag(sim: SimulatedCluster, when: Any) -> None:
    """Before: its rows stayed with the originals, and the report said that all was well."""
    put(sim, EMPTY)
    report = compact(sim.client(Fault.hook(when, lambda: fill(sim))))
    assert [unit["outcome"] for unit in only(report)["units"]] == ["changed"]
    assert check(sim) == []


def test_an_empty_file_that_is_closed_with_rows_while_hdfs_is_asked_about_it_is_no_flag(
    sim: SimulatedCluster,
) -> None:
    """The listing before the question shows it empty: it was opened before the originals left, and closed since."""
    put(sim, EMPTY)
    report = compact(sim.client(Fault.hook(_asked_about_the_originals, lambda: fill_moved(sim))))
    assert [unit["outcome"] for unit in only(report)["units"]] == ["changed"]
    assert check(sim) == []


def _asked_about_the_originals(point: Any) -> bool:
    return point.op == "open_files" and "/__originals_" in point.args[0]


def fill_moved(sim: SimulatedCluster) -> None:
    fill(sim, f"{originals(sim)}/events-17")


def test_an_empty_file_that_gets_rows_after_the_compaction_keeps_them_in_a_rollback(
    sim: SimulatedCluster,
) -> None:
    put(sim, EMPTY)
    compact(sim.client())
    fill(sim)
    assert rollback(sim.client())["exit_code"] == 0
    assert check(sim) == []


def test_an_empty_file_that_gets_rows_between_two_attempts_keeps_them(sim: SimulatedCluster) -> None:
    put(sim, EMPTY)
    for state in crash_states(sim, compact):
        live = state.sim.tree.find(EMPTY)
        if live is None:
            continue
        fill(state.sim)
        compact(state.sim.client())
        assert check(state.sim) == [], str(state)


def test_a_success_file_with_text_is_the_newest_one(sim: SimulatedCluster) -> None:
    """As some committers write it. It is moved, and never copied: a copy would be our file with somebody's text."""
    put(sim, f"{LIVE}/_SUCCESS", b'{"files": 4}')

    def anew() -> None:
        sim.tree.remove(f"{LIVE}/_SUCCESS")
        put(sim, f"{LIVE}/_SUCCESS", b'{"files": 5}')

    report = compact(sim.client(Fault.hook(written, anew)))
    assert report["exit_code"] == 0
    inode = sim.tree.get(f"{LIVE}/_SUCCESS")
    assert inode is not None
    assert inode.content == b'{"files": 5}'
