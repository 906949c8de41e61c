"""The table without partitions: the verbs on it, and the moments at which something may happen to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.crash import writers
from tests.crash.explorer import runs_of
from tests.crash.fault_injection import Fault, Point
from tests.crash.scenario import FLAT, WAREHOUSE, run
from tests.crash.simulated_cluster import Client, SimulatedCluster

LIVE = f"{WAREHOUSE}/flat"
HOME = f"{WAREHOUSE}/.lakekeeper-flat"
AT_ONCE = ("--older-than", "0s", "--skip-trash")


def out(point: Point) -> bool:
    """R1: the originals leave the live path."""
    return point.op == "rename" and point.args[0] == LIVE


def into(point: Point) -> bool:
    """R2: something becomes the live directory."""
    return point.op == "rename" and point.args[1] == LIVE


def writing(point: Point) -> bool:
    """In the middle of the rewrite: the originals have been read."""
    return point.op == "raw_rename"


def written(point: Point) -> bool:
    """The rewrite is verified, and nothing of it is journaled yet."""
    return point.op == "mkdirs" and "/__originals_" in point.args[0]


def compact(client: Client, table: str = FLAT, run_id: str = "r1", *args: str) -> dict[str, Any]:
    return run(client, "compact", "--table", table, "--run-id", run_id, *args)


def outcomes(report: dict[str, Any]) -> list[str]:
    return [unit["outcome"] for table in report["tables"] for unit in table["units"]]


def only(report: dict[str, Any]) -> dict[str, Any]:
    (table,) = report["tables"]
    return table


def append(sim: SimulatedCluster, place: str = LIVE) -> Callable[[], object]:
    return lambda: writers.append(sim, place, sim.ledger.fresh(2))


def originals(sim: SimulatedCluster) -> str:
    """Where the originals of the flat table lie."""
    (found,) = runs_of(sim, [FLAT])
    return found.path(next(iter(found.state.units.values())).swap.old)


def roll_back(sim: SimulatedCluster, table: str = FLAT, *faults: Fault) -> dict[str, Any]:
    return run(sim.client(*faults), "rollback", "--table", table)


def clean_up(sim: SimulatedCluster, table: str = FLAT) -> dict[str, Any]:
    return run(sim.client(), "cleanup", "--table", table, *AT_ONCE)
