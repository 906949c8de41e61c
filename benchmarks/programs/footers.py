"""List a directory and read its footers as an analysis does, and write down what the driver needs for each.

spark-submit footers.py LOCATION --figures FILE
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from spark_jobs.adapters.composition import make_calls_cheap
from spark_jobs.adapters.hadoop.file_system import HadoopFileSystem
from spark_jobs.adapters.spark.formats.parquet_footers import ParquetFooters
from spark_jobs.adapters.spark.spark_types import SparkTypes
from spark_jobs.core.values.model import FileListing
from spark_jobs.protocol.measuring.namenode_calls import NameNodeCalls


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("location", help="the URI of a directory with nothing else than data files")
    parser.add_argument("--figures", type=Path, required=True)
    asked = parser.parse_args()
    spark = SparkSession.builder.appName("footers").getOrCreate()
    asked.figures.write_text(json.dumps(figures(spark, asked.location)))
    spark.stop()


def figures(spark: SparkSession, location: str) -> dict[str, Any]:
    """Return the driver's processor seconds for the listing and for the footers, files, rows, and the job's tasks.

    The footers are read twice: the first query of a session compiles, and an analysis has others too.
    """
    make_calls_cheap(spark)
    groups = _noted_groups(spark)
    calls = NameNodeCalls()
    fs, footers = HadoopFileSystem(spark, calls), ParquetFooters(spark, SparkTypes(spark), calls)
    times = [_processor_seconds(spark)]
    files = FileListing.of(status.entry() for status in fs.list(location) if status.name.startswith("part-"))
    times.append(_processor_seconds(spark))
    found = [footer for each in footers.read([(location, files)]) for footer in each]
    times.append(_processor_seconds(spark))
    list(footers.read([(location, files)]))
    times.append(_processor_seconds(spark))
    return {
        "listing": round(times[1] - times[0], 2),
        "footers": round(times[2] - times[1], 2),
        "footers_again": round(times[3] - times[2], 2),
        "files": sum(len(footer.names) for footer in found),
        "rows": sum(footer.rows or 0 for footer in found),
        "tasks": _most_tasks(spark, groups),
    }


def _processor_seconds(spark: SparkSession) -> float:
    """Return those of this process and of its JVM so far (proc(5): utime and stime)."""
    jvm: Any = spark._jvm
    fields = (
        Path(f"/proc/{jvm.java.lang.ProcessHandle.current().pid()}/stat")
        .read_text()
        .rpartition(")")[2]
        .split()
    )
    return time.process_time() + (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _noted_groups(spark: SparkSession) -> list[str]:
    """Return a list that gets the name of each group of jobs."""
    context, groups = spark.sparkContext, list[str]()
    begin = context.setJobGroup

    def noted(group: str, *more: Any, **options: Any) -> None:
        groups.append(group)
        begin(group, *more, **options)

    context.setJobGroup = noted  # type: ignore[method-assign]
    return groups


def _most_tasks(spark: SparkSession, groups: list[str]) -> int:
    """Return the tasks of the largest stage of some groups."""
    tracker = spark.sparkContext.statusTracker()
    jobs = [tracker.getJobInfo(job) for group in groups for job in tracker.getJobIdsForGroup(group)]
    stages = [tracker.getStageInfo(stage) for job in jobs if job for stage in job.stageIds]
    return max((stage.numTasks for stage in stages if stage), default=0)


if __name__ == "__main__":
    main()
