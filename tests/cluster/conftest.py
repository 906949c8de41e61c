"""One cluster for the whole run; Spark's session and the tables live on it."""

from __future__ import annotations

import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from demo.services.spark_config import spark_environ as make_spark_environ
from tests.cluster.cluster import Cluster
from tests.spark.toolbox import Jobs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.cluster.superuser import Superuser


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with Cluster(tmp_path_factory.mktemp("cluster")) as running:
        yield running


@pytest.fixture(scope="session")
def spark_environ(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Spark as on a node of the cluster: its own client libraries, the cluster's configuration."""
    scratch = tmp_path_factory.mktemp("spark")
    environ = make_spark_environ(
        Path(sys.prefix).name,
        cluster.metastore.uri,
        scratch,
        conf={
            "spark.sql.warehouse.dir": f"{cluster.default_fs}/user/hive/warehouse",
            # A NameNode that is away is missed soon.
            "spark.hadoop.ipc.client.connect.max.retries": "2",
        },
    )
    return {**environ, "HADOOP_CONF_DIR": str(cluster.conf), "HADOOP_USER_NAME": "hdfs"}


@pytest.fixture
def jobs(spark: SparkSession, tmp_path: Path) -> Jobs:
    return Jobs(spark, tmp_path)


@pytest.fixture
def superuser(spark: SparkSession, cluster: Cluster) -> Superuser:
    from tests.cluster.superuser import Superuser

    return Superuser(spark, cluster.default_fs)


@pytest.fixture
def folder(superuser: Superuser) -> str:
    """A directory of the test's own, where everybody may write."""
    path = f"{superuser.root}/tests/{uuid.uuid4().hex[:10]}"
    superuser.make(path, "777")
    return path


@pytest.fixture
def pair(spark: SparkSession, folder: str) -> str:
    """A table of two partitions, `p=a` and `p=b`, of three files and 20 rows each."""
    from tests.spark.toolbox import many

    table = f"t_{folder.rsplit('/', 1)[1]}"
    for key in "ab":
        many(spark, f"{folder}/pair/p={key}", "SELECT id FROM range(20)", 3)
    spark.sql(
        f"CREATE EXTERNAL TABLE {table} (id BIGINT) PARTITIONED BY (p STRING) STORED AS PARQUET"
        f" LOCATION '{folder}/pair'"
    )
    spark.sql(f"MSCK REPAIR TABLE {table}")
    return table
