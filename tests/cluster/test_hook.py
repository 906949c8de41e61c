"""The maintenance DAG lists tables by Airflow's `HiveMetastoreHook`: tried on a Hive Metastore 3.1."""

from __future__ import annotations

import json
import subprocess
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from demo.services import environments, paths
from demo.services.ports import HOST, free_port
from demo.services.processes import own_environ
from tests.cluster.cluster import Cluster
from tests.cluster.registered import Registered
from tests.cluster.superuser import Superuser
from tests.spark.toolbox import Jobs, many

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

AIRFLOW = "airflow-3.3"
#: More than the metastore's own batches of 300, and than Airflow maps over by default.
MANY = 1100


@dataclass(frozen=True)
class Listed:
    """What the task returned for each database, by the names that the tests give them, and its log."""

    databases: dict[str, str]
    found: dict[str, Any]
    log: str
    nowhere: int


@pytest.fixture(scope="module")
def listed(spark: SparkSession, cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Listed:
    """One Airflow lists all that the tests of this module look at: importing it takes longer than its work."""
    environments.ensure([AIRFLOW])
    superuser, home = Superuser(spark, cluster.default_fs), tmp_path_factory.mktemp("airflow")
    root = f"{superuser.root}/tests/{uuid.uuid4().hex[:10]}"
    superuser.make(root, "777")
    mixed, many_tables = (_database(spark, f"{root}/{name}") for name in ("mixed", "many"))
    _fill_with_all_kinds(spark, Jobs(spark, home), mixed, root)
    _fill_with_many(spark, many_tables, root)
    databases = {"mixed": mixed, "in capitals": mixed.upper(), "missing": "nowhere", "many": many_tables}
    port, nowhere = cluster.metastore.port, free_port()
    places = [*(f"{port}:{name}" for name in databases.values()), f"{nowhere}:default"]
    found, log = _list(home, places)
    return Listed(databases, dict(zip([*databases, "no metastore"], found, strict=True)), log, nowhere)


def _database(spark: SparkSession, location: str) -> str:
    name = f"d_{uuid.uuid4().hex[:10]}"
    spark.sql(f"CREATE DATABASE {name} LOCATION '{location}'")
    return name


def _fill_with_all_kinds(spark: SparkSession, jobs: Jobs, database: str, root: str) -> None:
    """An external table, compacted; its backup; a managed table; a view."""
    many(spark, f"{root}/events", "SELECT id FROM range(20)", 3)
    spark.sql(
        f"CREATE EXTERNAL TABLE {database}.events (id BIGINT) STORED AS PARQUET LOCATION '{root}/events'"
    )
    spark.sql(f"CREATE TABLE {database}.managed (id BIGINT) STORED AS PARQUET")
    spark.sql(f"CREATE VIEW {database}.seen AS SELECT * FROM {database}.events")
    assert jobs("compact", "--table", f"{database}.events")["outcome"] == "done"
    assert spark.sql(f"SHOW TABLES IN {database} LIKE '__bkp_*_events'").count() == 1


def _fill_with_many(spark: SparkSession, database: str, root: str) -> None:
    spark.sql(f"CREATE EXTERNAL TABLE {database}.t0 (id BIGINT) STORED AS PARQUET LOCATION '{root}/t'")
    Registered(spark).copies(database, "t0", [f"t{number}" for number in range(1, MANY)])


def _list(home: Path, places: list[str]) -> tuple[list[Any], str]:
    """What the task returns for each place, and its log."""
    environ = {**own_environ(), "AIRFLOW_HOME": str(home), "PYTHONPATH": str(paths.ROOT)}
    command = [str(paths.env_python(AIRFLOW)), "-m", "tests.cluster.list_by_hook", *places]
    done = subprocess.run(command, env=environ, cwd=paths.ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1]), done.stdout + done.stderr


def test_it_lists_what_may_be_compacted_and_no_backups(listed: Listed) -> None:
    expected = [{"table": f"{listed.databases['mixed']}.events"}]
    assert (listed.found["mixed"], listed.found["in capitals"]) == (expected, expected)
    assert listed.found["missing"] == "ValueError: the metastore has no database 'nowhere'"


def test_it_lists_a_database_of_very_many_tables_in_full(listed: Listed) -> None:
    names = sorted(f"{listed.databases['many']}.t{number}" for number in range(MANY))
    assert listed.found["many"] == [{"table": name} for name in names]


def test_without_a_metastore_the_task_fails_and_its_log_says_where_it_was_looked_for(listed: Listed) -> None:
    assert "Failed to locate the valid server" in listed.found["no metastore"]
    assert f"Could not connect to {HOST}:{listed.nowhere}" in listed.log
