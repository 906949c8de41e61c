"""The settings of a session that has all formats."""

from __future__ import annotations

from pathlib import Path

from tests.engines import jars


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
