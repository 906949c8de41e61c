"""Tables that Spark cannot read by its own catalog: types that it cannot parse, classes that it cannot load."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest
from py4j.protocol import Py4JJavaError

from spark_jobs.adapters.hadoop.file_system import HadoopFileSystem
from spark_jobs.adapters.hadoop.metastore import Metastore
from spark_jobs.adapters.hadoop.metastore_errors import MetastoreError
from spark_jobs.core.values.model import TableName
from tests.harness.fixtures import Database
from tests.spark.metastore_client import drop, recreate
from tests.spark.toolbox import Jobs, data_files, empty_table, many, only

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PARQUET, _TEXT = "STORED AS PARQUET", "STORED AS TEXTFILE"
_SEQUENCE = "STORED AS SEQUENCEFILE"


@pytest.fixture
def handled(spark: SparkSession, database: Database) -> Iterator[list[str]]:
    """The tables that a test makes with a storage handler: Spark cannot drop them."""
    tables: list[str] = []
    yield tables
    drop(spark, *tables)


def _with_type(spark: SparkSession, table: str, kind: str) -> None:
    recreate(spark, table, lambda entry: entry.getSd().getCols().get(1).setType(kind))


def _handler(name: str, input_format: str | None, serde: str) -> Any:
    def change(entry: Any) -> None:
        entry.putToParameters("storage_handler", name)
        entry.getSd().setInputFormat(input_format)
        entry.getSd().setOutputFormat(input_format)
        entry.getSd().getSerdeInfo().setSerializationLib(serde)

    return change


#: Neither Spark 3.3 nor 4.3 reads these.
_UNPARSABLE = [
    "uniontype<int,string>",
    "array<uniontype<int,string>>",
    "struct<a:uniontype<int,string>>",
    "interval_year_month",
    "interval_day_time",
]


@pytest.mark.smoke
@pytest.mark.parametrize("kind", _UNPARSABLE)
def test_a_type_that_spark_cannot_parse_is_named(
    spark: SparkSession, jobs: Jobs, database: Database, kind: str
) -> None:
    table = empty_table(spark, database, "t", _PARQUET)
    _with_type(spark, table, kind)
    for verb in ("analyze", "plan", "compact"):
        report = jobs(verb, "--table", table)
        found = only(report)
        assert (found["outcome"], found["code"], report["exit_code"]) == ("refused", "TYPE", 1)
        assert f"column 'v' has the type {kind}" in found["reason"]


@pytest.mark.parametrize("kind", ["timestamp with local time zone", "struct<a-b:int>"])
def test_a_type_that_only_newer_versions_of_spark_parse_fails_no_version(
    spark: SparkSession, jobs: Jobs, database: Database, kind: str
) -> None:
    """The directory is empty: where Spark reads the table, there is nothing to do."""
    table = empty_table(spark, database, "t", _PARQUET)
    _with_type(spark, table, kind)
    found = only(jobs("analyze", "--table", table))
    assert (found["outcome"], found["code"]) in [("refused", "TYPE"), ("done", None), ("nothing", None)]


@pytest.mark.one_version
@pytest.mark.smoke
@pytest.mark.parametrize("stored", [_TEXT, _SEQUENCE])
def test_files_without_types_are_copied_whatever_the_types_of_the_table(
    spark: SparkSession, jobs: Jobs, database: Database, stored: str
) -> None:
    table = empty_table(spark, database, "t", stored)
    for number in range(4):
        spark.sql(f"INSERT INTO {table} SELECT {number}, 'v{number}'")
    before = len(data_files(database.path / "t"))
    _with_type(spark, table, "uniontype<int,string>")
    report = jobs("compact", "--table", table)
    (unit,) = only(report)["units"]
    assert (unit["outcome"], unit["reason"], report["exit_code"]) == ("compacted", None, 0)
    assert (before, len(data_files(database.path / "t"))) == (4, 1)
    recreate(spark, table, lambda entry: entry.getSd().getCols().get(1).setType("string"))
    assert sorted(row.v for row in spark.table(table).collect()) == ["v0", "v1", "v2", "v3"]


def test_partitions_of_such_a_table(spark: SparkSession, jobs: Jobs, database: Database) -> None:
    table = empty_table(spark, database, "t", _TEXT, "PARTITIONED BY (k INT, l STRING)")
    for key in ("1", "02"):
        folder = database.path / f"t/k={key}/l=a b"
        folder.mkdir(parents=True)
        for number in range(4):
            (folder / f"{number}.txt").write_text(f"{number}\x01v\n")
        spark.sql(f"ALTER TABLE {table} ADD PARTITION (k='{key}', l='a b') LOCATION 'file:{folder}'")
    _with_type(spark, table, "uniontype<int,string>")
    report = jobs("compact", "--table", table, "--where", "k = 1")
    assert [(unit["unit"], unit["outcome"]) for unit in only(report)["units"]] == [
        ({"k": "1", "l": "a b"}, "compacted")
    ]
    analysed = only(jobs("analyze", "--table", table))["units"]
    assert sorted((unit["unit"]["k"] == "1", unit["outcome"]) for unit in analysed) == [
        (False, "flagged"),
        (True, "healthy"),
    ]


@pytest.mark.one_version
@pytest.mark.smoke
@pytest.mark.parametrize(
    ("handler", "input_format", "serde", "code"),
    [
        (
            "org.apache.paimon.hive.PaimonStorageHandler",
            "org.apache.paimon.hive.mapred.PaimonInputFormat",
            "org.apache.paimon.hive.PaimonSerDe",
            "PAIMON",
        ),
        (
            "org.apache.iceberg.mr.hive.HiveIcebergStorageHandler",
            "org.apache.iceberg.mr.hive.HiveIcebergInputFormat",
            "org.apache.iceberg.mr.hive.HiveIcebergSerDe",
            "ICEBERG",
        ),
        (
            "org.apache.hadoop.hive.hbase.HBaseStorageHandler",
            None,
            "org.apache.hadoop.hive.hbase.HBaseSerDe",
            "STORAGE_HANDLER",
        ),
        (
            "org.apache.hadoop.hive.kudu.KuduStorageHandler",
            None,
            "org.apache.hadoop.hive.kudu.KuduSerDe",
            "STORAGE_HANDLER",
        ),
        (
            "org.apache.hive.storage.jdbc.JdbcStorageHandler",
            None,
            "org.apache.hive.storage.jdbc.JdbcSerDe",
            "STORAGE_HANDLER",
        ),
    ],
)
def test_a_storage_handler_is_named_and_not_loaded(
    spark: SparkSession,
    jobs: Jobs,
    database: Database,
    handled: list[str],
    handler: str,
    input_format: str | None,
    serde: str,
    code: str,
) -> None:
    table = empty_table(spark, database, "t")
    recreate(spark, table, _handler(handler, input_format, serde))
    handled.append(table)
    for verb in ("analyze", "plan", "compact"):
        report = jobs(verb, "--table", table)
        assert (only(report)["outcome"], only(report)["code"], report["exit_code"]) == ("refused", code, 1)


class _Catalog:
    """Spark's catalog, with another answer to the question for a table."""

    def __init__(self, catalog: Any, get_table: Callable[[str, str], Any]) -> None:
        self._catalog, self.getTable = catalog, get_table

    def __getattr__(self, name: str) -> Any:
        return getattr(self._catalog, name)


def _metastore(spark: SparkSession, get_table: Callable[[str, str], Any]) -> Metastore:
    metastore = Metastore(spark, HadoopFileSystem(spark))
    metastore.__dict__["_catalog"] = _Catalog(metastore._catalog, get_table)
    return metastore


def test_the_classes_of_a_storage_handler_are_not_even_looked_for(
    spark: SparkSession, database: Database, handled: list[str]
) -> None:
    """Where its jar is there, it may connect to a system that does not answer."""
    asked: list[str] = []
    catalog = Metastore(spark, HadoopFileSystem(spark))._catalog

    def get_table(database: str, table: str) -> Any:
        asked.append(table)
        return catalog.getTable(database, table)

    table = empty_table(spark, database, "t")
    recreate(spark, table, _handler("com.corp.Handler", None, "com.corp.SerDe"))
    handled.append(table)
    metastore, name = _metastore(spark, get_table), TableName.parse(table)
    assert metastore.table_exists(name)
    assert metastore.table(name).properties["storage_handler"] == "com.corp.Handler"
    assert asked == []


def test_a_metastore_that_is_away_makes_no_table_unreadable(spark: SparkSession, database: Database) -> None:
    """It answers again when the entry is asked for."""
    away = spark._jvm.org.apache.thrift.transport.TTransportException("away")  # type: ignore[union-attr]

    def get_table(*_: str) -> Any:
        raise Py4JJavaError("getTable", away)

    name = TableName.parse(empty_table(spark, database, "t", _PARQUET))
    with pytest.raises(MetastoreError, match="away"):
        _metastore(spark, get_table).table(name)


def test_a_database_with_such_tables_is_worked_through(
    spark: SparkSession, jobs: Jobs, database: Database, handled: list[str]
) -> None:
    many(spark, database.location("good"), "SELECT id, 'v' AS v FROM range(40)", 4)
    spark.sql(
        f"CREATE EXTERNAL TABLE {database}.good (id BIGINT, v STRING) {_PARQUET}"
        f" LOCATION '{database.location('good')}'"
    )
    _with_type(spark, empty_table(spark, database, "a_type", _PARQUET), _UNPARSABLE[0])
    handled.append(empty_table(spark, database, "b_handler"))
    recreate(
        spark, handled[0], _handler("org.apache.hadoop.hive.druid.DruidStorageHandler", None, "x.DruidSerDe")
    )
    expected = {
        f"{database}.a_type": ("refused", "TYPE"),
        f"{database}.b_handler": ("refused", "STORAGE_HANDLER"),
        f"{database}.good": ("done", None),
    }
    for verb in ("analyze", "plan", "compact"):
        report = jobs(verb, "--database", str(database))
        found = {table["table"]: (table["outcome"], table["code"]) for table in report["tables"]}
        assert (found, report["exit_code"]) == (expected, 0)
    for verb, *more in (("check",), ("history",), ("rollback",), ("cleanup", "--older-than", "7d")):
        report = jobs(verb, "--database", str(database), *more)
        assert report["exit_code"] == 0, report["tables"]


def test_the_partitions_and_the_table_without_a_class_of_its_serde(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    """The way of reading is unknown here, but named."""
    table = empty_table(spark, database, "t")
    recreate(
        spark,
        table,
        lambda entry: entry.getSd().getSerdeInfo().setSerializationLib("com.corp.OurBinarySerDe"),
    )
    found = only(jobs("analyze", "--table", table))
    assert (found["outcome"], found["code"]) == ("refused", "SERDE")
    assert "com.corp.OurBinarySerDe" in found["reason"]


def _with_schema(spark: SparkSession, table: str, kind: Any) -> None:
    """Let the table's property say that its column `v` is of a type of Spark."""
    types = (("id", "long"), ("v", kind))
    fields = [{"name": name, "type": of, "nullable": True, "metadata": {}} for name, of in types]
    schema = json.dumps({"type": "struct", "fields": fields})

    def change(entry: Any) -> None:
        entry.putToParameters("spark.sql.sources.schema", schema)
        entry.putToParameters("spark.sql.sources.provider", "parquet")
        entry.getSd().getSerdeInfo().putToParameters("path", entry.getSd().getLocation())

    recreate(spark, table, change)


@pytest.mark.parametrize(
    "kind",
    [
        "interval",
        {"type": "udt", "pyClass": "no_such_module.Point", "serializedClass": "", "sqlType": "string"},
    ],
)
def test_a_type_that_pyspark_does_not_know_fails_nothing(
    spark: SparkSession, jobs: Jobs, database: Database, kind: Any
) -> None:
    table = empty_table(spark, database, "t", _PARQUET)
    many(spark, database.location("t"), "SELECT id, 'v' AS v FROM range(40)", 4)
    _with_schema(spark, table, kind)
    for verb in ("analyze", "compact"):
        report = jobs(verb, "--database", str(database))
        assert (only(report)["outcome"], report["exit_code"]) == ("done", 0), only(report)
