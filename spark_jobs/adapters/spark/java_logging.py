"""The log of Spark and Java, which goes to the same place as the log of the job."""

from __future__ import annotations

from pyspark.sql import SparkSession

_LEVEL = "spark.log.level"
#: It warns of each scheduler pool that no file configures. The pools of the jobs need no file.
_NEEDLESS = "org.apache.spark.scheduler.FairSchedulableBuilder"


def show_warnings_only(spark: SparkSession) -> None:
    """Raise the level of a log that is at INFO, because hundreds of lines about tasks would hide those of the job.

    A user who wants them sets `spark.log.level`. A level that the cluster's configuration sets higher stays.
    """
    context = spark.sparkContext
    root = context._jvm.org.apache.logging.log4j.LogManager.getRootLogger()
    if context.getConf().get(_LEVEL) is None and root.isInfoEnabled():
        context.setLogLevel("WARN")
        log4j = context._jvm.org.apache.logging.log4j
        log4j.core.config.Configurator.setLevel(_NEEDLESS, log4j.Level.ERROR)
