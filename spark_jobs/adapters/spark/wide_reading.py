"""Reads with more tasks than files are written, and sends the rows to the tasks that write them.

Spark's own `repartition(n)` deals the rows out one by one. To do this in the same way again when a task is repeated, it
sorts all rows first. Here each task that reads sends all its rows to one task that writes, by a key that depends on
nothing but the number of the task in the scan. A task that is repeated reads the same files and has the same number. So
its rows go where they went before, and none is lost or doubled.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from spark_jobs.adapters.hadoop.field_mapper import fields_mapper
from spark_jobs.adapters.hadoop.java_answers import java_json
from spark_jobs.core.planning.shuffle_keys import partition_keys
from spark_jobs.core.planning.task_plan import OPEN_COST, SCAN_BYTES, balanced

#: Where no limit is meant, the setting is the largest integer.
_MOST_EXECUTORS = 1000


def slots(spark: SparkSession) -> int:
    """Return the number of tasks that can run at the same time. With dynamic allocation: at most."""
    context, conf = spark.sparkContext, spark.conf
    parallelism = int(context.defaultParallelism)
    if (
        str(context.master).startswith("local")
        or conf.get("spark.dynamicAllocation.enabled", "false") != "true"
    ):
        return parallelism
    executors = int(conf.get("spark.dynamicAllocation.maxExecutors", "0") or 0)
    cores, cores_of_a_task = (
        int(conf.get(name, "1") or 1) for name in ("spark.executor.cores", "spark.task.cpus")
    )
    return max(parallelism, min(executors, _MOST_EXECUTORS) * (cores // cores_of_a_task))


def scan_settings(read_tasks: int) -> dict[str, str]:
    """Return the settings with which Spark shares the files among this many tasks."""
    return {
        "spark.sql.files.minPartitionNum": str(read_tasks),
        "spark.sql.files.maxPartitionBytes": str(SCAN_BYTES),
        "spark.sql.files.openCostInBytes": str(OPEN_COST),
    }


def shuffled(frame: DataFrame, files: int) -> DataFrame:
    """Return the rows in this many partitions of about equal bytes.

    Args:
        frame: has one partition for each task of a scan.
    """
    parts = balanced(_scanned_bytes(frame), files)
    keys = partition_keys(files)
    key = f"array({', '.join(str(keys[part]) for part in parts)})[spark_partition_id()]"
    # Without adaptive execution (see sessions.PINNED), the shuffle has exactly this number of partitions.
    return frame.repartition(files, F.expr(key))


def _scanned_bytes(frame: DataFrame) -> list[int]:
    """Return the bytes that each task of a scan will read. They decide only about the sizes of the files."""
    jvm: Any = frame.sparkSession._jvm
    partitions = frame._jdf.queryExecution().toRdd().partitions()
    if not len(partitions):
        return []
    datasources = "org.apache.spark.sql.execution.datasources"
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    file, partition = (
        loader.loadClass(f"{datasources}.{name}") for name in ("PartitionedFile", "FilePartition")
    )
    mapper = fields_mapper(jvm, {file: ["length"], partition: ["files"]})
    rows = java_json(mapper, partitions)
    return [sum(file["length"] for file in row["files"]) for row in rows]
