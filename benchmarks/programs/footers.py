"""Read the footers of a directory on a cluster of executors, and write down what the driver needed for it.

spark-submit --master 'local-cluster[2,4,1024]' footers.py --location URI --figures FILE

The figures are processor seconds of the driver, its JVM and its Python together.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path

from pyspark.sql import SparkSession

from spark_jobs.adapters.composition import make_calls_cheap
from spark_jobs.adapters.hadoop.file_system import HadoopFileSystem
from spark_jobs.adapters.spark.formats.parquet_footers import ParquetFooters
from spark_jobs.adapters.spark.spark_types import SparkTypes
from spark_jobs.core.values.model import FileEntry, FileListing
from spark_jobs.protocol.measuring.namenode_calls import NameNodeCalls


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--location", required=True)
    parser.add_argument("--figures", type=Path, required=True)
    asked = parser.parse_args()
    spark = SparkSession.builder.appName("footers").getOrCreate()
    make_calls_cheap(spark)
    calls = NameNodeCalls()
    fs, footers = HadoopFileSystem(spark, calls), ParquetFooters(spark, SparkTypes(spark), calls)
    figures = {}
    started = _processor_seconds(spark), time.monotonic()
    listed = fs.list(asked.location)
    figures["listing"] = _since(spark, started)
    files = FileListing.of(status.entry() for status in listed if status.name.startswith("part-"))
    started = _processor_seconds(spark), time.monotonic()
    ((footer,),) = footers.read([(asked.location, files)])
    figures["footers"] = _since(spark, started)
    figures["files"] = len(footer.names)
    figures["rows"] = footer.rows
    tracker = spark.sparkContext.statusTracker()
    stages = [tracker.getStageInfo(s) for job in tracker.getJobIdsForGroup() for s in tracker.getJobInfo(job).stageIds]
    figures["tasks"] = [stage.numTasks for stage in stages if stage]
    asked.figures.write_text(json.dumps(figures))
    spark.stop()


def _since(spark, started):
    return {"cpu": _processor_seconds(spark) - started[0], "wall": time.monotonic() - started[1]}


def _processor_seconds(spark: SparkSession) -> float:
    pid = spark._jvm.java.lang.ProcessHandle.current().pid()
    after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return time.process_time() + (int(after_name[11]) + int(after_name[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
