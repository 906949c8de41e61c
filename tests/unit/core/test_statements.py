"""The SQL that we send: the backup table's definition is ours alone, and nothing of the source's but its columns."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from spark_jobs.adapters.hadoop import sql
from spark_jobs.adapters.hadoop.locations import decode_location
from spark_jobs.adapters.hadoop.metastore import Metastore, MetastoreError
from spark_jobs.adapters.hadoop.partition_condition import matching_units
from spark_jobs.adapters.hadoop.sql import backup_ddl, partition_clause
from spark_jobs.core.rules.eligibility import Storage, TableFacts
from spark_jobs.core.values.model import TableName, Unit
from tests.hostile.sites import TAKES_TEXT, is_constant

BACKUP = TableName("sales", "__bkp_events_1")
#: All that would be dangerous in a copy: a clone that purges, that follows discovery, that expires.
PROPERTIES = {
    "external.table.purge": "TRUE",
    "discover.partitions": "true",
    "partition.retention.period": "1d",
    "token": "s3cret",
}
#: It is refused before anything is asked of Spark.
_NO_SESSION: Any = None
SOURCE = TableFacts(
    name="sales.events",
    kind="EXTERNAL",
    storage=Storage(
        "hdfs://nn/w/events",
        "org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat",
        "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe",
        {"field.delim": ","},
    ),
    provider="hive",
    properties=PROPERTIES,
    columns=(("id", "bigint"), ("it`s", "char(3)")),
    partition_keys=("p",),
    partition_types=("int",),
)


def test_a_backup_table_is_defined_by_what_we_say_and_nothing_else() -> None:
    assert backup_ddl(BACKUP, SOURCE, "r1", "hdfs://nn/w/events/.lakekeeper/r1.0/__originals_1") == (
        "CREATE EXTERNAL TABLE `sales`.`__bkp_events_1` (`id` bigint, `it``s` char(3))"
        " PARTITIONED BY (`p` STRING) STORED AS PARQUET"
        " LOCATION 'hdfs://nn/w/events/.lakekeeper/r1.0/__originals_1'"
        " TBLPROPERTIES ('external.table.purge'='false', 'discover.partitions'='false',"
        " 'lakekeeper.run_id'='r1', 'lakekeeper.source_table'='sales.events')"
    )


def test_the_metastore_does_not_list_the_originals_of_a_table_without_partitions() -> None:
    whole = replace(SOURCE, partition_keys=(), partition_types=())
    listed = _Listed({BACKUP.table: of("r1", "sales.events")}, whole)
    listed.drop_backup(BACKUP, "r1", "sales.events")
    for statement in (backup_ddl(BACKUP, whole, "r1", "hdfs://nn/w"), listed.told[0]):
        assert "'DO_NOT_UPDATE_STATS'='true'" in statement


def test_values_are_quoted_and_not_interpreted() -> None:
    clause = partition_clause(Unit((("p", "it's \\ 01"), ("q", None)), "x"), "hdfs://nn/o'x")
    assert clause == (
        "PARTITION (`p`='it\\'s \\\\ 01', `q`='__HIVE_DEFAULT_PARTITION__') LOCATION 'hdfs://nn/o\\'x'"
    )


def test_a_location_is_decoded_once() -> None:
    assert decode_location("file:/w/k=a%253Ab%20c/") == "file:/w/k=a%3Ab c"


class _Listed(Metastore):
    """A metastore that only knows names and properties, and notes what it is told."""

    def __init__(self, known: dict[str, dict[str, str]], facts: TableFacts = SOURCE) -> None:
        self._known, self._facts = known, facts
        self._spark = self
        self._uris = ""
        self.told: list[str] = []

    def sql(self, text: str) -> None:
        self.told.append(text)

    def table_exists(self, table: TableName) -> bool:
        return table.table in self._known

    def table(self, name: TableName) -> TableFacts:
        return replace(self._facts, name=str(name), properties=self.properties(name))

    def tables(self, database: str) -> list[str]:
        return list(self._known)

    def properties(self, name: TableName) -> dict[str, str]:
        return self._known[name.table]


def of(run_id: str, source: str) -> dict[str, str]:
    return {"lakekeeper.run_id": run_id, "lakekeeper.source_table": source}


def test_backup_tables_are_found_by_their_properties_and_never_by_their_names() -> None:
    listed = _Listed(
        {
            "__bkp_events_1": {},
            "__bkp_events_2p_1": of("r1", "sales.events_2p"),
            "__bkp_events_3": of("r11", "sales.events"),
            "renamed": of("r1", "sales.events"),
        }
    )
    assert listed.backup_tables("r1", "sales", "sales.events") == [TableName("sales", "renamed")]


def test_a_backup_is_made_harmless_before_it_is_dropped() -> None:
    """Somebody may have switched purge on since; then Hive deletes the files with the table."""
    listed = _Listed({BACKUP.table: {**of("r1", "sales.events"), "external.table.purge": "TRUE"}})
    assert listed.drop_backup(BACKUP, "r1", "sales.events")
    alter, drop = listed.told
    assert "SET TBLPROPERTIES ('external.table.purge'='false', 'discover.partitions'='false')" in alter
    assert drop == "DROP TABLE IF EXISTS `sales`.`__bkp_events_1`"


@pytest.mark.parametrize(("run_id", "source"), [("r2", "sales.events"), ("r1", "sales.events_2p")])
def test_what_is_not_the_backup_of_exactly_this_run_is_not_dropped(run_id: str, source: str) -> None:
    listed = _Listed({BACKUP.table: of("r1", "sales.events")})
    with pytest.raises(MetastoreError, match="is not dropped"):
        listed.drop_backup(BACKUP, run_id, source)
    assert listed.told == []


@pytest.mark.parametrize(
    "kind",
    [
        "int) STORED AS PARQUET LOCATION 'hdfs://nn/finance' --",
        "string) || java_method('javax.naming.InitialContext', 'doLookup', 'ldap://x/y'",
        "struct<a:int>) --",
        "int -- ",
        "int /* */",
        "",
    ],
)
def test_the_type_of_a_column_is_a_type(kind: str) -> None:
    """Spark reads the schema from a property, which whoever may alter the table may set."""
    with pytest.raises(MetastoreError, match="is not a Hive type"):
        backup_ddl(BACKUP, replace(SOURCE, columns=(("id", kind),)), "r1", "hdfs://nn/w")
    units = [Unit((("p", "1"),), "hdfs://nn/w/p=1")]
    with pytest.raises(MetastoreError, match="is not a Hive type"):
        matching_units(_NO_SESSION, replace(SOURCE, partition_types=(kind,)), units, "p > 0")


@pytest.mark.parametrize(
    "kind",
    ["bigint", "varchar(10)", "decimal(38,18)", "map<string,array<struct<a:char(3),b_c:decimal(5,2)>>>"],
)
def test_types_of_all_kinds_are_types(kind: str) -> None:
    assert kind in backup_ddl(BACKUP, replace(SOURCE, columns=(("id", kind),)), "r1", "hdfs://nn/w")


@pytest.mark.parametrize(
    ("kind", "declared"),
    [
        ("void", "string"),
        ("timestamp_ntz", "timestamp"),
        ("array<void>", "array<string>"),
        ("struct<void:int,at:timestamp_ntz>", "struct<void:int,at:timestamp>"),
        ("struct<a_void:void>", "struct<a_void:string>"),
    ],
)
def test_types_that_no_statement_can_declare_cost_no_backup_table(kind: str, declared: str) -> None:
    """Hive gives the type `void` to a column of `SELECT null`; Spark's setting timestampType renames TIMESTAMP."""
    assert f"`id` {declared})" in backup_ddl(
        BACKUP, replace(SOURCE, columns=(("id", kind),)), "r1", "hdfs://nn/w"
    )


_ADAPTERS = Path(sql.__file__).parents[1]
#: These use the session that is made for SQL text; all others write constants.
_IN_STATEMENT_SESSION = {
    *(f"hadoop/{name}.py" for name in ("metastore", "metastore_entries", "partition_condition")),
    "native/statements.py",
}
#: An array of integers, by which rows are sent to tasks.
_NUMBERS = {"F.expr(key)"}


@pytest.mark.parametrize(
    "path", sorted(_ADAPTERS.rglob("*.py")), ids=lambda path: str(path.relative_to(_ADAPTERS))
)
def test_text_of_others_is_parsed_by_the_session_for_sql_text_only(path: Path) -> None:
    if str(path.relative_to(_ADAPTERS)) in _IN_STATEMENT_SESSION:
        return
    calls = [
        node
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in TAKES_TEXT
    ]
    foreign = [call for call in calls if not all(map(is_constant, call.args))]
    assert [text for text in map(ast.unparse, foreign) if text not in _NUMBERS] == []


def test_the_formats_run_their_statements_in_that_session() -> None:
    tree = ast.parse((_ADAPTERS / "native" / "spark_format.py").read_text())
    calls = [ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Call)]
    assert "statement_session(self._spark)" in calls
    assert [call for call in calls if call.startswith("Statements(")] == [
        "Statements(self._session, catalog, facts)"
    ]


def test_the_metastore_runs_its_statements_in_that_session() -> None:
    tree = ast.parse((_ADAPTERS / "hadoop" / "metastore.py").read_text())
    set_ = [
        ast.unparse(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "self._spark"
    ]
    assert set_ == ["statement_session(spark)"]
    callers = {
        ast.unparse(node.func.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "sql"
    }
    assert callers == {"self._spark"}
