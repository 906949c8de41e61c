"""A session of Spark with the extensions and catalogs of the formats, over a metastore of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from demo.services import paths
from demo.services.metastore import Metastore
from demo.services.spark_config import spark_environ as make_spark_environ
from tests.engines import jars
from tests.harness.fixtures import Database, fresh_database
from tests.native.lake import KINDS, table_of
from tests.spark.toolbox import Jobs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark_environ(metastore: Metastore, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a session that has all formats, Paimon's extension first (docs/guides/paimon.md)."""
    scratch = tmp_path_factory.mktemp("spark")
    conf = settings(metastore.uri, scratch / "warehouse")
    return make_spark_environ(paths.DEFAULT_SPARK, metastore.uri, scratch, conf=conf, shared_classes=False)


def settings(metastore: str, warehouse: Path) -> dict[str, str]:
    """The settings of both guides, with the jars from this machine."""
    extensions = (
        "org.apache.paimon.spark.extensions.PaimonSparkSessionExtensions",
        "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    )
    return {
        "spark.jars": ",".join(str(jar) for jar in sorted(jars.folder("formats").glob("*.jar"))),
        "spark.sql.extensions": ",".join(extensions),
        "spark.sql.catalog.spark_catalog": "org.apache.iceberg.spark.SparkSessionCatalog",
        "spark.sql.catalog.spark_catalog.type": "hive",
        "spark.sql.catalog.paimon": "org.apache.paimon.spark.SparkCatalog",
        "spark.sql.catalog.paimon.metastore": "hive",
        "spark.sql.catalog.paimon.uri": metastore,
        "spark.sql.catalog.paimon.warehouse": warehouse.as_uri(),
        "spark.hadoop.iceberg.engine.hive.lock-enabled": "false",
    }


@pytest.fixture
def jobs(spark: SparkSession, tmp_path: Path) -> Jobs:
    return Jobs(spark, tmp_path)


@pytest.fixture
def database(spark: SparkSession, tmp_path: Path) -> Iterator[Database]:
    """A database whose Paimon tables are dropped by Paimon: Hive's client has not the class that reads them."""
    with fresh_database(spark, tmp_path) as fresh:
        yield fresh
        for kind in KINDS:
            if KINDS[kind][0] == "paimon":
                spark.sql(f"DROP TABLE IF EXISTS {table_of(kind, str(fresh))}")
