"""Fixtures that need a metastore or Spark. Nothing of Spark is imported before a test asks for it."""

from __future__ import annotations

import os
import sys
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from demo.services import paths
from demo.services.metastore import Metastore
from demo.services.spark_config import spark_environ as make_spark_environ
from tests.harness.spark_settings import restored

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


@pytest.fixture(scope="session")
def spark_session(spark_environ: dict[str, str]) -> Iterator[SparkSession]:
    """One session with Hive support for the whole run; tests ask for `spark`."""
    from pyspark.sql import SparkSession

    from spark_jobs.adapters.composition import make_calls_cheap

    with _environment(spark_environ):
        session = SparkSession.builder.appName("tests").enableHiveSupport().getOrCreate()
        make_calls_cheap(session)
        yield session
        session.stop()


@pytest.fixture(scope="module")
def spark(spark_session: SparkSession) -> Iterator[SparkSession]:
    """The session of the run. Each module finds it as the first one did: what a test has set goes no further."""
    with restored(spark_session):
        yield spark_session


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """This process has these environment variables, and no others, until the end."""
    before = dict(os.environ)
    _become(variables)
    try:
        yield
    finally:
        _become(before)


def _become(variables: Mapping[str, str]) -> None:
    os.environ.clear()
    os.environ.update(variables)


@pytest.fixture
def database(spark: SparkSession, tmp_path: Path) -> Iterator[Database]:
    """A fresh database whose tables go below the test's temporary folder."""
    with fresh_database(spark, tmp_path) as fresh:
        yield fresh


@contextmanager
def fresh_database(spark: SparkSession, folder: Path) -> Iterator[Database]:
    """For a fixture of a wider scope than `database` has."""
    fresh = Database(f"t_{uuid.uuid4().hex[:10]}", folder / "db")
    spark.sql(f"CREATE DATABASE {fresh} LOCATION '{fresh.path.as_uri()}'")
    yield fresh
    spark.sql(f"DROP DATABASE {fresh} CASCADE")


def _spark_env() -> str:
    """The Spark environment that pytest runs in; from an Airflow environment, the one it submits to."""
    running = Path(sys.prefix).name
    return running if running.startswith("spark-") else paths.DEFAULT_SPARK
