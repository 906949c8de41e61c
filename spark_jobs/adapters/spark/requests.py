"""What a write of a DataFrame takes from a request: schema, sort columns and options; and the text of its errors."""

from __future__ import annotations

import json
from collections.abc import Mapping

from pyspark.sql import Column, DataFrameWriter
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from spark_jobs.adapters.hadoop.content_errors import BATCH_TOO_LARGE, is_of_content, unreadable_by
from spark_jobs.adapters.hadoop.java_answers import json_reader
from spark_jobs.adapters.hadoop.java_errors import root_cause
from spark_jobs.adapters.spark.formats.spark_format import SparkFormat
from spark_jobs.adapters.spark.sessions import COMMITTER
from spark_jobs.core.formats.registry import FORMATS
from spark_jobs.core.formats.struct_types import without_classes
from spark_jobs.core.messages.errors import LakekeeperError, Refusal
from spark_jobs.core.messages.refusals import RefusalCode
from spark_jobs.core.values.model import name_of
from spark_jobs.protocol.ports import RewriteRequest


def schema_of(request: RewriteRequest) -> StructType:
    """Return the columns of the input files, as Spark reads them."""
    return StructType.fromJson(without_classes(json.loads(request.profile.struct or "null")))


def is_lines(request: RewriteRequest) -> bool:
    """Tell whether the files are read and written as lines of text."""
    return FORMATS[request.file_format].lines


def sort_columns(request: RewriteRequest, schema: StructType) -> list[Column]:
    """Return the columns to sort by, with the names that they have in the files.

    Raises:
        LakekeeperError: the files do not have one of them.
    """
    known = {field.name.lower(): field.name for field in schema}
    missing = [column for column in request.sort_columns if column.lower() not in known]
    if missing:
        raise LakekeeperError(
            f"sort column '{missing[0]}' is not in the files, which have the columns {', '.join(known.values())}"
        )
    return [F.col(f"`{known[column.lower()]}`") for column in request.sort_columns]


def write_options(request: RewriteRequest, form: SparkFormat) -> dict[str, str]:
    """Return the options of Spark's writer."""
    return {
        **request.options,
        **form.options,
        "compression": request.profile.codec,
        **COMMITTER,
        **({"dfs.replication": str(request.replication)} if request.replication else {}),
    }


def set_options(writer: DataFrameWriter, options: Mapping[str, str]) -> DataFrameWriter:
    """Set all options by a few calls to the JVM. Python's own method takes one for each."""
    session = writer._spark
    java = json_reader(session._jvm, "java.util.HashMap").readValue(json.dumps(options))
    writer._jwrite.options(java)
    return writer


def explained(error: Exception, file: str | None = None) -> LakekeeperError:
    """Translate an error of Spark into an error of the jobs, with the message of its first cause.

    Args:
        file: the URI of the file that could not be read, if it is known.
    """
    kind, text = root_cause(error)
    if kind.endswith("SparkUpgradeException"):
        return Refusal(
            RefusalCode.CALENDAR,
            "it holds dates before 1582 or timestamps before 1900, and its footers name no calendar, or different ones",
        )
    if text.startswith(BATCH_TOO_LARGE):  # guard: large_values_are_sound
        return Refusal(
            RefusalCode.VALUES_TOO_LARGE,
            f"{name_of(file) if file else 'a file'} has values that exceed 2 GB in one batch of Spark's vectorized"
            " reader. Reduce spark.sql.parquet.columnarReaderBatchSize, or spark.sql.orc.columnarReaderBatchSize",
        )
    if file and is_of_content(error):  # guard: content_found_by_reading
        return unreadable_by(error, file)
    reading = f"{name_of(file)} cannot be read: " if file else ""
    return LakekeeperError(f"Spark could not rewrite the unit: {reading}{text or kind}")
