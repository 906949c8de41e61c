"""The session of the Python API, beside its caller's."""

from __future__ import annotations

from pyspark.sql import SparkSession

from spark_jobs.core.messages.errors import UsageError


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
