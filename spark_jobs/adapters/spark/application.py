"""The application of the driver: its page in the web pages of YARN, and its log."""

from __future__ import annotations

import logging
from typing import Any

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

log = logging.getLogger("lakekeeper")


def application_page(spark: SparkSession) -> str | None:
    """Return the URL of the application's page; None if it does not run on YARN, or the address is not configured.

    YARN's client prints it where it logs at INFO, and only in cluster mode it comes from another process than the
    driver. So the driver tells it by itself. With several ResourceManagers it is the first one's, which redirects to
    the active one.
    """
    context: Any = spark.sparkContext
    if context.master != "yarn":
        return None
    try:
        yarn = context._jvm.org.apache.hadoop.yarn
        conf = yarn.conf.YarnConfiguration(context._jsc.hadoopConfiguration())
        address = yarn.webapp.util.WebAppUtils.getResolvedRMWebAppURLWithScheme(conf)
    except Exception as error:
        # The page is a convenience: without it, the job does its work all the same.
        log.debug("the address of the ResourceManager's pages is not known: %s", error)
        return None
    return f"{address}/cluster/app/{context.applicationId}"


_LEVEL = "spark.log.level"
#: The first warns of each scheduler pool that no file configures: the pools of the jobs need no file. The second prints
#: a hundred lines of a metastore that does not answer: the job's error has its address and the reason.
_NEEDLESS = (
    "org.apache.spark.scheduler.FairSchedulableBuilder",
    "org.apache.spark.sql.hive.client.HiveClientImpl",
)


def show_warnings_only(spark: SparkSession) -> None:
    """Raise the level of a log that is at INFO, because hundreds of lines about tasks would hide the job's.

    A user who wants them sets `spark.log.level`; `WARN` there spares the lines of Spark's start, too (3.5 and newer).
    A level that the cluster's configuration sets higher stays.
    """
    context: Any = spark.sparkContext
    chosen = context.getConf().get(_LEVEL)
    if chosen not in (None, "WARN"):
        return
    try:
        log4j = context._jvm.org.apache.logging.log4j
        if chosen is None and log4j.LogManager.getRootLogger().isInfoEnabled():
            context.setLogLevel("WARN")
        for name in _NEEDLESS:
            log4j.core.config.Configurator.setLevel(name, log4j.Level.ERROR)
    except (Py4JError, TypeError) as error:
        # Another logging library than Spark's own. Its level is no reason to fail a job.
        log.debug("the level of Java's log could not be set: %s", error)
