"""Count the calls of our jobs on tables with twice the files, and with twice the partitions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from benchmarks import reports
from benchmarks.call_counter import MetastoreProxy, namenode_calls
from benchmarks.cases.case import Bench, Case
from benchmarks.datasets import DATASETS
from benchmarks.measuring import Measured
from benchmarks.places import contenders
from benchmarks.places.hdfs import HdfsPlace, HdfsTable
from benchmarks.workspace import PROGRAMS
from demo.services.java import DRIVER_OPTIONS

#: Each step: the table, and the one that has twice as much.
STEPS = {
    "files": ("growth-files-800", "growth-files-1600"),
    "partitions": ("growth-partitions-40", "growth-partitions-80"),
}
#: By name, the jobs in their order. The second compaction knows the footers of all files by the analysis, where a
#: directory has as many of them as are worth it, and makes something to clean up.
ALONE = "compact without an analysis"
JOBS = {
    ALONE: "compact",
    "rollback": "rollback",
    "analyze": "analyze",
    "compact": "compact",
    "cleanup": "cleanup",
}
CALLED = ("JVM", "NameNode", "metastore")

#: Calls of one job, by what it calls.
Calls = dict[str, int]


@dataclass(frozen=True)
class Growth:
    """The cluster, with a proxy before its metastore."""

    place: HdfsPlace
    proxy: MetastoreProxy

    @property
    def facts(self) -> dict[str, Any]:
        return {}

    def run(self, step: str, number: int) -> tuple[Measured, dict[str, Any]]:
        taken: list[Measured] = []
        small, large = (self._calls_of(name, number, taken) for name in STEPS[step])
        figures: dict[str, Any] = {"largest": 0.0}
        more = DATASETS[STEPS[step][1]].total_files - DATASETS[STEPS[step][0]].total_files
        for job in small:
            for called in CALLED:
                before, after = small[job][called], large[job][called]
                figures["largest"] = max(figures["largest"], round(after / before, 3))
                figures[f"{job}, calls to the {called}"] = f"{before:,} -> {after:,} ({after / before:.2f} x)"
            figures[for_each_file(job)] = round((large[job]["NameNode"] - small[job]["NameNode"]) / more, 2)
        return _sum(taken), figures

    def _calls_of(self, name: str, number: int, taken: list[Measured]) -> dict[str, Calls]:
        """Return the calls of each job on one table; what the jobs took is added to `taken`."""
        table = self.place.prepare(DATASETS[name], anew=True)
        found = {}
        for job, verb in JOBS.items():
            label = f"{name}-{job.replace(' ', '-')}-{number}"
            measured, found[job] = self._run_job(label, verb, table)
            taken.append(measured)
        return found

    def _run_job(self, label: str, verb: str, table: HdfsTable) -> tuple[Measured, Calls]:
        file = self.place.submit.logs / f"{label}.calls"
        before = self._server_calls()
        measured, report = contenders.ours(
            self.place.submit,
            label,
            verb,
            table,
            wrapper=PROGRAMS / "counted.py",
            # The times do not count here.
            conf={
                "spark.driver.extraJavaOptions": DRIVER_OPTIONS,
                "spark.hadoop.hive.metastore.uris": self.proxy.uri,
            },
            environ={"CALLS": str(file)},
        )
        reports.require(report, label, "done")
        after = self._server_calls()
        calls = {called: after[called] - before[called] for called in before}
        return measured, {"JVM": int(file.read_text()), **calls}

    def _server_calls(self) -> Calls:
        return {"NameNode": namenode_calls(self.place.cluster.files.address), "metastore": self.proxy.calls()}


def for_each_file(job: str) -> str:
    """Return the name of the figure of a job."""
    return f"{job}, calls to the NameNode for each further file"


def _sum(taken: list[Measured]) -> Measured:
    """Return what all jobs took together, and the most memory of any."""
    return Measured(
        round(sum(each.wall for each in taken), 2),
        round(sum(each.cpu for each in taken), 2),
        max(each.jvm_mb for each in taken),
        max(each.python_mb for each in taken),
        round(sum(each.others for each in taken), 2),
    )


@contextmanager
def _opened(bench: Bench) -> Iterator[Growth]:
    with MetastoreProxy(bench.hdfs.cluster.metastore.port).serving() as proxy:
        yield Growth(bench.hdfs, proxy)


CASES = (
    Case(
        "growth",
        "Growth of the number of calls, HDFS",
        "800 and 1,600 files in one directory; 40 and 80 partitions of 3 files. The seconds are of all jobs together.",
        tuple(STEPS),
        _opened,
        rounds=1,
    ),
)
