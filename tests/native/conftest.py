"""A session of Spark with the extensions and catalogs of the formats, over a metastore of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from demo.services import paths
from demo.services.metastore import Metastore
from demo.services.spark_config import spark_environ as make_spark_environ
from tests.engines import jars


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
