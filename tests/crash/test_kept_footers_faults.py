"""A unit of two groups whose kept footers are wrong, so that it is written twice: with faults at each call."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from spark_jobs.core.planning import kept_footers
from spark_jobs.core.planning.kept_footers import decode, encode
from tests.crash.crashes import crash_states
from tests.crash.fault_injection import Fault, Point
from tests.crash.flat_table import HOME, LIVE, compact
from tests.crash.late_effects import OPS
from tests.crash.oracle import check
from tests.crash.scenario import FLAT, build, run
from tests.crash.simulated_cluster import SimulatedCluster
from tests.crash.test_file_groups import widened  # noqa: F401 - the fixture

pytestmark = pytest.mark.usefixtures("widened")


@pytest.fixture(autouse=True)
def footers_of_few_files_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_footers, "FEWEST_FILES", 6)


def spoiled(group: int = 1) -> SimulatedCluster:
    """The flat table with a flag; by the kept footers, one group has a row more than its files."""
    sim, folder = build(), f"{HOME}/log/footers"
    sim.tree.write(f"{LIVE}/_SUCCESS", b"")
    run(sim.client(), "analyze", "--table", FLAT)
    directory = sim.tree.get(folder)
    assert directory is not None
    (name,) = directory.children
    file = sim.tree.get(f"{folder}/{name}")
    assert file is not None
    found = decode(file.content, name)
    footers = list(found.footers)
    footers[group] = replace(footers[group], rows=(footers[group].rows or 0) + 1)
    sim.tree.write(f"{folder}/{name}", encode(replace(found, footers=footers)), overwrite=True)
    return sim


@pytest.mark.parametrize("group", [0, 1])
@pytest.mark.parametrize("verify", ["count", "hash"])
def test_both_groups_and_the_flag_are_there_after_the_second_write(group: int, verify: str) -> None:
    sim = spoiled(group)
    live = sim.tree.get(LIVE)
    assert live is not None
    report = compact(sim.client(), FLAT, "r1", "--verify", verify)
    assert [unit["outcome"] for unit in report["tables"][0]["units"]] == ["compacted"]
    now = sim.tree.get(LIVE)
    assert now is not None
    assert (now.mode, now.owner) == (live.mode, live.owner)
    assert len(now.children) == 3
    assert "_SUCCESS" in now.children
    assert check(sim) == []


def test_a_death_at_any_call_loses_no_row() -> None:
    for state in crash_states(spoiled(), compact):
        assert check(state.sim, journaled=True) == [], state
        state.sim.advance(600)
        compact(state.sim.client())
        assert check(state.sim) == [], state


def _faults(point: Point) -> Iterator[Fault]:
    yield Fault.error_before(point.number)
    yield Fault.error_after(point.number)
    if point.op in OPS:
        yield Fault.late(point.number, 4)


def test_an_error_or_a_late_effect_at_any_call_loses_no_row() -> None:
    sim = spoiled()
    probe = sim.copy().client()
    compact(probe)
    for point in probe.trace:
        for fault in _faults(point):
            twin = sim.copy()
            compact(twin.client(fault))
            twin.advance(600)
            assert check(twin, journaled=True, resurrected=True) == [], fault
            compact(twin.client())
            twin.catch_up()
            twin.advance(600)
            compact(twin.client(), FLAT, "r9")
            assert check(twin, resurrected=True) == [], fault
