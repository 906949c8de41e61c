"""Which pyarrow the executors have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyspark.sql import SparkSession

from spark_jobs.adapters.hadoop.java_errors import is_java_error, root_cause
from spark_jobs.adapters.spark.arrow.mapping import mapped_in_arrow
from spark_jobs.core.formats.arrow import lack_of
from spark_jobs.core.messages.errors import in_one_line
from spark_jobs.protocol.ports import Arrow

#: More tasks would hardly meet other executors. A worker of another version refuses its files.
_MOST_TASKS = 200


def ask(spark: SparkSession) -> Arrow:
    """Ask each executor for its pyarrow, by a task for each core that the driver knows of now."""
    try:
        versions = _versions(spark)
    except Exception as error:
        # Whatever it is: without an answer Spark writes the files.
        text = root_cause(error)[1] if is_java_error(error) else str(error)
        return Arrow(lack=f"the executors cannot run pyarrow: {_last_line(text) or type(error).__name__}")
    lack = lack_of(versions)
    return Arrow(lack=lack) if lack else Arrow(version=versions[0])


def _versions(spark: SparkSession) -> list[str]:
    tasks = max(1, min(_MOST_TASKS, int(spark.sparkContext.defaultParallelism)))
    answers = mapped_in_arrow(spark.range(0, tasks, 1, tasks).toDF("task"), _version, "version string")
    return sorted({str(row.version) for row in answers.collect()})


def _version(batches: Iterator[Any]) -> Iterator[Any]:
    """Yield the version of pyarrow. It travels by value, and so refers to nothing of this module."""
    import pyarrow
    import pyarrow.parquet

    for _ in batches:
        pass
    yield pyarrow.RecordBatch.from_arrays([pyarrow.array([pyarrow.__version__])], ["version"])


def _last_line(text: str) -> str:
    """Return the line of a Python traceback that says what is wrong."""
    lines = [line.strip() for line in text.splitlines() if "Error" in line]
    return in_one_line(Exception(lines[-1] if lines else text))
