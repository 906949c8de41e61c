"""The fixtures themselves: a table made by Spark is found in the metastore, at the test's own place."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

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
