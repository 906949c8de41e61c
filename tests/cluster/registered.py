"""What the metastore holds of a table, by Hive's own client: neither Spark's catalog nor the jobs have a part in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Registered:
    """Tables are those of the database `default`. Each look has a connection of its own: the metastore may have been
    started anew since the last one."""

    def __init__(self, spark: SparkSession) -> None:
        self._jvm: Any = spark._jvm
        kind = self._jvm.java.lang.Class.forName("org.apache.hadoop.hive.conf.HiveConf")
        self._conf = self._jvm.org.apache.hadoop.hive.conf.HiveConf(spark._jsc.hadoopConfiguration(), kind)

    def table(self, table: str) -> str:
        """All that there is to know, as one text to compare."""
        with self._client() as client:
            return str(client.getTable("default", table).toString())

    def partitions(self, table: str) -> str:
        """The same of all partitions, in one call: their values, locations, parameters and all the rest."""
        with self._client() as client:
            return str(client.listPartitions("default", table, -1).toString())

    def names(self, table: str) -> list[str]:
        with self._client() as client:
            found = client.listPartitionNames("default", table, -1)
            return str(self._jvm.java.lang.String.join("\n", found)).split("\n")

    def locations(self, table: str) -> dict[tuple[str, ...], str]:
        """values -> location, of a table of few partitions."""
        with self._client() as client:
            found = client.listPartitions("default", table, -1)
            return {tuple(each.getValues()): str(each.getSd().getLocation()) for each in found}

    def append(self, table: str, name: str) -> None:
        """Registers a partition by its name, `p=01`, as it is: no SQL makes a number of it."""
        with self._client() as client:
            client.appendPartition("default", table, name)

    def copies(self, database: str, table: str, names: Sequence[str]) -> None:
        """Registers the same table again, under each of these names."""
        with self._client() as client:
            found = client.getTable(database, table)
            for name in names:
                found.setTableName(name)
                client.createTable(found)

    @contextmanager
    def _client(self) -> Iterator[Any]:
        client = self._jvm.org.apache.hadoop.hive.metastore.HiveMetaStoreClient(self._conf)
        try:
            yield client
        finally:
            client.close()
