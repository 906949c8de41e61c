"""A Spark session with a metastore of its own, for the sweep."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from demo.services import paths
from demo.services.metastore import Metastore
from demo.services.spark_config import spark_environ

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@contextmanager
def swept_session(conf: Mapping[str, str] | None = None) -> Iterator[tuple[SparkSession, Path]]:
    """Start a metastore and a session, with the database `sweep` and its folder, until the end of the block.

    `conf` is added to spark-defaults.conf.
    """
    with tempfile.TemporaryDirectory(prefix="lakekeeper-sweep-") as scratch:
        folder = Path(scratch)
        with Metastore(folder / "metastore") as metastore:
            os.environ.update(spark_environ(paths.DEFAULT_SPARK, metastore.uri, folder / "spark", conf=conf))
            with _session(folder / "data") as spark:
                yield spark, folder / "data"


@contextmanager
def _session(folder: Path) -> Iterator[SparkSession]:
    from pyspark.sql import SparkSession

    from spark_jobs.adapters.composition import make_calls_cheap

    spark = SparkSession.builder.appName("sweep").enableHiveSupport().getOrCreate()
    make_calls_cheap(spark)
    spark.sparkContext.setLogLevel("OFF")
    spark.sql(f"CREATE DATABASE sweep LOCATION '{folder.as_uri()}'")
    try:
        yield spark
    finally:
        spark.stop()
