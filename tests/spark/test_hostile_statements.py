"""Text of a table in SQL is text: no variable of the process is put into it, and none of it is executed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from spark_jobs.adapters.hadoop.file_system import HadoopFileSystem
from spark_jobs.adapters.hadoop.metastore import Metastore
from spark_jobs.core.rules.eligibility import Storage, TableFacts
from spark_jobs.core.values import ddl
from spark_jobs.core.values.model import TableName, Unit
from tests.harness.fixtures import Database
from tests.hostile.corpus import PROPERTY, SHELL, SQL, VARIABLES
from tests.spark.toolbox import Jobs, literal, only, rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TEXTS = [*VARIABLES, *SQL]
#: What a cluster or a session may say about the meaning of text.
SETTINGS = {
    "spark.sql.variable.substitute": "true",
    "spark.sql.parser.escapedStringLiterals": "true",
    "spark.sql.parser.quotedRegexColumnNames": "true",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.ansi.doubleQuotedIdentifiers": "true",
    "spark.sql.ansi.enforceReservedKeywords": "true",
    "spark.sql.caseSensitive": "true",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
    "spark.sql.charAsVarchar": "true",
    "spark.sql.legacy.charVarcharAsString": "true",
    "spark.sql.legacy.notReserveProperties": "true",
    "spark.sql.legacy.exponentLiteralAsDecimal.enabled": "true",
    "spark.sql.defaultCatalog": "elsewhere",
    "spark.sql.catalog.elsewhere": "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog",
    "spark.sql.catalog.elsewhere.url": "jdbc:derby:memory:elsewhere;create=true",
    "spark.sql.catalog.elsewhere.driver": "org.apache.derby.jdbc.EmbeddedDriver",
}


@pytest.fixture
def canary(spark: SparkSession) -> str:
    value = "c4nary-o'secret"
    spark._jvm.java.lang.System.setProperty(PROPERTY, value)
    spark.conf.set(PROPERTY, value)
    return value


@contextmanager
def changed(spark: SparkSession, settings: dict[str, str]) -> Iterator[None]:
    """The cluster's configuration, which each new session begins with, and this session have these settings."""
    context = spark.sparkContext._jsc.sc().conf()
    for key, value in settings.items():
        context.set(key, value)
        spark.conf.set(key, value)
    try:
        yield
    finally:
        for key in settings:
            context.remove(key)
            spark.conf.unset(key)


def parts(session: SparkSession, table: str) -> list[str]:
    """The values of the key `p` as the metastore has them."""
    fs = HadoopFileSystem(session)
    catalog = Metastore(session, fs)
    return sorted(str(unit.spec[0][1]) for unit, _ in catalog.units(catalog.table(TableName.parse(table))))


def described(session: SparkSession, table: str) -> dict[str, Any]:
    """Columns, properties and storage of a table as the metastore has them."""
    facts = Metastore(session, HadoopFileSystem(session)).table(TableName.parse(table))
    return {
        "columns": facts.columns,
        "properties": dict(facts.properties),
        "storage": dict(facts.storage.properties),
        "location": facts.storage.location,
    }


@pytest.fixture
def hostile(plain: SparkSession, database: Database, canary: str) -> str:
    """A text table with such names and properties, and a partition of three files for each of the texts."""
    table = f"{database}.hostile"
    columns = ", ".join(
        f"`{name}` STRING" for name in ("${env:PATH}", "${spark.app.name}", "${lakekeeper.canary}")
    )
    serde = ", ".join(f"{literal(f'p{i}')}={literal(text)}" for i, text in enumerate(TEXTS))
    plain.sql(
        f"CREATE EXTERNAL TABLE {table} ({columns}) PARTITIONED BY (p STRING)"
        f" ROW FORMAT SERDE 'org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe' WITH SERDEPROPERTIES ({serde})"
        " STORED AS TEXTFILE"
        f" LOCATION '{database.location('hostile')}'"
    )
    plain.sql(f"CREATE EXTERNAL TABLE {database}.victim (id INT) LOCATION '{database.location('victim')}'")
    texts = json.dumps([{"p": text} for text in TEXTS])
    from pyspark.sql import functions as F

    for start in range(3):
        frame = plain.range(start, start + 1).select(
            *[F.col("id").cast("string").alias(f"c{i}") for i in range(3)],
            F.explode(F.from_json(F.lit(texts), "array<struct<p:string>>")).alias("row"),
        )
        frame.select("c0", "c1", "c2", "row.p").coalesce(1).write.insertInto(table)
    return table


@pytest.mark.one_version
@pytest.mark.smoke
@pytest.mark.parametrize(
    "settings", [pytest.param({}, marks=pytest.mark.full), SETTINGS], ids=["defaults", "others"]
)
def test_text_of_a_table_arrives_as_it_is_in_its_backup_table(
    spark: SparkSession, plain: SparkSession, jobs: Jobs, hostile: str, settings: dict[str, str]
) -> None:
    before = rows(plain, hostile)
    with changed(spark, settings):
        report = only(jobs("compact", "--table", hostile))
        assert {key: spark.conf.get(key) for key in settings} == settings
    assert report["warnings"] == []
    assert {unit["outcome"] for unit in report["units"]} == {"compacted"}
    backup = report["backup_table"]
    assert parts(plain, backup) == sorted(TEXTS)
    found, source = described(plain, backup), described(plain, hostile)
    assert found["columns"] == source["columns"]
    assert {key: text for key, text in found["storage"].items() if key.startswith("p")} == {
        f"p{i}": text for i, text in enumerate(TEXTS)
    }
    assert rows(plain, hostile) == before
    assert rows(plain, backup) == before
    assert "victim" in {table.name for table in plain.catalog.listTables(hostile.split(".")[0])}


@pytest.mark.parametrize("settings", [{}, SETTINGS], ids=["defaults", "others"])
def test_a_condition_means_what_it_says(spark: SparkSession, canary: str, settings: dict[str, str]) -> None:
    facts = TableFacts("db.t", "EXTERNAL", Storage("file:/t", None, None), None, {}, (), ("p",), ("string",))
    units = [Unit((("p", text),), f"file:/t/{i}") for i, text in enumerate(TEXTS)]
    with changed(spark, settings):
        catalog = Metastore(spark, HadoopFileSystem(spark))
        for unit in units:
            where = f"`p` = {literal(str(unit.spec[0][1]))}"
            assert catalog.matching(facts, units, where) == [unit], where


@pytest.mark.parametrize("settings", [{}, SETTINGS], ids=["defaults", "others"])
def test_columns_of_all_types_are_in_the_backup_table(
    spark: SparkSession, plain: SparkSession, jobs: Jobs, database: Database, settings: dict[str, str]
) -> None:
    table = f"{database}.typed"
    plain.sql(
        f"CREATE EXTERNAL TABLE {table} (id BIGINT, at TIMESTAMP, c CHAR(3), v VARCHAR(4),"
        " l ARRAY<STRUCT<at: TIMESTAMP, void: INT>>)"
        f" STORED AS TEXTFILE LOCATION '{database.location('typed')}'"
    )
    for _ in range(4):
        plain.sql(
            f"INSERT INTO {table} SELECT 1, timestamp '2026-01-01 12:00:00', 'abc', 'ab',"
            " array(named_struct('at', timestamp '2026-01-01 12:00:00', 'void', 1))"
        )
    add_void(plain, table, "n")
    with changed(spark, settings):
        report = only(jobs("compact", "--table", table))
    assert [unit["outcome"] for unit in report["units"]] == ["compacted"]
    assert report["warnings"] == []
    columns = dict(described(plain, report["backup_table"])["columns"])
    assert columns == {**dict(described(plain, table)["columns"]), "n": "string"}
    assert columns["at"] == "timestamp"


def add_void(session: SparkSession, table: str, column: str) -> None:
    """Add a column with the type that Hive gives to `SELECT null`. Spark's own statements cannot."""
    name, catalog = TableName.parse(table), session._jsparkSession.sharedState().externalCatalog()
    schema = json.loads(catalog.getTable(name.database, name.table).schema().json())
    schema["fields"].append({"name": column, "type": "void", "nullable": True, "metadata": {}})
    java = session._jvm.org.apache.spark.sql.types.DataType.fromJson(json.dumps(schema))
    catalog.alterTableDataSchema(name.database, name.table, java)


@pytest.mark.one_version
def test_a_schema_in_a_property_arrives_as_it_is(
    plain: SparkSession, jobs: Jobs, database: Database, canary: str
) -> None:
    doc = "${env:PATH} it's ${lakekeeper.canary}"
    schema = json.dumps(
        {"type": "record", "name": "r", "fields": [{"name": "id", "type": "long", "doc": doc}]}
    )
    table = f"{database}.records"
    plain.sql(
        f"CREATE EXTERNAL TABLE {table} (id BIGINT) STORED AS AVRO LOCATION '{database.location('records')}'"
    )
    for number in range(6):
        plain.sql(f"INSERT INTO {table} VALUES ({number})")
    plain.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('avro.schema.literal'={literal(schema)})")
    report = only(jobs("compact", "--table", table))
    assert [unit["outcome"] for unit in report["units"]] == ["compacted"]
    assert report["warnings"] == []
    assert described(plain, report["backup_table"])["properties"]["avro.schema.literal"] == schema


@pytest.mark.parametrize("text", [*TEXTS, *SHELL])
def test_hive_and_spark_read_a_literal_alike(spark: SparkSession, text: str) -> None:
    """Also in a session that substitutes variables: a person pastes the statements of messages into a shell."""
    parser: Any = spark._jvm.org.apache.hadoop.hive.ql.parse.BaseSemanticAnalyzer
    assert parser.unescapeSQLString(ddl.literal(text)) == text
    (row,) = spark.sql(f"SELECT {ddl.literal(text)} AS text").collect()
    assert row.text == text
