"""Start a Spark session with Hive as the jobs do, ask the metastore once, and end: what every job takes at least."""

from __future__ import annotations

from pyspark.sql import SparkSession

spark = SparkSession.builder.appName("start").enableHiveSupport().getOrCreate()
spark.sql("SHOW DATABASES").collect()
spark.stop()
