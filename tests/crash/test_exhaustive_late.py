"""A server answers a call with an error and carries it out all the same, up to twelve calls of anybody later.

What a NameNode holds in a queue while a connection breaks may take effect when nobody reckons with it any more.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import pytest

from tests.crash.crashes import crash_states
from tests.crash.explorer import Act, Proof, acts, after, compact, complaint, recoveries
from tests.crash.fault_injection import Fault, Killed
from tests.crash.figures import Figures, figures
from tests.crash.late_effects import OPS
from tests.crash.oracle import check
from tests.crash.scenario import EVENTS, FLAT, build
from tests.crash.simulated_cluster import Client, SimulatedCluster
from tests.harness.sampling import sampled

NAMES = ("compact", "rollback", "cleanup for good", "cleanup to the trash")
LATEST = 12
#: A rollback makes more calls than that before it deletes what a late rename would bring back.
DELAYS = (*range(1, LATEST + 1), 18, 24, 36, 60)
FEW_DELAYS = (1, 2, 4, 8, 12, 36)
SEEDS = [
    pytest.param(range(400), id="few"),
    pytest.param(range(400, 2000), id="more", marks=pytest.mark.full),
]


def late_points(sim: SimulatedCluster, act: Act) -> list[int]:
    """The numbers of the calls of an act that change something."""
    client = sim.copy().client()
    act(client)
    return [point.number for point in client.trace if point.op in OPS]


class LateProof(Proof):
    """Rows may lie in a folder of ours as long as a server is late. Afterwards one more job brings all to an end."""

    def __init__(self, line: Figures, table: str) -> None:
        super().__init__(line, [table], mirrors=False)
        self._table = table

    def over(self, where: str, sim: SimulatedCluster, recovery: Act) -> None:
        """One job comes while the server is still late, and one after it has caught up."""
        report = recovery(sim.client())
        self.line.recoveries += 1
        self.ended(f"{where}; then {recovery}", sim, report)
        sim.catch_up()
        self.line.violated(
            f"{where}; then {recovery} and the rest", check(sim, journaled=True, resurrected=True)
        )
        report = compact(self._table, "final")(sim.client())
        self.line.violated(
            f"{where}; then {recovery}; then the last", [*complaint(report), *self._amiss(sim)]
        )


@pytest.mark.parametrize(
    "delays", [FEW_DELAYS, pytest.param(DELAYS, marks=pytest.mark.full)], ids=("some delays", "all delays")
)
@pytest.mark.parametrize("number", range(4), ids=NAMES)
@pytest.mark.parametrize("table", sampled((FLAT, EVENTS), EVENTS))
def test_each_call_is_late(table: str, number: int, delays: Sequence[int]) -> None:
    act, before = acts(table)[number]
    line = figures(f"{NAMES[number]} {table}", f"late by {len(delays)} of 1 to {delays[-1]} calls")
    proof, start = LateProof(line, table), after(build(), before)
    late = late_points(start, act)
    line.points, turn, ways = len(late), 0, recoveries(act)
    for point in late:
        for calls in delays:
            sim = start.copy()
            client = sim.client(Fault.late(point, calls))
            report = act(client)
            where = f"{act} with late({calls}) {client.trace[point - 1]}"
            proof.ended(where, sim, report)
            if proof.fresh(sim):
                turn += 1
                proof.over(where, sim, ways[turn % len(ways)])
    assert line.violations == []
    assert line.states > 50


@pytest.mark.full
@pytest.mark.parametrize("number", range(4), ids=NAMES)
@pytest.mark.parametrize("table", [FLAT, EVENTS])
def test_each_call_is_late_and_then_the_process_dies(table: str, number: int) -> None:
    act, before = acts(table)[number]
    line = figures(f"{NAMES[number]} {table}", f"late by 1 to {LATEST} calls, then a crash", depth=2)
    proof, start = LateProof(line, table), after(build(), before)
    late = late_points(start, act)
    line.points, turn, ways = len(late), 0, recoveries(act)
    for point in late:
        for calls in range(1, LATEST + 1):
            for state in crash_states(start, act, faults=[Fault.late(point, calls)]):
                if state.point is None or state.point.number < point or not proof.fresh(state.sim):
                    continue
                turn += 1
                where = f"{act} with late({calls}) {point}, {state}"
                proof.broken(where, state.sim)
                proof.over(where, state.sim, ways[turn % len(ways)])
    assert line.violations == []
    assert line.states > 100


@pytest.mark.parametrize("seeds", SEEDS)
def test_late_twice_or_late_and_dead(seeds: range) -> None:
    """Two faults, at random places of an act and of what comes after it, by fixed seeds."""
    line = figures("acts and recoveries", f"late, then late or a crash, {len(seeds)} seeds", depth=2)
    starts = {
        (table, number): (act, after(build(), before))
        for table in (FLAT, EVENTS)
        for number, (act, before) in enumerate(acts(table))
    }
    late = {key: late_points(start, act) for key, (act, start) in starts.items()}
    for seed in seeds:
        dice = random.Random(seed)
        key = dice.choice(sorted(starts))
        act, start = starts[key]
        proof, sim = LateProof(line, key[0]), start.copy()
        where = f"seed {seed}"
        for step, client in enumerate(_clients(dice, sim, late[key])):
            doing = act if step == 0 else dice.choice(recoveries(act))
            try:
                report = doing(client)
            except Killed:
                proof.broken(f"{where}: {doing} killed", sim)
            else:
                proof.ended(f"{where}: {doing}", sim, report)
        line.states += 1
        proof.over(where, sim, dice.choice(recoveries(act)))
    assert line.violations == []


def _clients(dice: random.Random, sim: SimulatedCluster, late: list[int]) -> Iterator[Client]:
    """Two processes, one after the other: the first meets a late call, either of them another fault."""
    faults: list[list[Fault]] = [[Fault.late(dice.choice(late), dice.randint(1, LATEST))], []]
    other = dice.choice([Fault.crash_after, lambda at: Fault.late(at, dice.randint(1, LATEST))])
    faults[dice.randrange(2)].append(other(dice.randint(1, max(late))))
    for each in faults:
        yield sim.client(*each)
