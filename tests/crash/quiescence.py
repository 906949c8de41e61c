"""Has everything come to rest, and why not?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from spark_jobs.core.values.model import TableName
from spark_jobs.protocol.runs.run_finder import TableRuns
from tests.crash.process import acting_as
from tests.crash.simulated_cluster import SimulatedCluster

_BY_DESIGN = "'lakekeeper.writers' does not say whether writers of this table append or overwrite"


def open_runs(sim: SimulatedCluster, tables: Sequence[str]) -> list[str]:
    """The runs that are unfinished, as another process would find them."""
    client = sim.copy().client()
    with acting_as(client):
        facts = [client.metastore.table(TableName.parse(table)) for table in tables]
        runs = [run for each in facts for run in TableRuns(client.fs, each, sim.units(each.name)).all()]
    return [run.run_id for run in runs if run.state.unfinished]


def units(reports: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return [unit for report in reports for table in report["tables"] for unit in table["units"]]


def held_by_design(reports: Iterable[dict[str, Any]]) -> bool:
    """A writer of unknown kind made a live directory anew between the renames: that is for a person to decide."""
    return any(_BY_DESIGN in (unit["reason"] or "") for unit in units(reports))


def complaints(reports: Iterable[dict[str, Any]]) -> list[str]:
    """What was not as it should be, for whoever reads a failed example."""
    bad = [report for report in reports if report["exit_code"]]
    return [
        f"{report['verb']} ended with {report['exit_code']}: {report['error']} {_why(report)}"
        for report in bad
    ]


def _why(report: dict[str, Any]) -> list[tuple[str, str | None, list[str | None]]]:
    return [
        (table["outcome"], table["reason"], [unit["reason"] for unit in table["units"]])
        for table in report["tables"]
    ]
