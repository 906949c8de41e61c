"""The tables that the crash tests work on, and a verb run by one process of the model."""

from __future__ import annotations

import json
from typing import Any

from spark_jobs import __version__
from spark_jobs.core.options.arguments import parse
from spark_jobs.core.wire.report import Report
from spark_jobs.verbs import runner
from tests.crash import writers
from tests.crash.model_tree import AUTHORITY
from tests.crash.process import acting_as
from tests.crash.simulated_cluster import Client, SimulatedCluster

EVENTS, FLAT = "sales.events", "sales.flat"
WAREHOUSE = f"{AUTHORITY}/warehouse"


def build(files: int = 4, rows: int = 3) -> SimulatedCluster:
    """sales.events: partitions a and b under its root, c elsewhere; sales.flat: no partitions; all need compacting."""
    sim = SimulatedCluster()
    writers.create_table(sim, EVENTS, f"{WAREHOUSE}/events", keys=("k",))
    for value in ("a", "b"):
        _fill(sim, writers.add_partition(sim, EVENTS, value), files, rows)
    outside = writers.add_partition(sim, EVENTS, "c", location=f"{AUTHORITY}/elsewhere/c")
    _fill(sim, outside, files, rows)
    writers.create_table(sim, FLAT, f"{WAREHOUSE}/flat")
    _fill(sim, f"{WAREHOUSE}/flat", files + 2, rows)
    return sim


def _fill(sim: SimulatedCluster, location: str, files: int, rows: int) -> None:
    for _ in range(files):
        writers.append(sim, location, sim.ledger.fresh(rows))


def run(client: Client, verb: str, *argv: str, request: dict[str, Any] | None = None) -> dict[str, Any]:
    """Runs a verb to its end and returns its report as the wire has it; raises Killed where the process dies."""
    words = [str(word) for word in argv]
    if request is not None:
        words += ["--request", _put_request(client, request)]
    report = Report(verb, __version__)
    with acting_as(client):
        runner.run(client.cluster, parse(verb, words, ""), report)
    return {**report.to_json(), "exit_code": report.exit_code}


def _put_request(client: Client, request: dict[str, Any]) -> str:
    """Airflow puts it there before the process starts: it is none of its points."""
    uri = f"{AUTHORITY}/user/me/request-{client.name}.json"
    client.sim.tree.write(uri, json.dumps(request).encode(), overwrite=True, parents=True)
    return uri
