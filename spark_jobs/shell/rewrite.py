"""Writes a unit's rows into fewer files, as faithfully as Spark can."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from spark_jobs.core.errors import LakekeeperError, Refusal, VerificationFailed
from spark_jobs.shell.ports import Rewrite

#: Held for every rewrite whatever the cluster's defaults are: fail rather than skip files or shift ancient dates.
_PINNED = {
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.files.maxRecordsPerFile": "0",
    "spark.sql.parquet.datetimeRebaseModeInRead": "EXCEPTION",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "EXCEPTION",
    "spark.sql.parquet.int96RebaseModeInRead": "EXCEPTION",
    "spark.sql.parquet.int96RebaseModeInWrite": "EXCEPTION",
    "spark.sql.parquet.mergeSchema": "false",
    "spark.sql.orc.impl": "native",
    "spark.sql.orc.mergeSchema": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.caseSensitive": "false",
}


class Rewriter:
    """Rewrites through DataFrames only: nothing of ours runs on the executors."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._sessions: dict[tuple[tuple[str, str], ...], SparkSession] = {}
        self._lock = threading.Lock()

    def write(self, plan: Rewrite) -> None:
        """Writes the target folder; raises Refusal, VerificationFailed or LakekeeperError and may leave a
        partial target."""
        try:
            self._write(plan)
        except LakekeeperError:
            raise
        except Exception as error:
            raise LakekeeperError(f"Spark could not rewrite the unit: {_first_line(error)}") from error

    def _write(self, plan: Rewrite) -> None:
        session = self._session(_writer_conf(plan))
        schema = self.merged_schema(plan.files, plan.file_format)
        frame = _reader(session, plan.file_format).schema(schema).load(list(plan.files))
        seen = Observation()
        counted = _sorted(frame, plan, schema).observe(seen, F.count(F.lit(1)).alias("rows"))
        options = {
            "compression": plan.profile.codec,
            "mapreduce.fileoutputcommitter.marksuccessfuljobs": "false",
        }
        counted.write.format(plan.file_format).options(**options).mode("errorifexists").save(plan.target)
        self._check_count(seen.get["rows"], plan.profile.rows, frame)

    def _check_count(self, seen: int, expected: int, frame: DataFrame) -> None:
        """A retried task is counted twice, so a mismatch is counted again before it fails the unit."""
        rows = seen if seen == expected else frame.count()
        if rows != expected:
            raise VerificationFailed(f"the footers hold {expected} rows, but {rows} were read")

    def merged_schema(self, files: Sequence[str], file_format: str) -> StructType:
        """The union of all files' schemas, never that of one file: Spark's own default loses columns added later."""
        session = self._session({"spark.sql.caseSensitive": "true"})
        try:
            schema = _reader(session, file_format).option("mergeSchema", "true").load(list(files)).schema
        except Exception as error:
            raise Refusal(
                "SCHEMA_CONFLICT", f"the files have no common schema: {_first_line(error)}"
            ) from error
        return _fold_case(schema)

    def _session(self, conf: dict[str, str]) -> SparkSession:
        """A session of its own for each set of settings: units side by side must not share them."""
        key = tuple(sorted(conf.items()))
        with self._lock:
            if key not in self._sessions:
                self._sessions[key] = _configured(self._spark.newSession(), {**_PINNED, **conf})
            return self._sessions[key]


def _configured(session: SparkSession, conf: dict[str, str]) -> SparkSession:
    for key, value in conf.items():
        session.conf.set(key, value)
    return session


def _writer_conf(plan: Rewrite) -> dict[str, str]:
    profile = plan.profile
    kind = "INT96" if profile.int96 else "TIMESTAMP_MILLIS" if profile.millis else "TIMESTAMP_MICROS"
    return {
        "spark.sql.parquet.outputTimestampType": kind,
        "spark.sql.parquet.writeLegacyFormat": str(profile.legacy_decimals).lower(),
        "spark.sql.files.maxPartitionBytes": str(plan.target_bytes),
    }


def _reader(session: SparkSession, file_format: str) -> Any:
    """Reads exactly the files named: no glob in a name is expanded, no partition column is inferred from a path."""
    return (
        session.read.format(file_format)
        .option("recursiveFileLookup", "true")
        .option("__globPaths__", "false")
    )


def _sorted(frame: DataFrame, plan: Rewrite, schema: StructType) -> DataFrame:
    if not plan.sort_columns:
        return frame.coalesce(plan.target_files)
    known = {field.name.lower(): field.name for field in schema}
    missing = [column for column in plan.sort_columns if column.lower() not in known]
    if missing:
        raise LakekeeperError(
            f"sort column '{missing[0]}' is not in the files; they hold {', '.join(known.values())}"
        )
    columns = [F.col(f"`{known[column.lower()]}`") for column in plan.sort_columns]
    spread = (
        frame.coalesce(1) if plan.target_files == 1 else frame.repartitionByRange(plan.target_files, *columns)
    )
    return spread.sortWithinPartitions(*columns)


def _fold_case(schema: StructType) -> StructType:
    """Columns that differ only in case are one column to Hive; of different types they are a conflict."""
    folded: dict[str, Any] = {}
    for field in schema:
        first = folded.setdefault(field.name.lower(), field)
        if first.dataType != field.dataType:
            raise Refusal(
                "SCHEMA_CONFLICT",
                f"'{first.name}' is {first.dataType.simpleString()}, '{field.name}' {field.dataType.simpleString()}",
            )
    return StructType(list(folded.values()))


def _first_line(error: Exception) -> str:
    return next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)[:500]
