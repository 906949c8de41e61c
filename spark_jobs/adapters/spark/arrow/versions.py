"""Which pyarrow the driver and the executors have."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from typing import Any

from pyspark.sql import SparkSession

from spark_jobs.adapters.hadoop.java_errors import causes, root_cause
from spark_jobs.adapters.spark.arrow.mapping import mapped_in_arrow
from spark_jobs.core.formats.arrow import lack_of
from spark_jobs.protocol.ports import Arrow

#: The line of a traceback that has the class of the error.
_ERROR = re.compile(r"[\w.]*(Error|Exception)\b")
#: More tasks would hardly meet other executors. A worker of another version refuses its files.
_MOST_TASKS = 200


def ask(spark: SparkSession) -> Arrow:
    """Ask each executor for its pyarrow, by a task for each core that the driver knows of now.

    PySpark makes the types of a function with the driver's pyarrow.
    """
    try:
        importlib.import_module("pyarrow")
    except Exception as error:
        return Arrow(lack=f"the driver's Python ({sys.executable}) cannot use pyarrow: {reason(error)}")
    try:
        versions = _versions(spark)
    except Exception as error:
        # Whatever it is: without an answer Spark writes the files.
        return Arrow(lack=f"the executors cannot run pyarrow: {reason(error)}")
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


def reason(error: Exception) -> str:
    """Return what is wrong, in one line: of a worker's traceback the line that says so."""
    # A worker that was killed is the end of a stream, which has no message; what caused it to be an error has one.
    messages = [java.getMessage() for java in causes(error)] or [str(error)]
    text = next(filter(None, reversed(messages)), "")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    telling = [line for line in lines if _ERROR.match(line)]
    return [*lines[:1], *telling, *([] if lines else [root_cause(error)[0]])][-1]
