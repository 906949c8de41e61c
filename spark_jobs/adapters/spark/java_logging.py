"""The log of Spark and Java, which goes to the same place as the log of the job."""

from __future__ import annotations

import logging

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

log = logging.getLogger("lakekeeper")

_LEVEL = "spark.log.level"
#: It warns of each scheduler pool that no file configures. The pools of the jobs need no file.
_NEEDLESS = "org.apache.spark.scheduler.FairSchedulableBuilder"


def show_warnings_only(spark: SparkSession) -> None:
    """Raise the level of a log that is at INFO, because hundreds of lines about tasks would hide the job's.

    A user who wants them sets `spark.log.level`. A level that the cluster's configuration sets higher stays.
    """
    context = spark.sparkContext
    if context.getConf().get(_LEVEL) is not None:
        return
    try:
        log4j = context._jvm.org.apache.logging.log4j
        if log4j.LogManager.getRootLogger().isInfoEnabled():
            context.setLogLevel("WARN")
            log4j.core.config.Configurator.setLevel(_NEEDLESS, log4j.Level.ERROR)
    except (Py4JError, TypeError) as error:
        # Another logging library than Spark's own. Its level is no reason to fail a job.
        log.debug("the level of Java's log could not be set: %s", error)
