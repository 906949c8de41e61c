"""Settled runs are folded into one record: every answer stays what it was, and nothing else is folded."""

from __future__ import annotations

from typing import Any

import pytest

from tests.crash import writers
from tests.crash.explorer import cleanup, compact, rollback, runs_of
from tests.crash.fault_injection import Fault, Point
from tests.crash.flat_table import HOME, LIVE, only, outcomes
from tests.crash.oracle import check
from tests.crash.scenario import EVENTS, FLAT, build, run
from tests.crash.settled import (
    DAY,
    OLD,
    WithNewFiles,
    add_files,
    answers,
    folded,
    history,
    names_in,
    present,
    rollback_of,
    settled,
    snapshots,
)
from tests.crash.simulated_cluster import SimulatedCluster

RECORD = f"{HOME}/settled/000001.json.gz"


@pytest.mark.parametrize("table", [FLAT, EVENTS])
def test_settled_runs_are_folded_and_answer_as_before(table: str) -> None:
    sim = settled(table)
    before = answers(sim, table)
    assert present(sim, table, OLD) == list(OLD)
    assert compact(table, "r2")(sim.client())["exit_code"] == 0
    assert present(sim, table, OLD) == []
    assert answers(sim, table) == before
    assert [row["kind"] for row in before[0]] == ["cleanup", "compact"]
    assert "cleaned up at" in before[2][1]
    assert check(sim) == []


def test_all_rows_of_the_history_stay_as_they_are() -> None:
    """Except those of the run that folds: it adds its own."""
    sim = settled()
    before = history(sim)
    compact(FLAT, "r2")(sim.client())
    rows = history(sim)
    assert [row for row in rows if row["run_id"] != "r2"] == before
    assert [row["rollback"] for row in rows if row["run_id"] == "r2"] == ["possible"]


def test_a_cleanup_folds_too() -> None:
    sim = settled()
    compact(FLAT, "r2")(sim.client())
    cleanup(FLAT)(sim.client())
    sim.advance(2 * DAY)
    add_files(sim)
    compact(FLAT, "r3")(sim.client())
    before = answers(sim, FLAT, ["r2"])
    sim.advance(2 * DAY)
    cleanup(FLAT)(sim.client())
    assert present(sim, FLAT, ["r2", "r3"]) == ["r3"]
    assert answers(sim, FLAT, ["r2"]) == before


def test_the_snapshots_of_folded_runs_are_deleted_with_their_manifests() -> None:
    sim = settled()
    old = snapshots(sim)
    assert {snapshot.run_id for snapshot in old} == {"r1"}
    compact(FLAT, "r2")(sim.client())
    assert [snapshot.run_id for snapshot in snapshots(sim)] == ["r2"]
    assert not any(snapshot.delta in name for snapshot in old for name in names_in(sim))


@pytest.mark.parametrize("flagged", [False, True])
@pytest.mark.parametrize("run_id", OLD)
def test_a_retry_of_a_folded_run_answers_as_before(run_id: str, flagged: bool) -> None:
    """A run that ended well opens a generation; the other one is resumed under its own id."""

    def answer(sim: SimulatedCluster) -> list[Any]:
        if flagged:
            add_files(sim)
        table = only(compact(FLAT, run_id)(sim.client()))
        return [table["run_id"], table["outcome"], [unit["outcome"] for unit in table["units"]]]

    folding, young = folded(), settled(age=3600)
    compact(FLAT, "r2")(young.client())
    assert present(young, FLAT, OLD) == list(OLD)
    assert answer(folding) == answer(young)
    assert check(folding) == []


def test_what_a_resumed_run_swaps_can_be_rolled_back() -> None:
    sim = folded()
    cleanup(FLAT)(sim.client())
    add_files(sim)
    assert outcomes(compact(FLAT, "r0")(sim.client())) == ["compacted"]
    assert [row["rollback"] for row in history(sim) if row["run_id"] == "r0"] == ["possible"]
    report = run(sim.client(), "rollback", "--table", FLAT, "--run-id", "r0")
    assert outcomes(report) == ["restored"]
    assert check(sim) == []


def test_who_was_taken_over_before_he_moved_a_directory_moves_nothing() -> None:
    """Its successor has resumed the very run meanwhile, whose directory holds originals again."""

    def moving(point: Point) -> bool:
        return point.op == "rename" and "/settled/r0." in point.args[1]

    sim = settled()
    meanwhile = WithNewFiles(compact(FLAT, "r0"))
    sleeper = sim.client(Fault.hook(moving, lambda: meanwhile(sim.client()), paused=True))
    assert compact(FLAT, "r2")(sleeper)["exit_code"] == 0
    assert rollback_of(sim, "r0")[2] == ["restored"]
    assert check(sim) == []


class TestNotFolded:
    def test_a_run_that_holds_originals(self, built: SimulatedCluster) -> None:
        compact(FLAT, "r1")(built.client())
        folds(built)
        assert present(built, FLAT, ["r1"]) == ["r1"]
        built.advance(60)
        assert rollback_of(built, "r1")[2] != []

    def test_a_run_of_which_one_partition_holds_originals(self, built: SimulatedCluster) -> None:
        compact(EVENTS, "r1")(built.client())
        place = writers.location_of(built, EVENTS, "a")
        for name, _ in list(built.tree.files(place)):
            built.tree.remove(f"{place}/{name}")
        cleanup(EVENTS)(built.client())
        folds(built, EVENTS)
        assert present(built, EVENTS, ["r1"]) == ["r1"]

    def test_a_run_that_ended_today(self) -> None:
        sim = settled(age=DAY - 3600)
        compact(FLAT, "r2")(sim.client())
        assert present(sim, FLAT, OLD) == list(OLD)

    def test_a_run_whose_directory_holds_another_file(self) -> None:
        """Whatever its journal says: it may hold the only copy of rows."""
        sim = settled()
        (found,) = [each for each in runs_of(sim, [FLAT]) if each.run_id == "r1"]
        late = f"{found.directory}/__conflict_1772323100/flat/0/part-late.parquet"
        sim.tree.write(late, b"x", parents=True)
        compact(FLAT, "r2")(sim.client())
        assert present(sim, FLAT, OLD) == ["r1"]
        assert sim.tree.find(late)

    def test_a_run_in_a_home_whose_lease_is_not_held(self) -> None:
        """This compaction works below the root only; the partition elsewhere has a home of its own."""
        sim = settled(EVENTS)
        request = {"units": {EVENTS: [{"k": "a"}]}}
        report = run(sim.client(), "compact", "--table", EVENTS, "--run-id", "r2", request=request)
        assert report["exit_code"] == 0
        assert present(sim, EVENTS, OLD) == list(OLD)


def folds(sim: SimulatedCluster, table: str = FLAT) -> None:
    """Days later a compaction works, and folds what it may."""
    sim.advance(2 * DAY)
    add_files(sim, table)
    assert compact(table, "later")(sim.client())["exit_code"] == 0


def test_a_later_run_that_is_folded_still_comes_before_an_earlier_one() -> None:
    """r1 holds originals that were damaged, so that no cleanup takes them; r2 compacted the table again."""
    sim = build(files=3, rows=1)
    compact(FLAT, "r1")(sim.client())
    (found,) = runs_of(sim, [FLAT])
    old = found.path(next(iter(found.state.units.values())).swap.old)
    sim.advance(60)
    writers.append(sim, old, sim.ledger.fresh(1))
    add_files(sim)
    compact(FLAT, "r2")(sim.client())
    cleanup(FLAT)(sim.client())
    words = {row["run_id"]: row["rollback"] for row in history(sim) if row["kind"] == "compact"}
    assert words == {"r1": "superseded", "r2": "cleaned"}
    folds(sim)
    assert present(sim, FLAT, ["r1", "r2"]) == ["r1"]
    again = {row["run_id"]: row["rollback"] for row in history(sim) if row["kind"] == "compact"}
    assert again == {**words, "later": "possible"}


def test_a_table_beside_it_at_the_same_location_keeps_its_runs() -> None:
    sim = folded()
    writers.create_table(sim, "sales.twin", LIVE)
    assert rollback_of(sim, "r1", "sales.twin") == (
        "nothing",
        "nothing to restore: there is no run r1 of this table",
        [],
    )


def test_a_run_is_rolled_back_and_folded() -> None:
    sim = build(files=3, rows=1)
    compact(FLAT, "r1")(sim.client())
    rollback(FLAT)(sim.client())
    before = answers(sim, FLAT, ["r1"])
    folds(sim)
    assert present(sim, FLAT, ["r1"]) == []
    assert answers(sim, FLAT, ["r1"]) == before
    assert [row["kind"] for row in before[0]] == ["rollback", "compact"]
