"""The settings by which the driver finds the metastore."""

from __future__ import annotations

from typing import Any, cast

from pyspark.sql import SparkSession

from spark_jobs.adapters.hadoop.java_errors import call
from spark_jobs.core.messages.errors import UsageError

URIS = "hive.metastore.uris"
#: Each of these says where the metastore is: a server, a database that is used without one, or another service.
_SETTINGS = (
    URIS,
    "metastore.thrift.uris",
    "javax.jdo.option.ConnectionURL",
    "metastore.connect.url",
    "hive.metastore.client.factory.class",
)


def connect(spark: SparkSession) -> Any:
    """Return Spark's external catalog, which connects to the metastore.

    Raises:
        UsageError: nothing says where the metastore is. Hive would create one of its own, with a database of Derby in
            the current directory and no table in it.
    """
    shared = spark._jsparkSession.sharedState()  # it reads hive-site.xml
    conf, system = spark._jsc.hadoopConfiguration(), cast(Any, spark._jvm).java.lang.System
    if not any(str(conf.get(name) or system.getProperty(name) or "").strip() for name in _SETTINGS):
        raise UsageError(
            f"the driver does not know where the Hive Metastore is: {URIS} is not set, and no hive-site.xml on Spark's"
            f" class path sets it. Put hive-site.xml into $SPARK_CONF_DIR, or set spark.hadoop.{URIS}"
        )
    # PySpark would look for a class of its own to convert an error, and find none if jars of Hive's client are missing.
    return call(shared, "externalCatalog")
