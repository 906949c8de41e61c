"""States in which two jobs in a row fail: how a test makes one, and what it expects of the message."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from spark_jobs.core.values.model import TableName
from tests.crash import writers
from tests.crash.explorer import runs_of
from tests.crash.fault_injection import Fault, Killed, Point
from tests.crash.flat_table import AT_ONCE, HOME
from tests.crash.scenario import EVENTS, FLAT, WAREHOUSE, build, run
from tests.crash.simulated_cluster import SimulatedCluster

ROOT = f"{WAREHOUSE}/events"
MONTH = 30 * 86400.0
#: What a person can copy, or is told to do.
ACT = re.compile(
    r"lakekeeper (rollback|forget|cleanup|check|history|compact) |hdfs dfs -|hdfs dfsadmin|ALTER TABLE|DROP |MSCK"
    r"|--skip-trash|trusted_owners|[Mm]ove |[Dd]elete |[Rr]emove "
)
CLEAN, ROLL = ("cleanup", "--table", FLAT, *AT_ONCE), ("rollback", "--table", FLAT)
FORGET = ("forget", "--table", FLAT, "--run-id", "r1", "--yes")


def ask(sim: SimulatedCluster, *words: str) -> dict[str, Any]:
    """Run a verb in a new process, and return its report."""
    return run(sim.client(), *words)


def reasons(report: dict[str, Any]) -> str:
    """All that a report says of its failures."""
    found = [table["reason"] or "" for table in report["tables"]]
    found += [
        unit["reason"] or ""
        for table in report["tables"]
        for unit in table["units"]
        if unit["outcome"] in ("failed", "quarantined")
    ]
    return " | ".join([text for text in found if text] + [report["error"] or ""])


def twice(sim: SimulatedCluster, *words: str) -> str:
    """Run it twice; it must fail both times. Return what the second report says."""
    reports = [ask(sim, *words) for _ in range(2)]
    codes = [report["exit_code"] for report in reports]
    text = reasons(reports[-1])
    assert all(code in (1, 3) for code in codes), ("premise: it fails twice", codes, text)
    assert "\n" not in text
    return text


def must_name_an_act(text: str) -> None:
    assert ACT.search(text), f"no act: {text}"


def must_end(sim: SimulatedCluster, *words: str) -> None:
    report = ask(sim, *words)
    assert report["exit_code"] == 0, reasons(report)


def compacted(table: str = FLAT) -> SimulatedCluster:
    sim = build()
    must_end(sim, "compact", "--table", table, "--run-id", "r1")
    return sim


def killed(at: Fault, table: str = FLAT, sim: SimulatedCluster | None = None) -> SimulatedCluster:
    """A compaction that has died."""
    sim = sim or build()
    with pytest.raises(Killed):
        run(sim.client(at), "compact", "--table", table, "--run-id", "r1")
    return sim


def drop(sim: SimulatedCluster, table: str = FLAT) -> None:
    sim.metastore.drop(TableName.parse(table))


def set_location(sim: SimulatedCluster, table: str, place: str, *values: str) -> None:
    """ALTER TABLE ... SET LOCATION, of a partition if values are given."""
    name = TableName.parse(table)
    known = sim.metastore.get(name)
    if values:
        spec = writers.spec_of(sim, table, values)
        sim.metastore.put(name, replace(known, partitions={**known.partitions, spec: place}))
        return
    storage = replace(known.facts.storage, location=place)
    sim.metastore.put(name, replace(known, facts=replace(known.facts, storage=storage)))


def old_of(sim: SimulatedCluster, value: str) -> str:
    """Where the originals of a partition of sales.events are."""
    return next(
        each.path(unit.swap.old)
        for each in runs_of(sim, [EVENTS])
        for unit in each.state.units.values()
        if dict(unit.swap.unit.spec)["k"] == value
    )


def deletes(point: Point) -> bool:
    return point.op == "delete_tree"


def claimed(sim: SimulatedCluster) -> str:
    """Let a cleanup die before it deletes, and return where it has moved the originals of sales.flat."""
    with pytest.raises(Killed):
        run(sim.client(Fault.crash_before(deletes)), *CLEAN)
    return next(path for path, _, _ in sim.tree.walk(HOME) if "__claimed" in path and path.endswith("/flat"))
