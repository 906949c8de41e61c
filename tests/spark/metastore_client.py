"""A client of the metastore beside Spark's, for entries that Spark's SQL cannot write."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@contextmanager
def metastore_client(spark: SparkSession) -> Iterator[Any]:
    jvm: Any = spark._jvm
    conf = jvm.org.apache.hadoop.hive.conf.HiveConf()
    conf.set("hive.metastore.uris", spark.conf.get("spark.hadoop.hive.metastore.uris"))
    client = jvm.org.apache.hadoop.hive.metastore.HiveMetaStoreClient(conf)
    try:
        yield client
    finally:
        client.close()


def recreate(spark: SparkSession, table: str, change: Callable[[Any], object]) -> None:
    """Create a table anew with another entry: the metastore rejects an ALTER to a type that Hive cannot cast to."""
    database, name = table.split(".")
    with metastore_client(spark) as client:
        entry = client.getTable(database, name)
        partitions = client.listPartitions(database, name, -1)
        change(entry)
        client.dropTable(database, name, False, True)
        client.createTable(entry)
        if partitions.size():
            client.add_partitions(partitions)


def drop(spark: SparkSession, *tables: str) -> None:
    """Drop tables that Spark cannot drop, because it cannot load their storage handler."""
    with metastore_client(spark) as client:
        for table in tables:
            client.dropTable(*table.split("."), False, True)
