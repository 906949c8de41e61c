"""The verb check in the crash tests: its report, its findings, and what a person does about them."""

from __future__ import annotations

import re
from typing import Any

from spark_jobs.core.values.model import TableName
from tests.crash.model_tree import AUTHORITY
from tests.crash.scenario import FLAT, run
from tests.crash.simulated_cluster import SimulatedCluster
from tests.crash.test_copied_tables import copy_of

_COMMANDS = re.compile(
    r"hdfs dfs -mv '(.+?)'|hdfs dfs -cp -p '(.+?)' '(.+?)'|hdfs dfs -rm -r '(.+?)'"
    r"|DROP TABLE (\S+)|lakekeeper ([^,]+)"
)


#: The calls that change nothing, on the file system and in the metastore.
_LOOKS = {
    *("attributes", "encryption_zone", "footers", "identity", "list", "open_files", "quota", "read"),
    *("snapshottable", "status", "database_exists", "properties", "table", "table_exists", "tables", "units"),
}


def check(sim: SimulatedCluster, tables: str = FLAT, *words: str) -> dict[str, Any]:
    """The report of a check, which has changed nothing at all, and tried nothing else either."""
    before, client = sim.version, sim.client()
    report = run(client, "check", "--tables", tables, *words)
    assert sim.version == before
    assert {point.op for point in client.trace} <= _LOOKS
    return report


def findings(report: dict[str, Any]) -> list[dict[str, Any]]:
    assert all(table["findings"] is not None for table in report["tables"]), report["tables"]
    return [finding for table in report["tables"] for finding in table["findings"]]


def codes(report: dict[str, Any]) -> list[str]:
    return [finding["code"] for finding in findings(report)]


def obey(sim: SimulatedCluster, command: str) -> None:
    """Do what a finding says, in the order in which it says it."""
    for moved, source, target, removed, table, words in _COMMANDS.findall(command):
        if moved:
            sim.tree.rename(moved, f"{AUTHORITY}/moved-away")
        elif source:
            copy_of(sim, source, target)
        elif removed:
            sim.tree.remove(removed, recursive=True)
        elif table:
            sim.metastore.drop(TableName.parse(table))
        else:
            run(sim.client(), *words.split())
