"""A cluster that asks for tickets, and a worker beside it: Airflow, a Spark client, and no right to anything."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from demo.services import paths
from demo.services.processes import own_environ
from demo.services.spark_config import LOG4J
from tests.airflow.conftest import airflow_db, connection
from tests.cluster.cluster import Cluster
from tests.cluster.kerberos import REALM
from tests.kerberos.worker import PARTITIONS, PATIENCE, Table

__all__ = ["airflow_db"]

MAKE_TABLES = """
import sys
from pyspark.sql import SparkSession

folder, *tables = sys.argv[1:]
spark = SparkSession.builder.enableHiveSupport().getOrCreate()
for table in tables:
    name, partitions = table.split("=")
    database = name.split(".")[0]
    spark.sql(f"CREATE DATABASE IF NOT EXISTS {database} LOCATION '{folder}/{database}.db'")
    place = f"{folder}/{name}"
    for d in range(1, int(partitions) + 1):
        many = spark.range(0, 400, 1, 20).write.option("mapreduce.fileoutputcommitter.marksuccessfuljobs", "false")
        many.parquet(f"{place}/d={d}")
    spark.sql(
        f"CREATE EXTERNAL TABLE {name} (id BIGINT) PARTITIONED BY (d STRING) STORED AS PARQUET"
        f" LOCATION '{place}'"
    )
    spark.sql(f"MSCK REPAIR TABLE {name}")
"""
#: Spark's own default: in cluster mode, the address of an application is known by this alone.
YARN_CLIENT = """
logger.yarn.name = org.apache.spark.deploy.yarn.Client
logger.yarn.level = info
"""
#: What executors would start: the jobs promise to need none there.
NO_PYTHON = "/nowhere/python3"
#: One for each test that changes one: making them together spares as many starts of Spark.
TABLES = {
    "default.client": 1,
    "nightly.in_cluster": 1,
    "default.ticket": 1,
    "default.proxy": 1,
    "default.killed": PARTITIONS,
    "default.guarded": 1,
    "default.seen_client": 3,
    "default.seen_cluster": 3,
    "hand_client.by_client": 1,
    "hand_cluster.by_cluster": 1,
    "doctor.asked": 2,
    "edge_client.on_client": 1,
    "edge_cluster.on_cluster": 1,
    "default.arrow_client": 1,
    "default.arrow_cluster": 1,
    "default.arrow_without": 1,
}


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with Cluster(tmp_path_factory.mktemp("cluster"), secure=True, yarn=True) as running:
        yield running


@pytest.fixture(scope="session")
def spark_conf(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What an administrator puts into a node's Spark client."""
    home, python = paths.spark_home(paths.DEFAULT_SPARK), paths.env_python(paths.DEFAULT_SPARK)
    # Short lives: what the second compiler would make of the code comes too late for them.
    java = f"-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Djava.security.krb5.conf={cluster.kdc.conf}"
    settings = {
        "spark.sql.catalogImplementation": "hive",
        "spark.yarn.jars": f"local:{home}/jars/*",
        "spark.driver.extraJavaOptions": java,
        "spark.executor.extraJavaOptions": java,
        "spark.yarn.am.extraJavaOptions": java,
        "spark.yarn.appMasterEnv.PYSPARK_DRIVER_PYTHON": python,
        "spark.yarn.appMasterEnv.PYSPARK_PYTHON": NO_PYTHON,
        # A driver in a container would listen on the machine's own address.
        "spark.yarn.appMasterEnv.SPARK_LOCAL_IP": "127.0.0.1",
        "spark.executorEnv.SPARK_LOCAL_IP": "127.0.0.1",
        "spark.driver.memory": "512m",
        "spark.executor.memory": "512m",
        "spark.yarn.am.memory": "512m",
        "spark.executor.instances": "1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        # Everything is on one machine: nothing is gained by asking seldom.
        "spark.yarn.scheduler.heartbeat.interval-ms": "100",
        "spark.yarn.report.interval": "100ms",
        "spark.locality.wait": "0",
        # The driver begins while its executor starts.
        "spark.scheduler.minRegisteredResourcesRatio": "0",
    }
    folder = tmp_path_factory.mktemp("spark-conf")
    (folder / "spark-defaults.conf").write_text(
        "".join(f"{key} {value}\n" for key, value in settings.items())
    )
    (folder / "log4j2.properties").write_text(LOG4J + YARN_CLIENT)
    return folder


@pytest.fixture(scope="session")
def node(cluster: Cluster, spark_conf: Path) -> dict[str, str]:
    """The environment of a process on the worker: it can find the cluster, and has no ticket."""
    home, python = paths.spark_home(paths.DEFAULT_SPARK), paths.env_python(paths.DEFAULT_SPARK)
    return {
        **own_environ(),
        **cluster.anonymous(),
        "SPARK_SUBMIT_OPTS": f"{cluster.anonymous()['SPARK_SUBMIT_OPTS']} -XX:TieredStopAtLevel=1",
        "SPARK_HOME": str(home),
        "SPARK_CONF_DIR": str(spark_conf),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": NO_PYTHON,
        "PYSPARK_DRIVER_PYTHON": str(python),
        "PATH": f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}",
    }


@pytest.fixture
def worker(node: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """This process is that worker; jobs are submitted to YARN."""
    for name, value in node.items():
        if not name.startswith("AIRFLOW"):
            monkeypatch.setenv(name, value)
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", connection("yarn"))


@pytest.fixture
def ticket(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Gives the worker a ticket, as `kinit` or Airflow's own renewer would; returns its cache."""

    def give(user: str, *options: str) -> Path:
        cache = cluster.kdc.ticket(cluster.kdc.keytab(user), f"{user}@{REALM}", *options)
        monkeypatch.setenv("KRB5CCNAME", f"FILE:{cache}")
        return cache

    return give


@pytest.fixture(scope="session")
def tables(
    cluster: Cluster, node: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Table]:
    """Tables of 20 files in each partition, of which they have one as a rule; they belong to etl."""
    script = tmp_path_factory.mktemp("script") / "make_tables.py"
    script.write_text(MAKE_TABLES)
    home = f"{cluster.default_fs}/user/etl"
    wanted = (f"{name}={partitions}" for name, partitions in TABLES.items())
    command = ["spark-submit", "--master", "local[2]", str(script), home, *wanted]
    environ = {**node, **cluster.client("etl")}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr[-3000:]
    return {name.split(".")[1]: Table(cluster, name, f"{home}/{name}/d=1") for name in TABLES}
