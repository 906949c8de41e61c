"""The tables that the crash tests work on, and a verb run by one process of the model."""

from __future__ import annotations

import json
from typing import Any

from spark_jobs import __version__
from spark_jobs.core.options.arguments import parse
from spark_jobs.core.wire.report import Report
from spark_jobs.verbs import runner
from spark_jobs.verbs.analyze import analyze_table
from spark_jobs.verbs.check import check_location, check_table
from spark_jobs.verbs.cleanup import cleanup_table
from spark_jobs.verbs.cleanup_location import cleanup_location
from spark_jobs.verbs.compact import compact_table
from spark_jobs.verbs.forget import forget_location, forget_table
from spark_jobs.verbs.history import history_table
from spark_jobs.verbs.plan import arrange, complete_dry_run, plan_table
from spark_jobs.verbs.rollback import rollback_table
from spark_jobs.verbs.table_order import by_gain
from tests.crash import writers
from tests.crash.model_tree import AUTHORITY
from tests.crash.process import acting_as
from tests.crash.simulated_cluster import Client, SimulatedCluster

VERBS = {
    "analyze": analyze_table,
    "plan": plan_table,
    "compact": compact_table,
    "rollback": rollback_table,
    "cleanup": cleanup_table,
    "forget": forget_table,
    "history": history_table,
    "check": check_table,
}
#: What completes the report of a verb, when all tables are known.
FINISH = {"plan": arrange, "compact": complete_dry_run}
#: The verbs that work on what a dropped table has left.
AT_LOCATION = {"cleanup": cleanup_location, "forget": forget_location, "check": check_location}
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
        finish, order = FINISH.get(verb), by_gain if verb == "compact" else None
        runner.run(
            client.cluster, parse(verb, words, ""), VERBS[verb], report, AT_LOCATION.get(verb), finish, order
        )
    return {**report.to_json(), "exit_code": report.exit_code}


def _put_request(client: Client, request: dict[str, Any]) -> str:
    """Airflow puts it there before the process starts: it is none of its points."""
    uri = f"{AUTHORITY}/user/me/request-{client.name}.json"
    client.sim.tree.write(uri, json.dumps(request).encode(), overwrite=True, parents=True)
    return uri
