"""The fixtures themselves: a table made by Spark is found in the metastore, at the test's own place."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.harness import spark_settings

pytestmark = pytest.mark.skipif("spark-" not in sys.prefix, reason="needs a Spark environment")


def test_an_external_table_lives_where_it_was_put(spark, database):
    location = database.location("t")
    spark.sql(
        f"CREATE EXTERNAL TABLE {database}.t (id BIGINT) PARTITIONED BY (d STRING)"
        f" STORED AS PARQUET LOCATION '{location}'"
    )
    spark.sql(f"INSERT INTO {database}.t PARTITION (d='x') SELECT id FROM range(5)")

    assert spark.table(f"{database}.t").count() == 5
    assert list((database.path / "t" / "d=x").glob("*.parquet"))


def test_the_session_is_the_environments_own(spark, spark_environ):
    import pyspark

    assert spark.version == pyspark.__version__
    assert Path(pyspark.__file__).parent == Path(spark_environ["SPARK_HOME"])


def test_a_database_is_fresh(spark, database):
    assert spark.sql(f"SHOW TABLES IN {database}").count() == 0


def test_what_a_module_sets_goes_no_further(spark):
    before = spark_settings.sql_settings(spark)
    hadoop, zones = spark._jsc.hadoopConfiguration(), spark._jvm.java.util.TimeZone
    interval, zone = hadoop.get("fs.trash.interval"), zones.getDefault().getID()

    with spark_settings.restored(spark):
        spark.sql("SET hive.exec.dynamic.partition.mode=nonstrict")
        spark.conf.set("spark.sql.shuffle.partitions", "7")
        hadoop.set("fs.trash.interval", "17")
        hadoop.set("tests.of.ours", "x")
        zones.setDefault(zones.getTimeZone("Asia/Kolkata"))

    assert spark_settings.sql_settings(spark) == before
    assert (hadoop.get("fs.trash.interval"), hadoop.get("tests.of.ours")) == (interval, None)
    assert zones.getDefault().getID() == zone
