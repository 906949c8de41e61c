"""Spark sessions with settings of their own: the defaults of a cluster must not change how data is read or written."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, cast

from pyspark.sql import SparkSession

from spark_jobs.core.messages.errors import UsageError

#: The settings of all sessions that read or write data or schemas. With them, Spark fails instead of skipping files,
#: shifting old dates or guessing types.
PINNED = {  # guard: pinned_settings
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.files.maxRecordsPerFile": "0",
    "spark.sql.parquet.datetimeRebaseModeInRead": "EXCEPTION",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "EXCEPTION",
    "spark.sql.parquet.int96RebaseModeInRead": "EXCEPTION",
    "spark.sql.parquet.int96RebaseModeInWrite": "EXCEPTION",
    "spark.sql.parquet.int96AsTimestamp": "true",
    "spark.sql.parquet.int96TimestampConversion": "false",
    "spark.sql.parquet.inferTimestampNTZ.enabled": "true",
    "spark.sql.parquet.binaryAsString": "false",
    "spark.sql.parquet.fieldId.read.enabled": "false",
    "spark.sql.parquet.mergeSchema": "false",
    "spark.sql.orc.impl": "native",
    "spark.sql.orc.mergeSchema": "false",
    # ORC's own settings, by which it leaves out what is damaged, and what is behind a length.
    "orc.skip.corrupt.data": "false",
    "orc.max.file.length": "9223372036854775807",
    # Not all file systems have it, and then no file is read.
    "orc.use.zerocopy": "false",
    # The readers of files that list once, and whose files can be compared with the manifest.
    "spark.sql.sources.useV1SourceList": "avro,csv,json,kafka,orc,parquet,text",
    # As many files are written as were planned.
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.caseSensitive": "false",
    # A sum of hashes that overflows is no error.
    "spark.sql.ansi.enabled": "false",
    # The files of a task become visible only when the whole write is committed.
    "spark.sql.sources.commitProtocolClass": (
        "org.apache.spark.sql.execution.datasources.SQLHadoopMapReduceCommitProtocol"
    ),
    "spark.sql.sources.outputCommitterClass": "org.apache.hadoop.mapreduce.lib.output.FileOutputCommitter",
    "spark.sql.parquet.output.committer.class": "org.apache.parquet.hadoop.ParquetOutputCommitter",
}
#: The same for Hadoop's output formats. Version 2 of the algorithm moves the files of each task when the task ends:
#: files of a task that Spark has given up could appear after the verification.
COMMITTER = {  # guard: committer_pinned
    "mapreduce.fileoutputcommitter.algorithm.version": "1",
    "mapreduce.outputcommitter.factory.class": (
        "org.apache.hadoop.mapreduce.lib.output.FileOutputCommitterFactory"
    ),
    "mapreduce.fileoutputcommitter.marksuccessfuljobs": "false",
    # Spark 4 names files by it, and one that begins with `_` or `.` would be hidden.
    "mapreduce.output.basename": "part",
    # Nothing of a task stays beside the data.
    "mapreduce.fileoutputcommitter.cleanup.skipped": "false",
    # Nothing but data is written: readers take a summary for a list of all files. Where this is set, the older
    # `parquet.enable.summary-metadata` does not count; to set it too makes Parquet warn of it at each write.
    "parquet.summary.metadata.level": "NONE",
    # What was readable without a key stays so.
    "parquet.encryption.footer.key": "",
    "parquet.encryption.column.keys": "",
    "parquet.encryption.uniform.key": "",
}
#: The settings of the session for SQL text, beside Spark's defaults. A value of a table must never be taken for a
#: variable whose value is put into the text: with `${env:X}`, a partition would read the environment of the driver.
STATEMENTS = {  # guard: statements_pinned
    "spark.sql.variable.substitute": "false",
    # Spark 4 has another default.
    "spark.sql.ansi.enabled": "false",
}
_SQL = "spark.sql."
#: These stay as the cluster has them: what "today" is, which metastore is read, and where Spark looks for classes.
_KEPT = ("spark.sql.session.timeZone", "spark.sql.hive.metastore.", "spark.sql.artifact.")


class Sessions:
    """Sessions by their settings. Units that are processed at the same time must not share settings."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._made: dict[tuple[tuple[str, str], ...], SparkSession] = {}
        self._lock = threading.Lock()

    def get(self, settings: Mapping[str, str] | None = None) -> SparkSession:
        """Return the session with these settings in addition to the fixed ones."""
        key = tuple(sorted((settings or {}).items()))
        with self._lock:
            if key not in self._made:
                self._made[key] = _configured(self._spark.newSession(), {**PINNED, **dict(key)})
            return self._made[key]


def _configured(session: SparkSession, settings: Mapping[str, str]) -> SparkSession:
    for key, value in settings.items():
        session.conf.set(key, value)
    return session


def statement_session(spark: SparkSession) -> SparkSession:
    """Return a session for SQL text, in which a literal, a name and a statement mean what they mean by default.

    All of Spark's SQL settings that a cluster or a user has changed (escapes, quotes, the meaning of TIMESTAMP, the
    default catalog and others) have their defaults there. The session that is given stays as it is.
    """
    session, jvm = spark.newSession(), cast(Any, spark._jvm)
    settings = session._jsparkSession.sessionState().conf().settings()
    for key in str(jvm.java.lang.String.join("\n", settings.keySet())).split("\n"):
        # Settings that are fixed at the start are the same in all sessions.
        if key.startswith(_SQL) and not key.startswith(_KEPT) and not _is_static(session, key):
            session.conf.unset(key)  # guard: statements_by_default
    return _configured(session, STATEMENTS)


def _is_static(session: SparkSession, key: str) -> bool:
    jvm: Any = session._jvm
    return bool(jvm.org.apache.spark.sql.internal.SQLConf.isStaticConfigKey(key))


@contextmanager
def active(session: SparkSession) -> Iterator[None]:
    """Make a session the one by whose settings Spark parses the text of types and expressions in this thread."""
    sessions = _java_class(session)
    before = sessions.getActiveSession()
    sessions.setActiveSession(session._jsparkSession)  # guard: text_parsed_by_own_session
    try:
        yield
    finally:
        if before.isDefined():
            sessions.setActiveSession(before.get())
        else:
            sessions.clearActiveSession()


def _java_class(session: SparkSession) -> Any:
    since_4 = int(session.version.partition(".")[0]) >= 4
    jvm: Any = session._jvm
    return (jvm.org.apache.spark.sql.classic if since_4 else jvm.org.apache.spark.sql).SparkSession


def beside(spark: SparkSession) -> SparkSession:
    """Return a new session of the same application, with its catalog, and with none of the caller's settings.

    So neither the caller's current database, temporary views and settings change what a job does, nor does the job
    change them.

    Raises:
        UsageError: the session has no JVM of its own (Spark Connect), no Hive metastore, or is stopped.
    """
    if getattr(spark, "_jvm", None) is None or not hasattr(spark, "newSession"):
        raise UsageError(f"{type(spark).__name__} has no driver of its own: Spark Connect is not supported")
    if spark.sparkContext._jsc is None:
        raise UsageError("the Spark session is stopped")
    catalog = spark.sparkContext.getConf().get("spark.sql.catalogImplementation", "in-memory")
    if catalog != "hive":
        raise UsageError("the Spark session has no Hive metastore: start it with enableHiveSupport()")
    return spark.newSession()
