"""A process dies, or a call fails, at every step of every act; and its recovery dies too. Nothing is ever lost."""

from __future__ import annotations

import pytest

from tests.crash.explorer import Act, Proof, acts, after, compact, points, recoveries
from tests.crash.figures import figures
from tests.crash.scenario import EVENTS, FLAT, build

BOTH = f"{EVENTS},{FLAT}"
MODES = "4 modes (crash or error, before or after)"
NAMES = ("compact", "rollback", "cleanup for good", "cleanup to the trash")
#: Beyond one table's figures, every so many states are enough: what lies between differs in files written only.
STRIDE = 12


def case(tables: str, number: int) -> tuple[Act, list[Act]]:
    return acts(tables)[number]


#: The partitioned table takes five times as long: `make test` has its compaction, and all verbs of the other one.
ONE_FAULT = [
    pytest.param(
        table, number, id=f"{table}-{name}", marks=pytest.mark.full if table == EVENTS and number else ()
    )
    for table in (FLAT, EVENTS)
    for number, name in enumerate(NAMES)
]


@pytest.mark.parametrize(("table", "number"), ONE_FAULT)
def test_one_fault(table: str, number: int) -> None:
    """Each state that a death leaves is recovered in four ways; each that an error leaves in two, by turns."""
    act, before = case(table, number)
    line = figures(f"{NAMES[number]} {table}", MODES)
    proof, start = Proof(line, [table]), after(build(), before)
    line.points = points(start, act)
    for name, state in proof.crashes(start, act):
        for recovery in recoveries(act):
            proof.settle(name, state, recovery)
    for turn, (name, state) in enumerate(proof.errors(start, act)):
        for recovery in recoveries(act)[turn % 2 :: 2]:
            proof.settle(name, state, recovery)
    assert line.violations == []
    assert line.states > 50


@pytest.mark.parametrize(
    "number", [0, 1, *(pytest.param(more, marks=pytest.mark.full) for more in (2, 3))], ids=NAMES
)
@pytest.mark.parametrize("table", [FLAT, pytest.param(EVENTS, marks=pytest.mark.full)])
def test_the_recovery_dies_too(table: str, number: int) -> None:
    """Depth 2: every death of every recovery of every death; what recovers it in the end is taken by turns."""
    act, before = case(table, number)
    line = figures(f"{NAMES[number]} {table}", "crashes", depth=2)
    proof, start = Proof(line, [table], mirrors=False), after(build(), before)
    line.points = points(start, act)
    first = proof.crashes(start, act)
    ends = [compact(table, "final"), *recoveries(act)]
    turn = 0
    for name, state in first if table == FLAT else first[number::STRIDE]:
        for recovery in recoveries(act):
            for where, broken in proof.crashes(state, recovery, f"{name}; then "):
                turn += 1
                proof.settle(where, broken, ends[turn % len(ends)], rest=turn % 6 == 0)
    assert line.violations == []
    assert line.recoveries > 100


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.full) for seed in (2, 3))])
@pytest.mark.parametrize("number", range(3), ids=NAMES[:3])
def test_units_side_by_side(number: int, seed: int) -> None:
    """Several threads, in an order of the seed's choice, over tables of all kinds."""
    act, before = case(BOTH, number)
    line = figures(f"{NAMES[number]} of all tables, interleaving {seed}", "crashes")
    proof, start = Proof(line, mirrors=False), after(build(), before)
    line.points = points(start, act, seed)
    for turn, (name, state) in enumerate(proof.crashes(start, act, seed=seed)):
        proof.settle(name, state, recoveries(act)[turn % len(recoveries(act))], rest=turn % 5 == 0)
    assert line.violations == []


@pytest.mark.full
def test_one_unit_at_a_time() -> None:
    line = figures("compact of all tables, parallelism 1", MODES)
    proof, start, act = Proof(line, mirrors=False), build(), compact(BOTH, "r1", "--parallelism", "1")
    line.points = points(start, act)
    states = [*proof.crashes(start, act), *proof.errors(start, act)][::2]
    for turn, (name, state) in enumerate(states):
        proof.settle(name, state, recoveries(act)[turn % 4], rest=turn % 5 == 0)
    assert line.violations == []


def test_the_recovery_meets_an_error() -> None:
    """Depth 2 with errors: the recovery goes on after one, or fails, and the next one settles it."""
    line = figures(f"compact {FLAT}", "crash, then errors", depth=2)
    proof, start, act = Proof(line, [FLAT], mirrors=False), build(), compact(FLAT)
    line.points = points(start, act)
    turn = 0
    for name, state in proof.crashes(start, act)[1::10]:
        for recovery in recoveries(act)[turn % 2 :: 2]:
            for where, broken in proof.errors(state, recovery, f"{name}; then "):
                turn += 1
                proof.settle(where, broken, compact(FLAT, "final"), rest=turn % 6 == 0)
    assert line.violations == []
