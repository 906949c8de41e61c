"""A rollback of a run of which a cleanup has deleted some originals says so, and lists what stays compacted."""

from __future__ import annotations

import pytest

from tests.crash import writers
from tests.crash.explorer import runs_of
from tests.crash.fault_injection import Fault, Killed, Point
from tests.crash.flat_table import AT_ONCE, LIVE, into, only
from tests.crash.oracle import check
from tests.crash.scenario import EVENTS, FLAT, WAREHOUSE, build, run
from tests.crash.simulated_cluster import SimulatedCluster

CONFIG = "hdfs://model/lakekeeper.yaml"


def _deletes_b(point: Point) -> bool:
    return point.op == "delete_tree" and "/__claimed_" in point.args[0] and point.args[0].endswith("/k=b")


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


def test_a_dry_run_of_two_runs_takes_the_newer_one_for_taken_back() -> None:
    """Before: it failed where the rollback succeeds."""
    sim = build()
    run(sim.client(), "compact", "--table", FLAT, "--run-id", "first")
    for _ in range(3):
        writers.append(sim, LIVE, sim.ledger.fresh(1))
    run(sim.client(), "compact", "--table", FLAT, "--run-id", "second")
    newest = run(sim.client(), "rollback", "--table", FLAT, "--dry-run")
    assert [unit["reason"] for unit in only(newest)["units"]] == [
        "dry run: its originals of run second would be restored"
    ]
    both = {"schema_version": 1, "runs": {FLAT: ["first", "second"]}}
    report = run(sim.client(), "rollback", "--table", FLAT, "--dry-run", request=both)
    assert (report["outcome"], report["exit_code"]) == ("nothing", 0)
    assert [unit["reason"].partition(": ")[2] for unit in only(report)["units"]] == [
        "its originals of run second would be restored",
        "its originals of run first would be restored, if run second has been taken back before",
    ]
    first = next(found for found in runs_of(sim, [FLAT]) if found.run_id == "first")
    sim.tree.remove(first.path(next(iter(first.state.units.values())).swap.old), recursive=True)
    report = run(sim.client(), "rollback", "--table", FLAT, "--dry-run", request=both)
    assert (report["outcome"], report["exit_code"]) == ("unsafe", 3)


def test_a_dry_run_remembers_each_of_several_newer_runs() -> None:
    sim, runs = build(), ["first", "second", "third"]
    for run_id in runs:
        run(sim.client(), "compact", "--table", FLAT, "--run-id", run_id)
        writers.append(sim, LIVE, sim.ledger.fresh(1))
    partitions = only(run(sim.client(), "compact", "--table", EVENTS, "--run-id", "first"))["units"]
    assert len(partitions) == 3
    writers.append(sim, f"{WAREHOUSE}/events/k=a", sim.ledger.fresh(1))
    for run_id in runs[1:]:
        run(sim.client(), "compact", "--table", EVENTS, "--run-id", run_id)
        writers.append(sim, f"{WAREHOUSE}/events/k=b", sim.ledger.fresh(1))
    for table in (FLAT, EVENTS):
        request = {"schema_version": 1, "runs": {table: runs}}
        assert run(sim.client(), "rollback", "--table", table, "--dry-run", request=request)["exit_code"] == 0
        assert run(sim.client(), "rollback", "--table", table, request=request)["exit_code"] == 0


def test_a_dry_run_is_no_failure_where_a_job_has_died_after_its_renames() -> None:
    sim = build()
    run(sim.client(), "compact", "--table", FLAT, "--run-id", "first")
    for _ in range(3):
        writers.append(sim, LIVE, sim.ledger.fresh(1))
    after_the_swap = Fault.crash_after(into)
    with pytest.raises(Killed):
        run(sim.client(after_the_swap), "compact", "--table", FLAT, "--run-id", "second")
    report = run(sim.client(), "rollback", "--table", FLAT, "--dry-run")
    assert (report["outcome"], report["exit_code"]) == ("nothing", 0)
    restored = run(sim.client(), "rollback", "--table", FLAT)
    assert (restored["exit_code"], only(restored)["run_id"]) == (0, "second")


def test_a_dry_run_says_what_a_cleanup_has_deleted(half_cleaned: SimulatedCluster) -> None:
    report = run(half_cleaned.client(), "rollback", "--table", EVENTS, "--dry-run")
    deleted = [unit for unit in only(report)["units"] if unit["code"] == "ORIGINALS_DELETED"]
    assert only(report)["reason"] == (
        f"nothing was restored: dry_run is set; the originals of {len(deleted)} of 3 units were deleted, and cannot be"
        " restored"
    )


def test_a_dry_run_does_not_name_what_was_restored_before() -> None:
    sim = build()
    run(sim.client(), "compact", "--table", EVENTS, "--run-id", "r1")
    writers.append(sim, f"{WAREHOUSE}/events/k=a", sim.ledger.fresh(1))
    partly = run(sim.client(), "rollback", "--table", EVENTS, "--on-new-data", "refuse")
    assert {key: outcome for key, (outcome, _) in _units(partly).items()} == {
        **dict.fromkeys("bc", "restored"),
        "a": "failed",
    }
    report = run(sim.client(), "rollback", "--table", EVENTS, "--dry-run")
    assert _units(report) == {"a": ("flagged", None)}


def _claims(point: Point) -> bool:
    return point.op == "delete_tree" and "/__claimed_" in point.args[0]


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
