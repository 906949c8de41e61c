"""Partition discovery at any call of the jobs, a person who drops a partition, and one who does what messages say."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from spark_jobs.core.values.model import Spec, TableName
from tests.crash import writers
from tests.crash.explorer import Act
from tests.crash.fault_injection import Fault, Killed
from tests.crash.oracle import check
from tests.crash.scenario import EVENTS, build, run
from tests.crash.simulated_cluster import SimulatedCluster

#: By what the jobs learn what the metastore has: what discovery does before such a call, they may see.
_ASKS = ("table", "units", "properties", "tables", "table_exists")
_ADD = re.compile(r"ALTER TABLE (\S+) ADD PARTITION \(`k`='(\w+)'\) LOCATION '([^']+)'")
_RMDIR = re.compile(r"hdfs dfs -rmdir '([^']+)'")
_ROLLBACK = re.compile(r"`lakekeeper rollback --table (\S+) --run-id (\S+)`")


def small() -> SimulatedCluster:
    """Partition a under the root of sales.events, and c elsewhere, where no discovery finds it."""
    sim = build(files=2, rows=1)
    writers.drop_partition(sim, EVENTS, "b", delete_data=True)
    return sim


def discover(sim: SimulatedCluster) -> None:
    """`discover.partitions`, or MSCK REPAIR TABLE ... SYNC PARTITIONS: drops what is away, adds what is there."""
    writers.msck(sim, EVENTS, sync=True)


def _changes(sim: SimulatedCluster) -> tuple[list[Spec], list[Spec]]:
    """What discovery would drop and add now."""
    twin = sim.copy()
    discover(twin)
    name = TableName.parse(EVENTS)
    before, after = sim.metastore.get(name).partitions, twin.metastore.get(name).partitions
    return sorted(before.keys() - after.keys()), sorted(after.keys() - before.keys())


def moments(sim: SimulatedCluster, act: Act) -> list[int]:
    """The calls of an act before which discovery makes a difference: one of those between two of its questions.

    Discovery changes the metastore only. So between two questions to the metastore it does not matter when it runs, as
    long as it drops and adds the same.
    """
    twin, found = sim.copy(), []
    last: tuple[list[Spec], list[Spec]] | None = None

    def observe(number: int, phase: str, now: SimulatedCluster) -> None:
        nonlocal last
        if phase == "after":
            if client.trace[-1].op in _ASKS:
                last = None
            return
        changes = _changes(now)
        if any(changes) and changes != last:
            found.append(number)
        last = changes

    client = twin.client(observer=observe)
    act(client)
    return found


def discovering(sim: SimulatedCluster, number: int) -> Fault:
    return Fault.hook(number, partial(discover, sim))


@contextmanager
def told() -> Iterator[list[str]]:
    """What the jobs warn of in their logs, also those that die before their report."""
    texts: list[str] = []
    handler = logging.Handler(logging.INFO)
    handler.emit = lambda record: texts.append(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger("lakekeeper")
    logger.addHandler(handler)
    try:
        yield texts
    finally:
        logger.removeHandler(handler)


def job(sim: SimulatedCluster, act: Act, *faults: Fault) -> list[str]:
    """Run a job, which may die. Return all that a person can read of it: its log, its warnings and its reasons."""
    with told() as texts:
        try:
            report = act(sim.client(*faults))
        except Killed:
            return texts
    return [*texts, *_said(report)]


def _said(report: dict[str, Any]) -> list[str]:
    texts = [text for table in report["tables"] for text in table["warnings"]]
    reasons = [unit["reason"] for table in report["tables"] for unit in table["units"]]
    return [*texts, *(text for text in reasons if text)]


def follow(sim: SimulatedCluster, texts: Sequence[str]) -> None:
    """Do what messages say for partitions that are not there: the statement, then the other commands."""
    for text in dict.fromkeys(texts):
        found = _ADD.search(text)
        if not found or found[2] in {str(unit.spec[0][1]) for unit in sim.units(EVENTS)}:
            continue
        writers.add_partition(sim, EVENTS, found[2], location=found[3])
        empty, back = _RMDIR.search(text), _ROLLBACK.search(text)
        if empty:
            assert not sim.tree.files(empty[1]), text
            sim.tree.remove(empty[1])
        if empty and back:
            run(sim.client(), "rollback", "--table", back[1], "--run-id", back[2])


def amiss(sim: SimulatedCluster, texts: Sequence[str], resurrected: bool = True) -> list[str]:
    """What is wrong after one more discovery; and then, after a person has done what the messages say.

    With `resurrected` rows that somebody has deleted must not come back unless he does what a message says.
    """
    discover(sim)
    found = [text for text in check(sim, repaired=False, resurrected=resurrected) if "lost" not in text]
    follow(sim, texts)
    discover(sim)
    return [*found, *(f"although the messages were followed, {text}" for text in check(sim))]
