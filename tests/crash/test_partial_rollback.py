"""A rollback of a run of which a cleanup has deleted some originals says so, and lists what stays compacted."""

from __future__ import annotations

import pytest

from tests.crash import writers
from tests.crash.fault_injection import Fault, Killed, Point
from tests.crash.flat_table import AT_ONCE, only
from tests.crash.oracle import check
from tests.crash.scenario import EVENTS, WAREHOUSE, build, run
from tests.crash.simulated_cluster import SimulatedCluster

CONFIG = "hdfs://model/lakekeeper.yaml"


def _deletes_b(point: Point) -> bool:
    return point.op == "delete_tree" and "/__cleaned_" in point.args[0] and point.args[0].endswith("/k=b")


@pytest.fixture
def half_cleaned() -> SimulatedCluster:
    """The partition a is cleaned; the originals of b and c are still there."""
    sim = build()
    assert run(sim.client(), "compact", "--table", EVENTS, "--run-id", "r1")["exit_code"] == 0
    partly = Fault.error_before(_deletes_b)
    report = run(sim.client(partly), "cleanup", "--table", EVENTS, *AT_ONCE)
    assert only(report)["outcome"] == "partial"
    return sim


def _units(report: dict[str, object]) -> dict[str, tuple[str, str | None]]:
    return {unit["unit"]["k"]: (unit["outcome"], unit["code"]) for unit in only(report)["units"]}


@pytest.mark.parametrize("words", [(), ("--run-id", "r1")])
def test_what_could_not_be_restored_is_listed(half_cleaned: SimulatedCluster, words: tuple[str, ...]) -> None:
    report = run(half_cleaned.client(), "rollback", "--table", EVENTS, *words)
    units = _units(report)
    assert ("restored", None) in units.values()
    assert units["a"] == ("skipped", "ORIGINALS_DELETED")
    assert (only(report)["outcome"], report["outcome"], report["exit_code"]) == ("partial", "partial", 1)
    reason = next(unit["reason"] for unit in only(report)["units"] if unit["unit"]["k"] == "a")
    assert "deleted" in reason
    assert "stays compacted" in reason
    assert check(half_cleaned) == []


def test_asked_again_there_is_nothing_left_to_restore(half_cleaned: SimulatedCluster) -> None:
    run(half_cleaned.client(), "rollback", "--table", EVENTS, "--run-id", "r1")
    report = run(half_cleaned.client(), "rollback", "--table", EVENTS, "--run-id", "r1")
    assert (only(report)["outcome"], report["outcome"], report["exit_code"]) == ("nothing", "nothing", 0)
    assert "cleaned up at" in only(report)["reason"]


def test_a_whole_rollback_is_not_partial() -> None:
    sim = build()
    run(sim.client(), "compact", "--table", EVENTS, "--run-id", "r1")
    report = run(sim.client(), "rollback", "--table", EVENTS)
    assert (only(report)["outcome"], report["exit_code"]) == ("done", 0)
    assert set(_units(report).values()) == {("restored", None)}


@pytest.mark.parametrize("words", [("--dry-run",), ("--config-file", CONFIG)])
def test_a_dry_run_says_what_would_be_restored_and_changes_nothing(words: tuple[str, ...]) -> None:
    """Also where the file says so that a person has set up for a first try."""
    sim = build()
    sim.tree.write(CONFIG, b"dry_run: true\n", parents=True)
    run(sim.client(), "compact", "--table", EVENTS, "--run-id", "r1")
    before = sim.digest()
    report = run(sim.client(), "rollback", "--table", EVENTS, *words)
    assert (report["outcome"], report["exit_code"], only(report)["run_id"]) == ("nothing", 0, "r1")
    assert only(report)["reason"] == "nothing was restored: dry_run is set"
    assert {each[0] for each in _units(report).values()} == {"flagged"}
    assert {unit["reason"] for unit in only(report)["units"]} == {
        "dry run: its originals of run r1 would be restored"
    }
    assert sim.digest() == before
    writers.append(sim, f"{WAREHOUSE}/events/k=a", sim.ledger.fresh(1))
    refusing = ("--on-new-data", "refuse")
    report = run(sim.client(), "rollback", "--table", EVENTS, *words, *refusing)
    assert (only(report)["outcome"], report["exit_code"]) == ("failed", 1)
    assert sorted(outcome for outcome, _ in _units(report).values()) == ["failed", "flagged", "flagged"]
    assert set(_units(run(sim.client(), "rollback", "--table", EVENTS)).values()) == {("restored", None)}


def test_a_dry_run_names_the_run_that_is_the_newest_once_an_open_one_is_taken_back() -> None:
    sim = build()
    run(sim.client(), "compact", "--table", EVENTS, "--run-id", "first")
    for value in "ab":
        for _ in range(3):
            writers.append(sim, f"{WAREHOUSE}/events/k={value}", sim.ledger.fresh(1))
    before_the_swap = Fault.crash_before(
        lambda point: point.op == "rename" and "/__originals_" in point.args[1]
    )
    with pytest.raises(Killed):
        run(sim.client(before_the_swap), "compact", "--table", EVENTS, "--run-id", "second")
    report = run(sim.client(), "rollback", "--table", EVENTS, "--dry-run")
    said = {(unit["unit"]["k"], unit["reason"].partition(": ")[2]) for unit in only(report)["units"]}
    open_ = "what run second has left open would be finished first"
    whole = "its originals of run first would be restored"
    assert only(report)["run_id"] is None
    assert said >= {("a", open_), ("b", open_), ("c", whole)}
    restored = only(run(sim.client(), "rollback", "--table", EVENTS))
    assert (restored["run_id"], {unit["unit"]["k"] for unit in restored["units"]}) == ("first", set("abc"))


def _claims(point: Point) -> bool:
    return point.op == "delete_tree" and "/__cleaned_" in point.args[0]


@pytest.mark.parametrize(
    ("verb", "fault"),
    [
        (("cleanup", *AT_ONCE), Fault.crash_before(_claims)),
        (
            ("compact",),
            Fault.crash_after(lambda point: point.op == "rename" and "/__originals_" in point.args[1]),
        ),
    ],
)
def test_a_dry_run_names_what_a_job_that_died_has_left_open(verb: tuple[str, ...], fault: Fault) -> None:
    sim = build()
    if verb[0] == "cleanup":
        run(sim.client(), "compact", "--table", EVENTS)
    with pytest.raises(Killed):
        run(sim.client(fault), verb[0], "--table", EVENTS, *verb[1:])
    before = sim.digest()
    report = run(sim.client(), "rollback", "--table", EVENTS, "--dry-run")
    assert (report["exit_code"], sim.digest()) == (0, before)
    reasons = {unit["reason"] for unit in only(report)["units"] if unit["outcome"] == "flagged"}
    assert any(reason.endswith("has left open would be finished first") for reason in reasons)
