"""A plan as a file on the simulated cluster, and the units of a report."""

from __future__ import annotations

import json
from typing import Any

from tests.crash.model_tree import AUTHORITY
from tests.crash.simulated_cluster import SimulatedCluster

PLAN = f"{AUTHORITY}/user/me/plan.json"


def kept(sim: SimulatedCluster, plan: dict[str, Any]) -> str:
    """The URI of the plan, which is kept as a file."""
    sim.tree.write(PLAN, json.dumps(plan).encode(), overwrite=True, parents=True)
    return PLAN


def units_with(report: dict[str, Any], *outcomes: str) -> list[tuple[str, str]]:
    """The units with these outcomes, in the order of the report: table, and value of the partition key."""
    return [
        (table["table"], unit["unit"].get("k", ""))
        for table in report["tables"]
        for unit in table["units"]
        if unit["outcome"] in outcomes
    ]
