"""A process dies, falls asleep, or meets an error or a late server, at every call of a compaction that folds runs."""

from __future__ import annotations

from typing import Any

import pytest

from tests.crash.explorer import Act, Proof, cleanup, compact, complaint, points, recoveries, rollback
from tests.crash.fault_injection import Fault
from tests.crash.figures import Figures, figures
from tests.crash.oracle import check
from tests.crash.scenario import EVENTS, FLAT
from tests.crash.settled import Later, WithNewFiles, answers, folds_at, rollback_of, settled
from tests.crash.simulated_cluster import SimulatedCluster
from tests.crash.test_exhaustive_late import LateProof, late_points
from tests.crash.test_exhaustive_zombies import Sleep, awake
from tests.harness.sampling import sampled

#: A retry of a settled run is the one job that works in its directory again.
RESUMING = compact(FLAT, "r0")


def ways(act: Act) -> list[Act]:
    return [*recoveries(act), compact(act.args[1], "r0")]


def expect_answers(
    line: Figures, where: object, sim: SimulatedCluster, before: list[Any], table: str
) -> None:
    if answers(sim, table) != before:
        line.violated(where, [f"the answers are not what they were: {answers(sim, table)}"])


@pytest.mark.parametrize("table", [FLAT, EVENTS])
def test_killed_while_it_folds(table: str) -> None:
    """Each state is recovered in several ways, and each answer is what it was."""
    start, act = settled(table), compact(table, "r2")
    line, before = figures(f"fold in a compact of {table}", "crashes"), answers(start, table)
    proof, turn = Proof(line, [table]), 0
    first = folds_at(start, act)
    line.points = points(start, act) - first.start
    for name, state in proof.crashes(start, act):
        if (
            int(name.split("killed after ")[-1].split()[0]) < first.start - 1
            if "killed after" in name
            else True
        ):
            continue
        expect_answers(line, name, state, before, table)
        for recovery in ways(act)[:-1] if table == FLAT else ways(act)[turn % 4 :: 4]:
            turn += 1
            after = proof.settle(name, state, recovery, rest=turn % 6 == 0)
            expect_answers(line, f"{name}; then {recovery}", after, before, table)
    assert line.violations == []
    assert line.states > 50


@pytest.mark.parametrize("verb", sampled(("compact", "cleanup"), "compact"))
@pytest.mark.parametrize("table", [FLAT, pytest.param(EVENTS, marks=pytest.mark.full)])
def test_an_error_while_it_folds_changes_no_outcome(table: str, verb: str) -> None:
    start = settled(table)
    act = compact(table, "r2") if verb == "compact" else cleanup(table)
    if verb == "cleanup":
        start = after_compaction(table)
    line, before = figures(f"fold in a {verb} of {table}", "errors before and after"), answers(start, table)
    proof, turn, usual = Proof(line, [table]), 0, outcome(act(start.copy().client()))
    for number in folds_at(start, act):
        for fault in (Fault.error_before, Fault.error_after):
            sim = start.copy()
            client = sim.client(fault(number))
            report = act(client)
            line.points += 1
            name = f"{act} with {fault.__name__} {client.trace[number - 1]}"
            if outcome(report) != usual:
                line.violated(name, [f"the outcome is another one: {outcome(report)}"])
            line.note("warnings", len(report["tables"][0]["warnings"]))
            expect_answers(line, name, sim, before, table)
            proof.ended(name, sim, report)
            if proof.fresh(sim):
                turn += 1
                done = proof.settle(
                    name, sim, recoveries(act)[turn % len(recoveries(act))], rest=turn % 6 == 0
                )
                expect_answers(line, f"{name}; then the next job", done, before, table)
    assert line.violations == []
    assert line.notes["warnings"] > line.points / 4


def after_compaction(table: str) -> SimulatedCluster:
    """r2 holds originals, and the others are due; nothing was folded, because it was too early."""
    sim = settled(table, age=3600)
    assert compact(table, "r2")(sim.client())["exit_code"] == 0
    sim.advance(2 * 86400)
    return sim


def outcome(report: dict[str, Any]) -> list[Any]:
    return [
        report["exit_code"],
        report["outcome"],
        *((table["outcome"], [unit["outcome"] for unit in table["units"]]) for table in report["tables"]),
    ]


@pytest.mark.parametrize(
    "second",
    [WithNewFiles(RESUMING), WithNewFiles(compact(FLAT, "other")), rollback(FLAT), cleanup(FLAT)],
    ids=["retry of r0", "compact", "rollback", "cleanup"],
)
def test_it_falls_asleep_while_it_folds(second: Any) -> None:
    """The one that takes over works in the very run that the sleeper was about to fold."""
    start, act = settled(), compact(FLAT, "r2")
    line = figures(f"fold asleep, {second} takes over", "1 pause")
    proof = Proof(line, [FLAT], resurrected=False, mirrors=False)
    for number in folds_at(start, act):
        sleep = Sleep(start, act, number, second)
        awake(line, proof, sleep)
        if second == WithNewFiles(RESUMING):
            expect_rollback(line, sleep.name, sleep.sim)
        # r0 began before r2 and has compacted after it: of the newest run a rollback says that it was overwritten.
        proof.settle(sleep.name, sleep.sim, ways(act)[number % 5], rest=number % 6 == 0, refuses=True)
    assert line.violations == []


def expect_rollback(line: Figures, where: str, sim: SimulatedCluster) -> None:
    """What r0 has swapped under its successor's eyes can still be undone."""
    found = rollback_of(sim, "r0")
    if found[2] != ["restored"]:
        line.violated(where, [f"r0 cannot be rolled back: {found}"])


def test_who_sleeps_for_days_in_a_run_that_is_folded() -> None:
    """It resumed the run; a job recovered it, and another one folded it. Then it wakes up."""
    start = settled(age=3600)
    meanwhile = Later(FLAT, (compact(FLAT, "r2"), compact(FLAT, "r3")))
    line = figures("a retry asleep, its run is folded", "1 pause")
    proof = Proof(line, [FLAT], resurrected=False, mirrors=False)
    for number in range(1, points(start, RESUMING) + 1):
        sleep = Sleep(start, RESUMING, number, meanwhile)
        awake(line, proof, sleep)
        proof.settle(sleep.name, sleep.sim, compact(FLAT, "last"), rest=number % 6 == 0)
    assert line.violations == []
    assert line.notes["failed"] > line.points / 3


def test_the_server_is_late_while_it_folds() -> None:
    start, act = settled(), compact(FLAT, "r2")
    line = figures(f"fold in a compact of {FLAT}", "late by 6 delays")
    proof, turn, fold = LateProof(line, FLAT), 0, folds_at(start, act)
    for number in (each for each in late_points(start, act) if each in fold):
        for calls in (1, 2, 4, 8, 12, 36):
            sim = start.copy()
            client = sim.client(Fault.late(number, calls))
            report = act(client)
            where = f"{act} with late({calls}) {client.trace[number - 1]}"
            line.violated(where, complaint(report))
            proof.ended(where, sim, report)
            if proof.fresh(sim):
                turn += 1
                proof.over(where, sim, ways(act)[turn % 5])
                line.violated(where, check(sim))
    assert line.violations == []
    assert line.states > 50
