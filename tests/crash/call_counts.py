"""What a verb costs: its calls to the file system and the metastore, and the entries that its listings return.

Calls of Spark itself (the rewrite of the rows) are not counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from spark_jobs.protocol.file_system import Status
from tests.crash import writers
from tests.crash.scenario import WAREHOUSE, run
from tests.crash.simulated_cluster import Client, SimulatedCluster

MANY = "sales.many"
#: The footers of one unit are read in one call.
OF_FILES = "entries listed"
#: HDFS is asked about each file by a call of its own.
ASKED = "files asked whether they are open"


def table(files: int, partitions: int, flag: str | None = None) -> SimulatedCluster:
    """A table with so many partitions, and so many files in each of them, and a flag beside them if one is given."""
    sim = SimulatedCluster()
    writers.create_table(sim, MANY, f"{WAREHOUSE}/many", keys=("k",))
    for number in range(partitions):
        place = writers.add_partition(sim, MANY, f"p{number:04d}")
        for _ in range(files):
            writers.append(sim, place, sim.ledger.fresh(1))
        if flag:
            sim.tree.write(f"{place}/{flag}", b"")
    return sim


def cost(sim: SimulatedCluster, verb: str, *argv: str) -> Counter[str]:
    """Runs a verb, and returns the number of its calls by their kind."""
    client = sim.client()
    meter = _Meter(client)
    report = run(client, verb, "--table", MANY, *argv)
    assert (report["exit_code"], report["tables"][0]["warnings"]) == (0, []), report
    return meter.counts()


class _Meter:
    """Counts what a client asks for beside its trace: what listings return, and what belongs to Spark."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._of_files: Counter[str] = Counter()
        self._of_spark: set[int] = set()
        fs, rewriter = client.fs, client.cluster.rewriter
        self._list, self._open_files = fs.list, fs.open_files
        fs.list = self._listing  # type: ignore[method-assign]
        fs.open_files = self._asking  # type: ignore[method-assign]
        rewriter.write = self._of_spark_only(rewriter.write)  # type: ignore[method-assign]
        rewriter.write_jointly = self._of_spark_only(rewriter.write_jointly)  # type: ignore[method-assign]

    def counts(self) -> Counter[str]:
        calls = (point for point in self._client.trace if point.number not in self._of_spark)
        return Counter(point.op for point in calls if not point.op.endswith(".write")) + self._of_files

    def _listing(self, path: str) -> Sequence[Status]:
        found = self._list(path)
        self._of_files[OF_FILES] += len(found)
        return found

    def _asking(self, path: str, names: Sequence[str]) -> Sequence[str]:
        self._of_files[ASKED] += len(names)
        return self._open_files(path, names)

    def _of_spark_only(self, write: Callable[..., Any]) -> Callable[..., Any]:
        def rewriting(*arguments: Any) -> Any:
            before = self._client.points
            try:
                return write(*arguments)
            finally:
                self._of_spark.update(range(before + 1, self._client.points + 1))

        return rewriting


def calls(counts: Counter[str]) -> int:
    """All calls: one for each file that HDFS is asked about."""
    asked = counts[ASKED] - counts["open_files"]
    return sum(counts.values()) - counts[OF_FILES] - counts[ASKED] + max(asked, 0)


def text(costs: dict[tuple[int, int], Counter[str]]) -> str:
    """A table of what each size of a table costs."""
    kinds = sorted({kind for counts in costs.values() for kind in counts})
    head = "".join(f"{f'{files} files x {parts}':>18}" for files, parts in costs)
    rows = (f"{kind:<36}" + "".join(f"{counts[kind]:>18}" for counts in costs.values()) for kind in kinds)
    return "\n".join([f"{'':<36}{head}", *rows])
