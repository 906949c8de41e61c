"""Partition discovery of a table with `external.table.purge`: with a partition it deletes the directories above it.

The metastore drops a partition whose directory is away, and then, of a table of several keys, each directory above it
that is empty. Between the two renames of a swap the directory is away.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from spark_jobs.core.values.model import TableName, parent
from tests.crash import writers
from tests.crash.fault_injection import Fault, Killed, Point
from tests.crash.oracle import check, live_rows
from tests.crash.scenario import WAREHOUSE, run
from tests.crash.simulated_cluster import SimulatedCluster

NAME = "sales.deep"


def deep() -> SimulatedCluster:
    """A table of two keys, whose partitions are each alone below their first key."""
    sim = SimulatedCluster()
    writers.create_table(sim, NAME, f"{WAREHOUSE}/deep", keys=("k", "h"))
    for value in "ab":
        location = writers.add_partition(sim, NAME, value, "1")
        for _ in range(3):
            writers.append(sim, location, sim.ledger.fresh(2))
    return sim


def discover(sim: SimulatedCluster) -> None:
    """Drop what is away, with the empty directories above it, and add what is there."""
    root = writers.location_of(sim, NAME)
    before = dict(sim.metastore.get(TableName.parse(NAME)).partitions)
    writers.msck(sim, NAME, sync=True)
    for spec in before.keys() - sim.metastore.get(TableName.parse(NAME)).partitions.keys():
        above = parent(before[spec])
        inode = sim.tree.get(above)
        if above != root and inode is not None and not inode.children:
            sim.tree.remove(above)


def job(sim: SimulatedCluster, verb: str, *argv: str, faults: tuple[Fault, ...] = ()) -> Any:
    return run(sim.client(*faults), verb, "--table", NAME, *argv)


def swaps(sim: SimulatedCluster, verb: str) -> list[int]:
    """The numbers of the renames of live directories, by a job on a copy."""
    client = sim.copy().client()
    run(client, verb, "--table", NAME)
    root = f"{writers.location_of(sim, NAME)}/k="
    return [point.number for point in client.trace if _is_swap(point, root)]


def _is_swap(point: Point, root: str) -> bool:
    return point.op == "rename" and any(str(each).startswith(root) for each in point.args)


def compacted() -> SimulatedCluster:
    sim = deep()
    job(sim, "compact", "--run-id", "r1")
    return sim


STARTS: dict[str, Callable[[], SimulatedCluster]] = {"compact": deep, "rollback": compacted}


def _end(sim: SimulatedCluster, rows: Any, where: str) -> None:
    """Discovery, the next job, and one more discovery: all partitions are there with their rows."""
    discover(sim)
    sim.advance(120.0)
    assert job(sim, "compact")["exit_code"] == 0, where
    discover(sim)
    assert live_rows(sim, NAME) == rows, where
    assert check(sim) == [], where


@pytest.mark.parametrize("verb", STARTS)
def test_after_a_kill_between_the_renames_the_next_job_makes_the_directories_again(verb: str) -> None:
    start = STARTS[verb]()
    rows, numbers = live_rows(start, NAME), swaps(start, verb)
    assert len(numbers) == 4
    for number in numbers:
        sim = start.copy()
        with pytest.raises(Killed):
            job(sim, verb, faults=(Fault.crash_before(number),))
        _end(sim, rows, f"killed before call {number}")


@pytest.mark.parametrize("verb", STARTS)
def test_a_job_beside_it_goes_on(verb: str) -> None:
    start = STARTS[verb]()
    rows = live_rows(start, NAME)
    for number in swaps(start, verb):
        sim = start.copy()
        report = job(sim, verb, faults=(Fault.hook(number, partial(discover, sim)),))
        assert not {unit["outcome"] for unit in report["tables"][0]["units"]} & {"quarantined"}, number
        _end(sim, rows, f"discovery before call {number}")


@pytest.mark.parametrize("verb", STARTS)
def test_a_directory_whose_attributes_are_not_known_is_not_made(verb: str) -> None:
    """An attempt that was fenced off does not find them: it must not leave directories behind."""
    start = STARTS[verb]()
    rows, number = live_rows(start, NAME), swaps(start, verb)[1]
    sim = start.copy()
    unknown = Fault.error_before(lambda point: point.op == "attributes" and point.number > number)
    client = sim.client(Fault.hook(number, partial(discover, sim)), unknown)
    run(client, verb, "--table", NAME)
    called = [point.op for point in client.trace if point.number > number]
    # The first call fails, and the directory is made after the second one.
    assert [op for op in called if op in ("attributes", "mkdirs")][:3] == [
        "attributes",
        "attributes",
        "mkdirs",
    ]
    _end(sim, rows, "the attributes were not known")
