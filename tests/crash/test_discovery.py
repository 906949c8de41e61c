"""Partition discovery at any call, and people who drop partitions: rows end where discovery or a message leads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import pytest

from tests.crash import writers
from tests.crash.crashes import crash_states
from tests.crash.discovery import amiss, discover, discovering, job, moments, small
from tests.crash.exits import MONTH
from tests.crash.explorer import Act, acts, after, cleanup, compact, points, recoveries, rollback, runs_of
from tests.crash.fault_injection import Fault
from tests.crash.figures import figures
from tests.crash.scenario import EVENTS
from tests.crash.simulated_cluster import SimulatedCluster

VERBS = ("compact", "rollback")
#: A person who drops a partition, with or without its directory.
WITH_DATA = [pytest.param(False, id="", marks=pytest.mark.full), pytest.param(True, id="with its directory")]
ONE_VERB = ["compact", pytest.param("rollback", marks=pytest.mark.full)]
#: Beyond the first kind of job, every so many calls are enough by default: `make test-all` takes all of them.
#: A second kill after every so many calls: all of them take an hour.
DEPTH_2 = 9
EVERY = [pytest.param(1, marks=pytest.mark.full), pytest.param(31)]


def start_of(verb: str) -> tuple[Act, SimulatedCluster]:
    act, before = next((act, before) for act, before in acts(EVENTS) if act.verb == verb)
    return act, after(small(), before)


def without_live() -> tuple[Act, SimulatedCluster]:
    """A rollback of partitions whose live directories somebody has deleted, although the metastore has them."""
    _, sim = start_of("rollback")
    for value in "ac":
        sim.tree.remove(writers.location_of(sim, EVENTS, value), recursive=True)
    return rollback(EVENTS), sim


WITHOUT_LIVE = "rollback without live directories"
STARTS: dict[str, Callable[[], tuple[Act, SimulatedCluster]]] = {
    "compact": partial(start_of, "compact"),
    "rollback": partial(start_of, "rollback"),
    WITHOUT_LIVE: without_live,
}

#: By default the first one of them.
FIRST = ["compact", *(pytest.param(name, marks=pytest.mark.full) for name in ("rollback", WITHOUT_LIVE))]


def last_words(name: str, sim: SimulatedCluster) -> list[str]:
    """Before the rollback has begun, the deletion is nobody's but the person's: he asks for the rollback again."""
    if name != WITHOUT_LIVE:
        return []
    discover(sim)
    return job(sim, rollback(EVENTS, "--run-id", "r1"))


def recoveries_of(name: str, act: Act) -> list[Act]:
    """Who deletes directories and cleans up at once gives the rows up."""
    return [each for each in recoveries(act) if name != WITHOUT_LIVE or each.verb != "cleanup"][:3]


def jobs_with_discovery(sim: SimulatedCluster, act: Act) -> Iterator[tuple[str, SimulatedCluster, list[str]]]:
    """A job with discovery before it, and at any one of its calls: when, where it ends, and what it says."""
    for number in (0, *moments(sim, act)):
        twin = sim.copy()
        if not number:
            discover(twin)
        texts = job(twin, act, *([discovering(twin, number)] if number else []))
        yield f"discovery before call {number}", twin, texts


@pytest.mark.parametrize("every", EVERY)
@pytest.mark.parametrize("name", STARTS)
def test_a_kill_and_then_discovery_at_any_call_of_the_next_job(name: str, every: int) -> None:
    act, start = STARTS[name]()
    line = figures(f"{name}, a kill, and discovery at any call of the next job", "crashes")
    for number, state in enumerate(crash_states(start, act)):
        for recovery in recoveries_of(name, act) if is_open(state.sim) or number % every == 0 else ():
            for when, sim, texts in jobs_with_discovery(state.sim, recovery):
                line.recoveries += 1
                texts += last_words(name, sim)
                line.violated(f"{state}; {recovery} with {when}", amiss(sim, texts))
    assert line.violations == []
    assert line.recoveries > 50


@pytest.mark.parametrize("name", STARTS)
def test_discovery_at_any_call_of_a_job(name: str) -> None:
    act, start = STARTS[name]()
    line = figures(f"{name}, discovery at any call", "1 mode")
    for when, sim, texts in jobs_with_discovery(start, act):
        line.points += 1
        line.violated(when, amiss(sim, texts + last_words(name, sim)))
    assert line.violations == []
    assert line.points > 2


@pytest.mark.parametrize("every", EVERY)
@pytest.mark.parametrize("name", FIRST)
def test_an_error_at_any_call_and_discovery_at_any_other(name: str, every: int) -> None:
    act, start = STARTS[name]()
    line = figures(f"{name}, an error, and discovery at any call", "2 modes")
    times = moments(start, act)
    for number in range(1, points(start, act) + 1, every):
        for fault in (Fault.error_before, Fault.error_after):
            for time in (*times, number):
                sim = start.copy()
                texts = job(sim, act, fault(number), discovering(sim, time))
                texts += job(sim, compact(EVENTS, "other"))
                line.points += 1
                where = f"{fault.__name__} {number}, discovery before call {time}"
                line.violated(where, amiss(sim, texts + last_words(name, sim)))
    assert line.violations == []


@pytest.mark.full
@pytest.mark.parametrize("name", STARTS)
def test_the_next_job_dies_too(name: str) -> None:
    """Depth 2, with discovery between the jobs. What the second one has said, it has said to its log."""
    act, start = STARTS[name]()
    line = figures(f"{name}, discovery, and the next job dies too", "crashes", depth=2)
    for state in [state for state in crash_states(start, act) if is_open(state.sim)]:
        discover(state.sim)
        for second in (compact(EVENTS, "other"), rollback(EVENTS)):
            for number in range(1, points(state.sim, second) + 1, DEPTH_2):
                sim = state.sim.copy()
                texts = job(sim, second, Fault.crash_after(number))
                discover(sim)
                texts += job(sim, compact(EVENTS, "last"))
                line.recoveries += 1
                texts += last_words(name, sim)
                line.violated(f"{state}; {second} killed after {number}", amiss(sim, texts))
    assert line.violations == []
    assert line.recoveries > 50


def is_open(sim: SimulatedCluster) -> bool:
    return any(run.state.has_open_intent for run in runs_of(sim, [EVENTS]))


@pytest.mark.parametrize("delete_data", WITH_DATA)
@pytest.mark.parametrize("verb", ONE_VERB)
def test_a_person_drops_a_partition_at_any_call(verb: str, delete_data: bool) -> None:
    """What he has deleted stays deleted; what he could not see, because it was away, is there or is named."""
    act, start = STARTS[verb]()
    line = figures(f"{verb}, a person drops a partition{' with its directory' * delete_data}", "1 mode")
    for number in range(1, points(start, act) + 1):
        sim = start.copy()
        texts = job(sim, act, Fault.hook(number, partial(drop, sim, delete_data)))
        line.points += 1
        line.violated(f"dropped before call {number}", amiss(sim, texts, resurrected=delete_data))
    assert line.violations == []


@pytest.mark.parametrize("delete_data", WITH_DATA)
@pytest.mark.parametrize("verb", ONE_VERB)
def test_a_person_drops_a_partition_after_a_kill(verb: str, delete_data: bool) -> None:
    act, start = STARTS[verb]()
    line = figures(f"{verb}, a kill, then a drop{' with the directory' * delete_data}", "crashes")
    for state in crash_states(start, act):
        drop(state.sim, delete_data)
        for recovery in recoveries(act)[:3]:
            sim = state.sim.copy()
            texts = job(sim, recovery)
            line.recoveries += 1
            line.violated(f"{state}, dropped; {recovery}", amiss(sim, texts, resurrected=delete_data))
    assert line.violations == []


def drop(sim: SimulatedCluster, delete_data: bool) -> None:
    writers.drop_partition(sim, EVENTS, "a", delete_data=delete_data)


@pytest.mark.parametrize("verb", VERBS)
def test_the_rewritten_directory_is_deleted_after_a_kill(verb: str) -> None:
    """By hand, in the table's home; then discovery drops the partition. The rows are in the originals only."""
    act, start = STARTS[verb]()
    line = figures(f"{verb}, a kill, the rewritten directory deleted, discovery", "crashes")
    for state in crash_states(start, act):
        if not delete_rewritten(state.sim):
            continue
        discover(state.sim)
        for recovery in (compact(EVENTS, "other"), rollback(EVENTS), cleanup(EVENTS, "--older-than", "1d")):
            sim = state.sim.copy()
            sim.advance(MONTH)
            texts = job(sim, recovery)
            line.recoveries += 1
            line.violated(f"{state}; {recovery}", amiss(sim, texts))
    assert line.violations == []
    assert line.recoveries


def delete_rewritten(sim: SimulatedCluster) -> bool:
    """Delete rewritten directories that are not live, of units whose live directories are away."""
    found = False
    for run in runs_of(sim, [EVENTS]):
        for unit in run.state.units.values():
            if sim.tree.find(unit.swap.live) is None:
                for path in (unit.swap.new, unit.swap.aside):
                    sim.tree.remove(run.path(path), recursive=True)
                found = True
    return found
