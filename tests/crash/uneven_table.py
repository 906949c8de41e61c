"""A table of partitions with few and with many files, for the tests of the limits of a job."""

from __future__ import annotations

from typing import Any

import pytest

from spark_jobs.core.messages.errors import LakekeeperError
from tests.crash import writers
from tests.crash.model_spark import ModelRewriter
from tests.crash.scenario import WAREHOUSE, run
from tests.crash.simulated_cluster import SimulatedCluster

#: Files of each partition of `uneven`.
FILES = {"a": 2, "b": 6, "c": 4, "d": 9, "e": 3}


def uneven() -> SimulatedCluster:
    """sales.uneven: partitions of so many equal files each."""
    sim = SimulatedCluster()
    writers.create_table(sim, "sales.uneven", f"{WAREHOUSE}/uneven", keys=("k",))
    for value, files in FILES.items():
        location = writers.add_partition(sim, "sales.uneven", value)
        for _ in range(files):
            writers.append(sim, location, sim.ledger.fresh(3))
    return sim


def job(sim: SimulatedCluster, verb: str, *argv: object, **more: Any) -> dict[str, Any]:
    return run(sim.client(), verb, "--table", "sales.uneven", *map(str, argv), **more)


def by_outcome(report: dict[str, Any], outcome: str) -> list[str]:
    (table,) = report["tables"]
    return [unit["unit"]["k"] for unit in table["units"] if unit["outcome"] == outcome]


def reasons(report: dict[str, Any], outcome: str) -> set[str]:
    return {u["reason"] for t in report["tables"] for u in t["units"] if u["outcome"] == outcome}


def failing(monkeypatch: pytest.MonkeyPatch, *partitions: str) -> list[str]:
    """Let the rewrite of partitions fail; returns the names of those that are rewritten, in order, with their check."""
    begun: list[str] = []
    write = ModelRewriter.write

    def rewrite(self: ModelRewriter, request: Any) -> Any:
        value = request.directory.rsplit("=", 1)[-1]
        begun.append(f"{value} {'hash' if request.hashed else 'count'}")
        if value in partitions:
            raise LakekeeperError(f"no executor is left for {value}")
        return write(self, request)

    monkeypatch.setattr(ModelRewriter, "write", rewrite)
    return begun
