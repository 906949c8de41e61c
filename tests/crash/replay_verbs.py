"""Whole verbs for the replay: the same table in the model and in a real Spark, every call of a job written down."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

from spark_jobs import __version__
from spark_jobs.adapters.composition import spark_services
from spark_jobs.core.options.arguments import parse
from spark_jobs.core.wire.report import Report
from spark_jobs.protocol.services import Services
from spark_jobs.verbs import runner
from tests.crash import writers
from tests.crash.model_spark import visible_rows
from tests.crash.model_tree import AUTHORITY
from tests.crash.process import acting_as
from tests.crash.replay import Recording, Stopped, comparable
from tests.crash.simulated_cluster import SimulatedCluster

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLE = "flat"
ARGUMENTS = {
    "compact": ("--run-id", "r1", "--parallelism", "1"),
    "rollback": ("--parallelism", "1"),
    "cleanup": ("--older-than", "0s", "--skip-trash", "--parallelism", "1"),
}
#: Where a job is killed: right after this call.
_AFTER: dict[str, Callable[[str], bool]] = {
    "PREPARED": lambda call: call.startswith("rename") and call.endswith("journal/000003.json"),
    "R1": lambda call: call.startswith(f"rename /{TABLE} "),
    "R2": lambda call: call.startswith("rename") and call.endswith(f" /{TABLE}"),
    "COMMITTED": lambda call: call.startswith("rename") and call.endswith("journal/000004.json"),
}


@dataclass(frozen=True)
class Played:
    """What one step came to."""

    step: str
    outcome: object
    rows: list[int]
    calls: list[str]


class Model:
    """The table in the model."""

    def __init__(self) -> None:
        self.sim, self.root = SimulatedCluster(), f"{AUTHORITY}/replay"
        self.table = f"sales.{TABLE}"
        writers.create_table(self.sim, self.table, f"{self.root}/{TABLE}")
        for _ in range(4):
            self.append()

    def append(self) -> None:
        writers.append(self.sim, f"{self.root}/{TABLE}", self.sim.ledger.fresh(1))

    def run(self, verb: str, fs: Callable[[Any], Recording]) -> tuple[Recording, object]:
        client = self.sim.client()
        recording = fs(client.fs)
        with acting_as(client):
            return recording, run(replace(client.cluster, fs=recording), verb, self.table)

    def rows(self) -> list[int]:
        return sorted(visible_rows(self.sim.tree, f"{self.root}/{TABLE}"))


class Hurried:
    """Real time, but for the waiting: an owner that is dead need not be waited for."""

    def __init__(self) -> None:
        self._slept = 0.0

    def now(self) -> datetime:
        return datetime.now(timezone.utc) + timedelta(seconds=self._slept)

    def monotonic(self) -> float:
        return time.monotonic() + self._slept

    def sleep(self, seconds: float) -> None:
        self._slept += seconds

    def every(self, seconds: float, act: Callable[[], None]) -> Callable[[], None]:
        return lambda: None


class Real:
    """The table in a real metastore, on a real file system."""

    def __init__(self, spark: SparkSession, table: str, root: str) -> None:
        self.spark, self.table, self.root = spark, table, root
        self._next = 1
        location = f"{root}/{TABLE}"
        # Left to the metastore it would be the metastore's own.
        spark_services(spark).fs.mkdirs(location)
        spark.sql(f"CREATE EXTERNAL TABLE {table} (id BIGINT) STORED AS PARQUET LOCATION '{location}'")
        for _ in range(4):
            self.append()

    def append(self) -> None:
        write = self.spark.sql(f"SELECT {self._next}L AS id").coalesce(1).write.mode("append")
        write.option("mapreduce.fileoutputcommitter.marksuccessfuljobs", "false").parquet(
            f"{self.root}/{TABLE}"
        )
        self._next += 1

    def run(self, verb: str, fs: Callable[[Any], Recording]) -> tuple[Recording, object]:
        cluster = spark_services(self.spark)
        recording = fs(cluster.fs)
        return recording, run(replace(cluster, fs=recording, clock=Hurried()), verb, self.table)

    def rows(self) -> list[int]:
        """By a listing and no cache; a directory that is missing holds none."""
        from spark_jobs.adapters.hadoop.file_system import HadoopFileSystem

        if HadoopFileSystem(self.spark).status(f"{self.root}/{TABLE}") is None:
            return []
        frame = self.spark.read.schema("id BIGINT").parquet(f"{self.root}/{TABLE}")
        return sorted(row.id for row in frame.collect())


def run(cluster: Services, verb: str, table: str) -> object:
    """What the report says of the table and its units, or that the process was killed."""
    report = Report(verb, __version__)
    try:
        runner.run(cluster, parse(verb, ["--table", table, *ARGUMENTS[verb]], ""), report)
    except Stopped:
        return "killed"
    found = report.to_json()["tables"][0]
    return report.exit_code, found["outcome"], [(unit["outcome"], unit["files"]) for unit in found["units"]]


def play(system: Model | Real, steps: Sequence[str]) -> list[Played]:
    return [_step(system, step) for step in steps]


def _step(system: Model | Real, step: str) -> Played:
    if step == "append":
        system.append()
        return Played(step, None, system.rows(), [])
    verb, _, after = step.partition(", killed after ")
    stop = _AFTER[after] if after else None
    recording, outcome = system.run(verb, lambda fs: Recording(fs, system.root, stop))
    assert (outcome == "killed") is bool(after), f"{step}: {outcome}"
    return Played(step, outcome, system.rows(), comparable(recording.calls))


def assert_same(spark: SparkSession, database: str, root: str, steps: Sequence[str]) -> None:
    """Outcomes, rows, and every call in its order."""
    model, real = play(Model(), steps), play(Real(spark, f"{database}.{TABLE}", root), steps)
    for said, done in zip(model, real, strict=True):
        assert done.outcome == said.outcome, said.step
        assert done.rows == said.rows, said.step
        assert done.calls == said.calls, said.step
