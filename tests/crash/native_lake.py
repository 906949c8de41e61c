"""A table of a format that keeps lists of its own files, and jobs on it."""

from __future__ import annotations

from typing import Any

from spark_jobs.core.values.model import TableName
from tests.crash import writers
from tests.crash.fault_injection import Fault
from tests.crash.model_native import ModelNativeTable, append
from tests.crash.scenario import WAREHOUSE, run
from tests.crash.simulated_cluster import SimulatedCluster

NAME = "sales.lake"
FILES = {"a": 4, "b": 6, "c": 1}
ON = ("--native-formats", "iceberg")
AT_ONCE = ("--older-than", "0s")


def lake(keys: tuple[str, ...] = ("k",), name: str = NAME) -> SimulatedCluster:
    """Two partitions with small files, and one with a single file."""
    sim = SimulatedCluster()
    writers.create_table(sim, name, f"{WAREHOUSE}/lake", table_type="ICEBERG")
    sim.native.put(TableName.parse(name), ModelNativeTable(keys))
    for value, files in FILES.items():
        append(sim, name, value, files)
    return sim


def job(sim: SimulatedCluster, verb: str, *argv: object, faults: tuple[Fault, ...] = (), **more: Any) -> Any:
    return run(sim.client(*faults), verb, "--table", NAME, *ON, *map(str, argv), **more)


def only(report: dict[str, Any]) -> dict[str, Any]:
    (table,) = report["tables"]
    return table


def units(report: dict[str, Any]) -> dict[str, str]:
    return {unit["unit"].get("k", ""): unit["outcome"] for unit in only(report)["units"]}


def files(sim: SimulatedCluster) -> dict[str, int]:
    found: dict[str, int] = {}
    for file in sim.native.tables[TableName.parse(NAME)].files:
        value = dict(file.unit).get("k") or ""
        found[value] = found.get(value, 0) + 1
    return found


def tags(sim: SimulatedCluster) -> set[str]:
    return set(sim.native.tables[TableName.parse(NAME)].named)


COMPACTED = {"a": 1, "b": 1, "c": 1}
