"""The rows of a unit as they are written: in one partition for each file, sorted, and with the columns as declared."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from spark_jobs.adapters.spark.requests import is_lines, sort_columns
from spark_jobs.adapters.spark.wide_reading import shuffled
from spark_jobs.protocol.ports import RewriteRequest


def spread(frame: DataFrame, request: RewriteRequest, schema: StructType) -> DataFrame:
    """Return the rows as they are written: by partition, in their order, and with the columns that are required."""
    ordered = _sorted(frame, request, schema)
    return _as_declared(ordered, schema) if request.encoding.exact else ordered


def _gathered(frame: DataFrame, request: RewriteRequest) -> DataFrame:
    """Return the rows in one partition for each file. Each task that writes also reads, or others read for it."""
    if request.shuffled:
        return shuffled(frame, request.target_files)
    return frame.coalesce(request.target_files)


def _sorted(frame: DataFrame, request: RewriteRequest, schema: StructType) -> DataFrame:
    if not request.sort_columns or is_lines(request):
        return _gathered(frame, request)
    columns = sort_columns(request, schema)
    parts = (
        _gathered(frame, request)
        if request.target_files == 1
        else frame.repartitionByRange(request.target_files, *columns)
    )
    return parts.sortWithinPartitions(*columns)


def _as_declared(frame: DataFrame, schema: StructType) -> DataFrame:
    """Return the frame with the columns that the files declare as required.

    Spark reads every column as nullable. The schemas of the files say which values are never null.
    """
    session = frame.sparkSession
    rows, kind = frame._jdf.queryExecution().toRdd(), _java_type(session, schema)
    return DataFrame(session._jsparkSession.internalCreateDataFrame(rows, kind, False), session)


def _java_type(session: SparkSession, schema: StructType) -> Any:
    jvm: Any = session._jvm
    return jvm.org.apache.spark.sql.types.DataType.fromJson(schema.json())
