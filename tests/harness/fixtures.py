"""Fixtures that need a metastore or Spark. Nothing of Spark is imported before a test asks for it."""

from __future__ import annotations

import os
import sys
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.harness import paths
from tests.harness.metastore import Metastore
from tests.harness.spark_env import spark_environ as make_spark_environ

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Database:
    """A database of its own for one test; reads as its name, so f"{database}.events" is a table's."""

    name: str
    path: Path

    def __str__(self) -> str:
        return self.name

    def location(self, table: str) -> str:
        """Where an external table of this name belongs."""
        return (self.path / table).as_uri()


@pytest.fixture(scope="session")
def metastore(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Metastore]:
    """One Hive Metastore for the whole run."""
    with Metastore(tmp_path_factory.mktemp("metastore")) as running:
        yield running


@pytest.fixture(scope="session")
def spark_environ(metastore: Metastore, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a real `spark-submit`, with the metastore running."""
    return make_spark_environ(_spark_env(), metastore.uri, tmp_path_factory.mktemp("spark"))


@pytest.fixture(scope="module")
def spark(spark_environ: dict[str, str]) -> Iterator[SparkSession]:
    """A session with Hive support in this process. Each module has its own, so no setting leaks on."""
    from pyspark.sql import SparkSession

    os.environ.clear()
    os.environ.update(spark_environ)
    session = SparkSession.builder.appName("tests").enableHiveSupport().getOrCreate()
    yield session
    session.stop()


@pytest.fixture
def database(spark: SparkSession, tmp_path: Path) -> Iterator[Database]:
    """A fresh database whose tables go below the test's temporary folder."""
    fresh = Database(f"t_{uuid.uuid4().hex[:10]}", tmp_path / "db")
    spark.sql(f"CREATE DATABASE {fresh} LOCATION '{fresh.path.as_uri()}'")
    yield fresh
    spark.sql(f"DROP DATABASE {fresh} CASCADE")


def _spark_env() -> str:
    """The Spark environment that pytest runs in; from an Airflow environment, the one it submits to."""
    running = Path(sys.prefix).name
    return running if running.startswith("spark-") else paths.DEFAULT_SPARK
