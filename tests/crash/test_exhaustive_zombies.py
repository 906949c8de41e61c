"""A process is only asleep: another takes over, and then it wakes up. It must fail, or have nothing left to do."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from spark_jobs.core.records import journal
from spark_jobs.core.values.model import name_of
from tests.crash.crashes import crash_states
from tests.crash.explorer import (
    Act,
    Proof,
    after,
    at,
    cleanup,
    compact,
    complaint,
    points,
    recoveries,
    rollback,
    runs_of,
)
from tests.crash.fault_injection import Fault, Point
from tests.crash.figures import Figures, figures
from tests.crash.model_tree import AUTHORITY
from tests.crash.scenario import EVENTS, FLAT, build
from tests.crash.simulated_cluster import SimulatedCluster
from tests.crash.state_digest import live
from tests.harness.sampling import sampled

FIRST = {"compact": compact(FLAT), "rollback": rollback(FLAT), "cleanup": cleanup(FLAT)}
SECOND = {"compact": compact(FLAT, "other"), "rollback": rollback(FLAT), "cleanup": cleanup(FLAT)}


#: Calls between the creation of a lease and its first heartbeat: its content is written, and the home is listed.
MAKING_A_LEASE = 2


def start_of(name: str) -> SimulatedCluster:
    return after(build(), [] if name == "compact" else [FIRST["compact"]])


class Sleep:
    """A process falls asleep at one of its calls, and another one acts meanwhile."""

    def __init__(self, sim: SimulatedCluster, act: Act, number: int, second: Act) -> None:
        self.sim = sim.copy()
        self._second = second
        self._left: object = None
        self.other: dict[str, Any] = {}
        client = self.sim.client(Fault.hook(number, self._meanwhile, paused=True))
        self.report = act(client)
        self.name = f"{act} asleep before {at(client, number)}, while {second}"
        self.failed = self.report["exit_code"] != 0
        # Whoever came by its lease after its sleep acts as the next job would.
        since = [point for point in client.trace[number - 1 :] if is_lease(point)]
        self.zombie = bool(self._taken) and not since
        self.changed = live(self.sim, act.tables) != self._left

    def _meanwhile(self) -> None:
        before = leases(self.sim)
        self.other = self._second(self.sim.client())
        self._taken = leases(self.sim) - before
        self._left = live(self.sim, self._second.tables)


def is_lease(point: Point) -> bool:
    return point.op == "create" and "/lease-" in point.args[0]


def leases(sim: SimulatedCluster) -> set[str]:
    """All leases that stand, whether released or not."""
    paths = [path for path, _, _ in sim.tree.walk(AUTHORITY) if "/lease-" in path]
    return {path.removesuffix(".released") for path in paths}


def awake(line: Figures, proof: Proof, sleep: Sleep) -> None:
    line.points += 1
    line.violated(sleep.name, complaint(sleep.other))
    if sleep.zombie and sleep.changed:
        line.violated(sleep.name, ["it has changed the table after it was taken over"])
    proof.ended(sleep.name, sleep.sim, {"exit_code": 0})
    line.note("failed", int(sleep.failed))


@pytest.mark.parametrize("second", SECOND)
@pytest.mark.parametrize("first", FIRST)
def test_a_sleeper_wakes_up(first: str, second: str) -> None:
    act, start = FIRST[first], start_of(first)
    line = figures(f"{first} asleep, {second} takes over", "1 pause")
    proof = Proof(line, [FLAT], resurrected=False, mirrors=False)
    for number in range(1, points(start, act) + 1):
        sleep = Sleep(start, act, number, SECOND[second])
        awake(line, proof, sleep)
        if proof.fresh(sleep.sim):
            proof.settle(sleep.name, sleep.sim, recoveries(act)[number % 3], rest=number % 4 == 0)
    assert line.violations == []
    # Taken over before it had entered anything, or when all was done, it has nothing to fail at; in between it must.
    assert line.notes["failed"] > line.points / 3


@pytest.mark.parametrize("second", sampled(SECOND, "compact", "rollback"))
def test_a_recoverer_falls_asleep(second: str) -> None:
    """The first one died; the second sleeps while it recovers; the third does both their work."""
    line = figures(f"a recovery asleep, {second} takes over", "1 pause")
    proof = Proof(line, [FLAT], resurrected=False, mirrors=False)
    for turn, state in enumerate(crash_states(build(), FIRST["compact"])[14::4]):
        act = [compact(FLAT, "again"), FIRST["compact"], rollback(FLAT)][turn % 3]
        for number in range(1 + turn % 3, points(state.sim, act), 3):
            awake(line, proof, Sleep(state.sim, act, number, SECOND[second]))
    assert line.violations == []


def test_partitions_in_several_homes() -> None:
    act, start = compact(EVENTS), build()
    line = figures(f"compact of {EVENTS} asleep", "1 pause")
    proof = Proof(line, [EVENTS], resurrected=False, mirrors=False)
    seconds = [compact(EVENTS, "other"), rollback(EVENTS), cleanup(EVENTS)]
    for number in range(1, points(start, act) + 1):
        sleep = Sleep(start, act, number, seconds[number % 3])
        awake(line, proof, sleep)
        proof.settle(sleep.name, sleep.sim, act, rest=number % 9 == 0)
    assert line.violations == []


def both(reports: list[dict[str, Any]], act: Act, sim: SimulatedCluster) -> None:
    reports.append(act(sim.client()))


@pytest.mark.parametrize("table", [FLAT, pytest.param(EVENTS, marks=pytest.mark.full)])
def test_two_start_together(table: str) -> None:
    """One works; the other finds nothing to do afterwards, or gives up in time. The first is awake all the time; only
    while it makes its lease nobody hears its heart, and a call that takes longer than a lease lives then costs it."""
    act, start = compact(table), build()
    line = figures(f"two compactions of {table} at once", "1 overlap")
    proof = Proof(line, [table], mirrors=False)
    for number in range(1, points(start, act) + 1):
        sim = start.copy()
        reports: list[dict[str, Any]] = []
        hook = partial(both, reports, compact(table, "second"), sim)
        client = sim.client(Fault.hook(number, hook))
        reports.append(act(client))
        line.points += 1
        outcomes = sorted(report["tables"][0]["outcome"] for report in reports)
        line.note(" and ".join(outcomes))
        name = f"two at {at(client, number)}"
        slow = outcomes == ["done", "failed"] and line.notes["done and failed"] <= MAKING_A_LEASE
        if not slow and outcomes not in (["done", "nothing"], ["busy", "done"]):
            line.violated(name, [f"one of the two has to work, and only one: {outcomes}"])
        proof.ended(name, sim, {"exit_code": 0})
    assert line.violations == []


@pytest.mark.parametrize("table", [FLAT, EVENTS])
def test_what_is_written_is_not_written_again(table: str) -> None:
    """A retry of the same run swaps what its first attempt had verified and journaled."""
    act, ready = compact(table), 0
    for state in crash_states(build(), act):
        kept, client = written_units(state.sim, table), state.sim.client()
        assert act(client)["exit_code"] == 0
        writes = {
            point.args[0] for point in client.trace if point.op == "mkdirs" and "/_temporary" in point.args[0]
        }
        again = {unit for unit in kept if any(path.endswith(f"/{unit}/_temporary/0") for path in writes)}
        assert again == set(), str(state)
        ready += len(kept)
    assert ready > 0


def written_units(sim: SimulatedCluster, table: str) -> set[str]:
    """The last components of units that are PREPARED and whose rewritten directory is still aside."""
    found = set()
    for run in runs_of(sim, [table]):
        for unit in run.state.of_kind(journal.PREPARED):
            if sim.tree.find(run.path(unit.swap.new)) is not None:
                found.add(name_of(unit.swap.live))
    return found
