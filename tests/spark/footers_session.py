"""A session whose executors are other processes: both of them read the footers of the same files.

A process of its own, because a session has its master from its start.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from spark_jobs.adapters.spark.formats import executor_footers, parquet_footers
from spark_jobs.adapters.spark.formats.driver_footers import DriverFooters
from spark_jobs.adapters.spark.formats.parquet_footers import ParquetFooters
from spark_jobs.adapters.spark.spark_types import SparkTypes
from spark_jobs.protocol.measuring.namenode_calls import NameNodeCalls
from tests.spark.toolbox import listed


def main(folder: Path, settings: dict[str, str]) -> None:
    builder = SparkSession.builder.master("local-cluster[1,2,1024]").config("spark.ui.enabled", "false")
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.config("spark.driver.bindAddress", "127.0.0.1").getOrCreate()
    directories = [listed(path) for path in sorted(folder.iterdir())]
    expected = ParquetFooters(spark, SparkTypes(spark), NameNodeCalls()).read(directories)
    by_driver: list[int] = []
    read_batch = DriverFooters._read_batch

    def counted(driver: DriverFooters, files: Any) -> Any:
        by_driver.append(len(files))
        return read_batch(driver, files)

    DriverFooters._read_batch = counted  # type: ignore[method-assign]
    parquet_footers._WORTH_A_JOB = 1
    executor_footers._BATCH = 7
    # An executor is a process that has to start; one that wants more cores than there are never does.
    executor_footers._PATIENCE = 3.0 if "spark.executor.cores" in settings else 300.0
    found = ParquetFooters(spark, SparkTypes(spark), NameNodeCalls()).read(directories)
    active = list(spark.sparkContext.statusTracker().getActiveJobsIds())
    shown = {"same": found == expected, "by_driver": sum(by_driver), "active": active}
    print(json.dumps(shown), flush=True)
    for (place, _), ours, theirs in zip(directories, found, expected, strict=True):
        if ours != theirs:
            print(place, ours, theirs, file=sys.stderr)


if __name__ == "__main__":
    main(Path(sys.argv[1]), json.loads(sys.argv[2]))
