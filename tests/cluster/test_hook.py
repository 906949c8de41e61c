"""The maintenance DAG lists tables by Airflow's `HiveMetastoreHook`: tried on a Hive Metastore 3.1."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.registered import Registered
from tests.harness import envs, paths
from tests.harness.metastore import HOST, free_port
from tests.harness.processes import own_environ
from tests.spark.toolbox import Jobs, many

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

AIRFLOW = "airflow-3.3"
#: More than the metastore's own batches of 300, and than Airflow maps over by default.
MANY = 1100


@pytest.fixture(scope="module")
def airflow() -> Path:
    envs.ensure([AIRFLOW])
    return paths.env_python(AIRFLOW)


def _list(airflow: Path, home: Path, port: int, *databases: str) -> tuple[list[Any], str]:
    """What the task returns for each database, and its log."""
    connection = {"conn_type": "hive_metastore", "host": HOST, "port": port}
    environ = {
        **own_environ(),
        "AIRFLOW_HOME": str(home),
        "AIRFLOW_CONN_METASTORE_DEFAULT": json.dumps(connection),
        "PYTHONPATH": str(paths.ROOT),
    }
    command = [str(airflow), "-m", "tests.cluster.list_by_hook", *databases]
    done = subprocess.run(command, env=environ, cwd=paths.ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1]), done.stdout + done.stderr


def test_it_lists_what_may_be_compacted_and_no_backups(
    spark: SparkSession, jobs: Jobs, cluster: Cluster, folder: str, airflow: Path, tmp_path: Path
) -> None:
    database = f"d_{folder.rsplit('/', 1)[1]}"
    spark.sql(f"CREATE DATABASE {database} LOCATION '{folder}/db'")
    many(spark, f"{folder}/events", "SELECT id FROM range(20)", 3)
    spark.sql(
        f"CREATE EXTERNAL TABLE {database}.events (id BIGINT) STORED AS PARQUET LOCATION '{folder}/events'"
    )
    spark.sql(f"CREATE TABLE {database}.managed (id BIGINT) STORED AS PARQUET")
    spark.sql(f"CREATE VIEW {database}.seen AS SELECT * FROM {database}.events")
    assert jobs("compact", "--table", f"{database}.events")["outcome"] == "done"
    assert spark.sql(f"SHOW TABLES IN {database} LIKE '__bkp_events_*'").count() == 1

    found, _ = _list(airflow, tmp_path, cluster.metastore.port, database, database.upper(), "nowhere")
    assert found[:2] == [[{"table": f"{database}.events"}]] * 2
    assert found[2] == "ValueError: the metastore has no database 'nowhere'"


def test_it_lists_a_database_of_very_many_tables_in_full(
    spark: SparkSession, cluster: Cluster, folder: str, airflow: Path, tmp_path: Path
) -> None:
    database = f"d_{folder.rsplit('/', 1)[1]}"
    spark.sql(f"CREATE DATABASE {database} LOCATION '{folder}/db'")
    spark.sql(f"CREATE EXTERNAL TABLE {database}.t0 (id BIGINT) STORED AS PARQUET LOCATION '{folder}/t'")
    Registered(spark).copies(database, "t0", [f"t{number}" for number in range(1, MANY)])
    (found,), _ = _list(airflow, tmp_path, cluster.metastore.port, database)
    names = sorted(f"{database}.t{number}" for number in range(MANY))
    assert found == [{"table": name} for name in names]


def test_without_a_metastore_the_task_fails_and_its_log_says_where_it_was_looked_for(
    airflow: Path, tmp_path: Path
) -> None:
    port = free_port()
    (found,), log = _list(airflow, tmp_path, port, "default")
    assert "Failed to locate the valid server" in found
    assert f"Could not connect to {HOST}:{port}" in log
