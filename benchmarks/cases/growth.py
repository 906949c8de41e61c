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
    "files": ("growth-files-400", "growth-files-800"),
    "partitions": ("growth-partitions-40", "growth-partitions-80"),
}
#: The jobs, in their order. A second compaction makes something to clean up, and is not counted.
VERBS = ("analyze", "compact", "rollback", "recompact", "cleanup")
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
        for verb in small:
            for called in CALLED:
                before, after = small[verb][called], large[verb][called]
                figures["largest"] = max(figures["largest"], round(after / before, 3))
                figures[f"{verb}, calls to the {called}"] = (
                    f"{before:,} -> {after:,} ({after / before:.2f} x)"
                )
        return _sum(taken), figures

    def _calls_of(self, name: str, number: int, taken: list[Measured]) -> dict[str, Calls]:
        """Return the calls of each job on one table; what the jobs took is added to `taken`."""
        table = self.place.prepare(DATASETS[name], anew=True)
        found = {}
        for verb in VERBS:
            label = f"{name}-{verb}-{number}"
            measured, calls = self._run_job(label, verb.removeprefix("re"), table)
            taken.append(measured)
            found[verb] = calls
        del found["recompact"]
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
        "400 and 800 files in one directory; 40 and 80 partitions of 3 files. The seconds are of all jobs together.",
        tuple(STEPS),
        _opened,
        rounds=1,
    ),
)
