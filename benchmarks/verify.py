"""Measure the cost of `--verify hash`: the demo's tables are compacted with `count` and `hash` in turn.

    .envs/spark-3.5/bin/python -m benchmarks.verify --rounds 5

Prints the median seconds of both and their ratio. One warm-up round is not counted. Every round starts from the same
files, which a rollback restores.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from demo import tables
from demo.services.metastore import Metastore
from demo.services.spark_config import spark_environ
from tests.spark.toolbox import Jobs, outcomes

KINDS = ("count", "hash")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5, help="counted rounds (5)")
    parser.add_argument("--env", default="spark-3.5", help="the Spark environment (spark-3.5)")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch, Metastore(Path(scratch) / "metastore") as metastore:
        # Java with the options of a cluster.
        conf = {"spark.driver.extraJavaOptions": ""}
        environ = spark_environ(
            asked.env, metastore.uri, Path(scratch) / "spark", conf=conf, shared_classes=False
        )
        os.environ.update(environ)
        report(measure(Path(scratch), asked.rounds))


def measure(scratch: Path, rounds: int) -> dict[str, list[float]]:
    """Return the seconds of each compaction, by the kind of verification."""
    from pyspark.sql import SparkSession

    spark: Any = SparkSession.builder.appName("verify").enableHiveSupport().getOrCreate()
    tables.create_all(spark, scratch / "warehouse")
    names = ",".join(table.full_name for table in tables.TABLES)
    jobs, found = Jobs(spark, scratch), {kind: [] for kind in KINDS}
    for number in range(rounds + 1):
        for kind in KINDS:
            seconds = _compaction(jobs, names, kind)
            print(f"round {number} {kind}: {seconds:.1f} s{' (warm-up)' if not number else ''}", flush=True)
            if number:
                found[kind].append(seconds)
    spark.stop()
    return found


def _compaction(jobs: Jobs, names: str, kind: str) -> float:
    started = time.monotonic()
    done = jobs("compact", "--tables", names, "--verify", kind)
    seconds = time.monotonic() - started
    assert set(outcomes(done)) == {"compacted"}, done
    jobs("rollback", "--tables", names)
    return seconds


def report(found: dict[str, list[float]]) -> None:
    medians = {kind: statistics.median(seconds) for kind, seconds in found.items()}
    print(
        f"count {medians['count']:.1f} s, hash {medians['hash']:.1f} s: {medians['hash'] / medians['count']:.2f} times"
    )


if __name__ == "__main__":
    main()
