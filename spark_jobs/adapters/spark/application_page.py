"""The page of the application in the web pages of YARN's ResourceManager."""

from __future__ import annotations

import logging

from pyspark.sql import SparkSession

log = logging.getLogger("lakekeeper")


def application_page(spark: SparkSession) -> str | None:
    """Return the URL of the application's page; None if it does not run on YARN, or the address is not configured.

    YARN's client prints it where it logs at INFO, and only in cluster mode it comes from another process than the
    driver. So the driver tells it by itself. With several ResourceManagers it is the first one's, which redirects to
    the active one.
    """
    context = spark.sparkContext
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
