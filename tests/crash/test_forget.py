"""`forget` ends the record of originals that somebody has deleted or changed. It deletes nothing."""

from __future__ import annotations

import pytest

from tests.crash.crashes import crash_states
from tests.crash.fault_injection import Fault, Killed, Point
from tests.crash.flat_table import AT_ONCE, LIVE, compact, only, originals, outcomes
from tests.crash.oracle import check
from tests.crash.scenario import EVENTS, FLAT, WAREHOUSE, build, run
from tests.crash.simulated_cluster import Client, SimulatedCluster

FORGET = ("forget", "--table", FLAT, "--run-id", "r1")


@pytest.fixture
def damaged(done: SimulatedCluster) -> SimulatedCluster:
    """Somebody has deleted a file of the originals."""
    name, _ = done.tree.files(originals(done))[0]
    done.tree.remove(f"{originals(done)}/{name}")
    return done


def _files(sim: SimulatedCluster) -> list[str]:
    return [path for path, _, inode in sim.tree.walk(WAREHOUSE) if not inode.is_dir]


def test_without_yes_it_says_what_it_would_do_and_changes_nothing(damaged: SimulatedCluster) -> None:
    before = _files(damaged)
    report = run(damaged.client(), *FORGET)
    assert (outcomes(report), report["exit_code"]) == (["flagged"], 0)
    assert "--yes" in only(report)["units"][0]["reason"]
    assert _files(damaged) == before


def test_it_ends_the_nightly_failure_and_deletes_nothing(damaged: SimulatedCluster) -> None:
    kept = damaged.tree.files(originals(damaged))
    place = originals(damaged)
    assert run(damaged.client(), "cleanup", "--table", FLAT, *AT_ONCE)["exit_code"] == 3
    report = run(damaged.client(), *FORGET, "--yes")
    assert (outcomes(report), report["exit_code"]) == (["forgotten"], 0)
    assert place in only(report)["units"][0]["reason"]
    for verb, *words in (("cleanup", *AT_ONCE), ("rollback",), ("compact", "--run-id", "r2")):
        assert run(damaged.client(), verb, "--table", FLAT, *words)["exit_code"] == 0
    assert damaged.tree.files(place) == kept
    assert check(damaged) == []


def test_a_rollback_says_that_they_were_forgotten(damaged: SimulatedCluster) -> None:
    run(damaged.client(), *FORGET, "--yes")
    report = run(damaged.client(), "rollback", "--table", FLAT, "--run-id", "r1")
    assert (report["outcome"], report["exit_code"]) == ("nothing", 0)
    assert "forgotten" in only(report)["reason"]


def test_asked_again_there_is_nothing_to_forget(damaged: SimulatedCluster) -> None:
    run(damaged.client(), *FORGET, "--yes")
    report = run(damaged.client(), *FORGET, "--yes")
    assert (report["outcome"], report["exit_code"]) == ("nothing", 0)


def test_intact_originals_are_not_forgotten(done: SimulatedCluster) -> None:
    report = run(done.client(), *FORGET, "--yes")
    assert (outcomes(report), report["outcome"]) == (["skipped"], "nothing")
    assert "intact" in only(report)["units"][0]["reason"]
    assert run(done.client(), "rollback", "--table", FLAT)["outcome"] == "done"


def test_originals_that_are_the_only_copy_are_not_forgotten(done: SimulatedCluster) -> None:
    for name, _ in done.tree.files(LIVE):
        done.tree.remove(f"{LIVE}/{name}")
    report = run(done.client(), *FORGET, "--yes")
    assert outcomes(report) == ["skipped"]
    assert "rollback" in only(report)["units"][0]["reason"]


def test_a_run_that_does_not_exist_is_an_error(done: SimulatedCluster) -> None:
    report = run(done.client(), "forget", "--table", FLAT, "--run-id", "r9", "--yes")
    assert (only(report)["outcome"], report["exit_code"]) == ("failed", 1)
    assert "history" in only(report)["reason"]


def test_only_the_damaged_unit_is_forgotten() -> None:
    sim = build()
    compact(sim.client(), EVENTS)
    sim.tree.remove(_folder(sim, "__originals"), recursive=True)
    report = run(sim.client(), "forget", "--table", EVENTS, "--run-id", "r1", "--yes")
    found = {unit["unit"]["k"]: unit["outcome"] for unit in only(report)["units"]}
    assert found == {"a": "forgotten", "b": "skipped", "c": "skipped"}
    report = run(sim.client(), "rollback", "--table", EVENTS)
    found = {unit["unit"]["k"]: unit["outcome"] for unit in only(report)["units"]}
    assert found == {"a": "skipped", "b": "restored", "c": "restored"}
    assert (report["exit_code"], check(sim)) == (1, [])


def test_a_kill_at_any_call_leaves_a_state_that_the_next_jobs_end(damaged: SimulatedCluster) -> None:
    place = originals(damaged).split("/", 6)[-1].split("/", 1)[-1]

    def forget(client: Client) -> object:
        return run(client, *FORGET, "--yes")

    for state in crash_states(damaged, forget):
        assert run(state.sim.client(), *FORGET, "--yes")["exit_code"] == 0, str(state)
        assert run(state.sim.client(), "cleanup", "--table", FLAT, *AT_ONCE)["exit_code"] == 0, str(state)
        assert [path for path in _files(state.sim) if place in path], str(state)
        assert check(state.sim) == [], str(state)


A = f"{WAREHOUSE}/events/k=a"


@pytest.fixture
def torn() -> SimulatedCluster:
    """A compaction dies after the second rename of the partition a, and somebody deletes its originals."""
    sim = build()
    with pytest.raises(Killed):
        compact(sim.client(Fault.crash_after(_into_a)), EVENTS)
    sim.tree.remove(_folder(sim, "__originals"), recursive=True)
    return sim


def _into_a(point: Point) -> bool:
    return point.op == "rename" and point.args[1] == A


def _folder(sim: SimulatedCluster, kind: str) -> str:
    home = f"{WAREHOUSE}/events/.lakekeeper"
    return next(path for path, _, _ in sim.tree.walk(home) if kind in path and path.endswith("/k=a"))


def test_a_swap_in_a_state_that_no_rule_covers_can_be_forgotten(torn: SimulatedCluster) -> None:
    report = compact(torn.client(), EVENTS, "r2")
    assert report["exit_code"] == 3
    (reason,) = [unit["reason"] for unit in only(report)["units"] if unit["outcome"] == "quarantined"]
    assert "lakekeeper forget --table sales.events --run-id r1" in reason
    report = run(torn.client(), "forget", "--table", EVENTS, "--run-id", "r1", "--yes")
    found = {unit["unit"]["k"]: unit["outcome"] for unit in only(report)["units"]}
    assert (found["a"], report["exit_code"]) == ("forgotten", 0)
    for verb, *words in (("compact", "--run-id", "r3"), ("cleanup", *AT_ONCE)):
        assert run(torn.client(), verb, "--table", EVENTS, *words)["exit_code"] == 0
    assert check(torn) == []


def test_a_recovery_leaves_the_directories_of_a_forgotten_swap_alone() -> None:
    """Its rewritten directory may be the only copy: somebody has to look at it first."""
    sim = build()
    with pytest.raises(Killed):
        compact(sim.client(Fault.crash_before(_out_of_a)), EVENTS)
    rewritten = _folder(sim, "__compact_tmp")
    sim.tree.make_dirs(rewritten.replace("__compact_tmp", "__originals"))
    assert compact(sim.client(), EVENTS, "r2")["exit_code"] == 3
    run(sim.client(), "forget", "--table", EVENTS, "--run-id", "r1", "--yes")
    kept = sim.tree.files(_folder(sim, "__compact_tmp"))
    assert kept
    with pytest.raises(Killed):
        compact(sim.client(Fault.crash_after(_enters)), EVENTS, "r1")
    assert run(sim.client(), "cleanup", "--table", EVENTS, "--older-than", "365d")["exit_code"] == 0
    assert sim.tree.files(_folder(sim, "__compact_tmp")) == kept


def _out_of_a(point: Point) -> bool:
    return point.op == "rename" and point.args[0] == A


def _enters(point: Point) -> bool:
    return point.op == "rename" and "/journal/" in point.args[1]
