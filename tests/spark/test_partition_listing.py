"""Partitions are listed by their names, batch by batch, and are what Spark's own catalog says of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from py4j.protocol import Py4JJavaError

from spark_jobs.adapters.hadoop import partition_batches
from spark_jobs.adapters.hadoop.file_system import HadoopFileSystem
from spark_jobs.adapters.hadoop.java_answers import java_json
from spark_jobs.adapters.hadoop.metastore import Metastore
from spark_jobs.adapters.hadoop.metastore_errors import MetastoreError
from spark_jobs.core.values.ddl import literal
from spark_jobs.core.values.model import DEFAULT_PARTITION, TableName
from tests.harness.fixtures import Database
from tests.spark.metastore_client import metastore_client
from tests.spark.toolbox import ODD_VALUES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_BATCH = 5


class _Client:
    """The metastore's client, with the calls by which it was asked for partitions.

    Attributes:
        away: an error after so many calls.
    """

    def __init__(self, client: Any, away: int | None = None, error: Exception | None = None) -> None:
        self._client, self._away, self._error = client, away, error
        self.asked: list[int] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def getPartitionsByNames(self, database: str, table: str, names: Any) -> Any:
        if self._error and len(self.asked) == self._away:
            raise self._error
        self.asked.append(names.size())
        return self._client.getPartitionsByNames(database, table, names)


@pytest.fixture
def catalog(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Metastore:
    monkeypatch.setattr(partition_batches, "_BATCH", _BATCH)
    monkeypatch.setattr(partition_batches, "_AT_ONCE", _BATCH)
    return Metastore(spark, HadoopFileSystem(spark))


def _observed(catalog: Metastore, *fault: Any) -> _Client:
    client = _Client(catalog._entries.client(), *fault)
    catalog._entries._batches._client = lambda: client
    return client


def _with_odd_partitions(spark: SparkSession, database: Database) -> str:
    """Return the name of a table with unusual values and places, formats and parameters of partitions."""
    table, elsewhere = f"{database}.t", database.location("else where/100%25")
    spark.sql(
        f"CREATE EXTERNAL TABLE {table} (id BIGINT) PARTITIONED BY (Day STRING, k STRING) STORED AS PARQUET"
        f" LOCATION '{database.location('t')}'"
    )
    clauses = [f"PARTITION (day='d', k={literal(value)})" for value in [*ODD_VALUES, DEFAULT_PARTITION]]
    places = [f"PARTITION (day='{each}', k='1') LOCATION '{elsewhere}/{each}'" for each in ("x:y", "z")]
    spark.sql(f"ALTER TABLE {table} ADD {' '.join(clauses + places)}")
    with metastore_client(spark) as client:
        (entry,) = client.getPartitionsByNames(str(database), "t", ["day=z/k=1"])
        entry.putToParameters("owner", "été")
        entry.getSd().getSerdeInfo().putToParameters("field.delim", "\x01")
        entry.getSd().setInputFormat("org.apache.hadoop.mapred.TextInputFormat")
        client.alter_partition(str(database), "t", entry)
    return table


def test_they_are_what_the_catalog_of_spark_says(
    spark: SparkSession, catalog: Metastore, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = catalog.table(TableName.parse(_with_odd_partitions(spark, database)))
    client = _observed(catalog)
    found = catalog.partitions(facts)
    assert client.asked == [5, 5, 5]
    monkeypatch.setattr(partition_batches, "_AT_ONCE", len(found))
    assert catalog.partitions(facts) == found
    assert client.asked == [5, 5, 5]
    nothing = spark._jvm.scala.Option.empty().toList()  # type: ignore[union-attr]
    rows = java_json(
        catalog._mapper, catalog._catalog.listPartitionsByFilter(str(database), "t", nothing, "UTC")
    )
    rows.sort(key=lambda row: [row["spec"][key] for key in facts.partition_keys])
    assert [[value or DEFAULT_PARTITION for _, value in unit.spec] for unit, _ in found] == [
        [row["spec"][key] for key in facts.partition_keys] for row in rows
    ]
    for row, (unit, storage) in zip(rows, found, strict=True):
        described = catalog._storage(row["storage"])
        assert unit.location == storage.location == described.location
        assert (storage.input_format, storage.serde) == (described.input_format, described.serde)
        assert (storage.properties, storage.created) == (described.properties, row["createTime"])
        assert storage.parameters == ({"owner": "été"} if "owner" in row["parameters"] else {})
    assert sum(bool(storage.parameters) for _, storage in found) == 1


def test_a_metastore_that_goes_away_between_two_batches_lists_no_partitions(
    spark: SparkSession, catalog: Metastore, database: Database
) -> None:
    facts = catalog.table(TableName.parse(_with_odd_partitions(spark, database)))
    away = spark._jvm.org.apache.thrift.transport.TTransportException("away")  # type: ignore[union-attr]
    client = _observed(catalog, 2, Py4JJavaError("getPartitionsByNames", away))
    with pytest.raises(MetastoreError, match="away"):
        catalog.partitions(facts)
    assert client.asked == [5, 5]
