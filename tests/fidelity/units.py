"""Directories of files as the partitions of one table, compacted by one job."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.harness.fixtures import Database
from tests.spark.toolbox import Jobs, only

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def partitioned(spark: SparkSession, database: Database, stored: str, folders: Mapping[str, Path]) -> str:
    """Create the table. The metastore's columns do not matter: what is kept is what the files hold."""
    root = database.path / "t"
    root.mkdir(parents=True)
    for name, folder in folders.items():
        folder.rename(directory(database, name))
    spark.sql(
        f"CREATE EXTERNAL TABLE {database}.t (v STRING) PARTITIONED BY (unit STRING) STORED AS {stored}"
        f" LOCATION '{root.as_uri()}'"
    )
    spark.sql(f"MSCK REPAIR TABLE {database}.t")
    return f"{database}.t"


def directory(database: Database, name: str) -> Path:
    return database.path / f"t/unit={name}"


def of(jobs: Jobs, verb: str, table: str, *argv: str) -> dict[str, dict[str, Any]]:
    """The units of a report by their names."""
    return {unit["unit"]["unit"]: unit for unit in only(jobs(verb, "--table", table, *argv))["units"]}


def outcome(unit: dict[str, Any]) -> str:
    """What became of a unit: the code of a refusal, otherwise the outcome."""
    return str(unit["code"] or unit["outcome"])
