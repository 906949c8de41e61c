"""A session of Spark with the extensions and catalogs of the formats, over a metastore of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from demo.services import paths
from demo.services.metastore import Metastore
from demo.services.spark_config import spark_environ as make_spark_environ
from tests.harness.fixtures import Database, fresh_database
from tests.native.lake import KINDS, table_of
from tests.native.session_settings import settings
from tests.spark.toolbox import Jobs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark_environ(metastore: Metastore, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a session that has all formats, Paimon's extension first (docs/guides/paimon.md)."""
    scratch = tmp_path_factory.mktemp("spark")
    conf = settings(metastore.uri, scratch / "warehouse")
    return make_spark_environ(paths.DEFAULT_SPARK, metastore.uri, scratch, conf=conf, shared_classes=False)


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
