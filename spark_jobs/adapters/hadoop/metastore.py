"""The Hive metastore, by Spark's external catalog for reading, and by SQL for backup tables."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from spark_jobs.adapters.hadoop.file_system import HadoopFileSystem, decode_location
from spark_jobs.adapters.hadoop.metastore_errors import MetastoreError, metastore_errors
from spark_jobs.core.eligibility import Storage, TableFacts
from spark_jobs.core.errors import Refusal, UsageError
from spark_jobs.core.formats.registry import FORMATS
from spark_jobs.core.model import DEFAULT_PARTITION, TableName, Unit
from spark_jobs.core.refusals import RefusalCode

#: Types as they may stand in a statement; a struct's fields are plain names.
_TYPE = re.compile(r"(?:(?:var)?char\(\d+\)|decimal\(\d+,\d+\)|[\w<>,:])+\Z", re.IGNORECASE)
#: What Spark says of a table of a kind that only Hive knows (3.3 to 4.x).
_OTHER_KIND = re.compile(r"[Hh]ive (materialized view|index table)")
BACKUP_PROPERTIES = {"external.table.purge": "false", "discover.partitions": "false"}
RUN_PROPERTY = "lakekeeper.run_id"
SOURCE_PROPERTY = "lakekeeper.source_table"
_ADD_BATCH = 500


class Metastore:
    """Reads tables and partitions in bulk, and creates and drops backup tables."""

    def __init__(self, spark: SparkSession, fs: HadoopFileSystem) -> None:
        self._spark = spark
        self._fs = fs
        jvm = spark._jvm
        self._catalog = spark._jsparkSession.sharedState().externalCatalog()
        self._uris = str(spark._jsc.hadoopConfiguration().get("hive.metastore.uris") or "")
        self._none = jvm.scala.Option.empty()
        self._mapper = jvm.com.fasterxml.jackson.databind.ObjectMapper()
        self._mapper.registerModule(jvm.com.fasterxml.jackson.module.scala.DefaultScalaModule())

    def _errors(self, what: str) -> AbstractContextManager[None]:
        return metastore_errors(what, self._uris)

    def database_exists(self, database: str) -> bool:
        with self._errors(f"cannot look up database {database}"):
            return bool(self._catalog.databaseExists(database))

    def table_exists(self, table: TableName) -> bool:
        with self._errors(f"cannot look up {table}"):
            return bool(self._catalog.tableExists(table.database, table.table))

    def tables(self, database: str) -> list[str]:
        with self._errors(f"cannot list the tables of {database}"):
            return list(self._json(self._catalog.listTables(database)))

    def table(self, name: TableName) -> TableFacts:
        """Return what the metastore has of a table.

        Raises:
            Refusal: it is a materialized view, or an index, of Hive, which Spark cannot read.
            MetastoreError: there is no such table, or no answer.
        """
        try:
            with self._errors(f"cannot read {name}"):
                raw = self._catalog.getTable(name.database, name.table)
                return self._facts(name, raw)
        except MetastoreError as error:
            kind = _OTHER_KIND.search(str(error))
            if kind is None:
                raise
            raise Refusal(RefusalCode.VIEW, f"{name} is a {kind[1]} of Hive") from None

    def properties(self, name: TableName) -> dict[str, str]:
        with self._errors(f"cannot read {name}"):
            return dict(self._json(self._catalog.getTable(name.database, name.table).properties()))

    def partitions(self, facts: TableFacts) -> list[tuple[Unit, Storage]]:
        """Return all partitions with their own locations, by one call.

        SQL text would confuse partitions: on an INT key, PARTITION (p='01') selects p=1.
        """
        name = TableName.parse(facts.name)
        with self._errors(f"cannot list the partitions of {name}"):  # guard: metastore_fails_closed
            found = self._catalog.listPartitions(name.database, name.table, self._none)
            rows = self._json(found)
        return [
            (_unit(row["spec"], facts.partition_keys, s.location), s)
            for row in rows
            for s in [self._storage(row["storage"])]
        ]

    def units(self, facts: TableFacts) -> list[tuple[Unit, Storage]]:
        """Return the units that the metastore has now: the partitions, or the table itself."""
        return (
            self.partitions(facts)
            if facts.partition_keys
            else [(Unit((), facts.storage.location), facts.storage)]
        )

    def matching(self, facts: TableFacts, units: Sequence[Unit], where: str) -> list[Unit]:
        """Return the units that satisfy a SQL condition on the partition keys, with the values cast to their types."""
        if not facts.partition_keys:
            raise UsageError(f"{facts.name} has no partitions, so where = '{where}' cannot select any")
        names = [f"v{i}" for i in range(len(facts.partition_keys))]
        typed = [
            f"CAST({name} AS {_type(kind)}) AS {_name(key)}"
            for name, key, kind in zip(names, facts.partition_keys, facts.partition_types)
        ]
        try:
            # The alias keeps the condition from reaching columns below it that are none of the table's.
            frame = self._values(units, names).selectExpr("position", *typed).alias("partitions")
            return [units[row.position] for row in frame.filter(where).collect()]
        except Exception as error:
            keys = ", ".join(facts.partition_keys)
            raise UsageError(
                f"where = '{where}' is no condition on {keys}: {str(error).splitlines()[0]}"
            ) from None

    def _values(self, units: Sequence[Unit], names: Sequence[str]) -> DataFrame:
        """Return the partition values as a table, by a literal: createDataFrame would start Python on the executors."""
        rows = [
            {"position": position, **dict(zip(names, (value for _, value in unit.spec)))}
            for position, unit in enumerate(units)
        ]
        schema = "array<struct<" + ",".join(["position:int", *(f"{name}:string" for name in names)]) + ">>"
        parsed = F.explode(F.from_json(F.lit(json.dumps(rows)), schema)).alias("row")
        return self._spark.range(1).select(parsed).select("row.*")

    def _facts(self, name: TableName, raw: Any) -> TableFacts:
        schema = json.loads(raw.schema().json())["fields"]
        keys = tuple(self._json(raw.partitionColumnNames()))
        bucket = raw.bucketSpec()
        location = raw.storage().locationUri()
        storage = (
            self._storage(self._json(raw.storage())) if location.isDefined() else Storage("", None, None)
        )
        return TableFacts(
            name=str(name),
            kind=raw.tableType().name(),
            storage=storage,
            provider=raw.provider().get() if raw.provider().isDefined() else None,
            properties=self._json(raw.properties()),
            columns=tuple((f["name"], _hive_type(f)) for f in schema if f["name"] not in keys),
            partition_keys=keys,
            partition_types=tuple(_hive_type(f) for f in schema if f["name"] in keys),
            bucketed=bucket.isDefined(),
            sorted_by=tuple(self._json(bucket.get().sortColumnNames())) if bucket.isDefined() else (),
            unsupported=tuple(self._json(raw.unsupportedFeatures())),
        )

    def _storage(self, row: dict[str, Any]) -> Storage:
        location = self._fs.qualify(decode_location(row["locationUri"])) if row["locationUri"] else ""
        return Storage(location, row["inputFormat"], row["serde"], row["properties"])

    def _json(self, scala: Any) -> Any:
        return json.loads(self._mapper.writeValueAsString(scala))

    def create_backup(
        self,
        backup: TableName,
        source: TableFacts,
        run_id: str,
        location: str,
        units: Sequence[tuple[Unit, str]],
    ) -> None:
        """Create an external table with minimal DDL over the originals of each unit.

        The locations must exist: the metastore creates a directory that it misses, and a later rename to it would fail.
        The partition keys are STRING, because SQL text of an INT key turns `01` into `1`.
        """
        with self._errors(f"cannot register {backup}"):
            self._spark.sql(_backup_ddl(backup, source, run_id, location))
            for start in range(0, len(units) if source.partition_keys else 0, _ADD_BATCH):
                clauses = " ".join(
                    _partition_clause(unit, where) for unit, where in units[start : start + _ADD_BATCH]
                )
                self._spark.sql(f"ALTER TABLE {_quoted(backup)} ADD IF NOT EXISTS {clauses}")

    def backup_tables(self, run_id: str, database: str, source: str) -> list[TableName]:
        """Return the backup tables of this run of this table, by their properties and never by their names."""
        found = []
        for table in self.tables(database):
            name = TableName(database, table)
            properties = self.properties(name)
            # guard: backup_by_properties
            if properties.get(RUN_PROPERTY) == run_id and properties.get(SOURCE_PROPERTY) == source:
                found.append(name)
        return found

    def drop_backup(self, backup: TableName, run_id: str, source: str) -> bool:
        """Drop a backup table without its files. Return False if it does not exist.

        It is dropped only if its properties name this run and this table, and it is external. Purge is switched off
        directly before.
        """
        if not self.table_exists(backup):
            return False
        facts = self.table(backup)
        ours = (
            facts.properties.get(RUN_PROPERTY) == run_id and facts.properties.get(SOURCE_PROPERTY) == source
        )
        if not ours or facts.kind != "EXTERNAL":  # guard: drop_own_backup_only
            raise MetastoreError(f"{backup} is not the backup of run {run_id} of {source}; it is left alone")
        with self._errors(f"cannot drop {backup}"):
            # guard: no_purge_before_drop
            self._spark.sql(
                f"ALTER TABLE {_quoted(backup)} SET TBLPROPERTIES ({_properties(BACKUP_PROPERTIES)})"
            )
            self._spark.sql(f"DROP TABLE IF EXISTS {_quoted(backup)}")
        return True

    def drop_backup_partitions(self, backup: TableName, units: Sequence[Unit]) -> None:
        """Drop units of a backup table whose originals were moved. The table is external, so no file is deleted."""
        with self._errors(f"cannot update {backup}"):
            for start in range(0, len(units), _ADD_BATCH):
                clauses = ", ".join(_partition_spec(unit) for unit in units[start : start + _ADD_BATCH])
                self._spark.sql(f"ALTER TABLE {_quoted(backup)} DROP IF EXISTS {clauses}")

    def analyze(self, name: TableName, unit: Unit) -> None:
        """Run ANALYZE TABLE ... COMPUTE STATISTICS on one unit."""
        where = f" {_partition_spec(unit)}" if unit.spec else ""
        with self._errors(f"cannot compute statistics of {name}"):
            self._spark.sql(f"ANALYZE TABLE {_quoted(name)}{where} COMPUTE STATISTICS")


def _unit(spec: dict[str, str], keys: Sequence[str], location: str) -> Unit:
    values = tuple((key, None if spec[key] == DEFAULT_PARTITION else spec[key]) for key in keys)
    return Unit(values, location)


def _hive_type(column: dict[str, Any]) -> str:
    """Return the Hive type of a field of a Spark schema. CHAR and VARCHAR are in its metadata."""
    from pyspark.sql.types import StructField

    raw = column.get("metadata", {}).get("__CHAR_VARCHAR_TYPE_STRING")
    return str(raw or StructField.fromJson(column).dataType.simpleString())


def _type(kind: str) -> str:
    """Return a type for a statement. Raise MetastoreError for any other text.

    Spark reads the schema from a property of the table, which the table's owner can set.
    """
    if not _TYPE.match(kind):  # guard: types_are_types
        raise MetastoreError(f"{kind!r} is no type that can stand in a statement")
    return kind


def _backup_ddl(backup: TableName, source: TableFacts, run_id: str, location: str) -> str:
    columns = ", ".join(f"{_name(name)} {_type(kind)}" for name, kind in source.columns)
    # guard: backup_keys_are_strings
    keys = ", ".join(f"{_name(key)} STRING" for key in source.partition_keys)
    partitioned = f" PARTITIONED BY ({keys})" if keys else ""
    stored, more = _stored(source)
    # guard: backup_own_properties
    properties = {**BACKUP_PROPERTIES, RUN_PROPERTY: run_id, SOURCE_PROPERTY: source.name, **more}
    # guard: backup_own_definition
    return (
        f"CREATE EXTERNAL TABLE {_quoted(backup)} ({columns}){partitioned} {stored}"
        f" LOCATION {_literal(location)} TBLPROPERTIES ({_properties(properties)})"
    )


def _stored(source: TableFacts) -> tuple[str, dict[str, str]]:
    """Return the clause that says how the files are read, and the table properties that it needs."""
    storage = source.storage
    spec = FORMATS[storage.format or ""]
    if spec.output_format is None:
        return f"STORED AS {(storage.format or '').upper()}", {}
    serde = {key: value for key, value in storage.properties.items() if key != "serialization.format"}
    serde = {**serde, "serialization.format": storage.properties.get("serialization.format", "1")}
    needed = {key: value for key, value in source.properties.items() if key.startswith(spec.table_properties)}
    return (
        f"ROW FORMAT SERDE {_literal(storage.serde or '')} WITH SERDEPROPERTIES ({_properties(serde)})"
        f" STORED AS INPUTFORMAT {_literal(storage.input_format or '')}"
        f" OUTPUTFORMAT {_literal(spec.output_format)}",
        needed,
    )


def _partition_clause(unit: Unit, location: str) -> str:
    return f"{_partition_spec(unit)} LOCATION {_literal(location)}"


def _partition_spec(unit: Unit) -> str:
    values = ", ".join(f"{_name(k)}={_literal(DEFAULT_PARTITION if v is None else v)}" for k, v in unit.spec)
    return f"PARTITION ({values})"


def _properties(properties: dict[str, str]) -> str:
    return ", ".join(f"{_literal(k)}={_literal(v)}" for k, v in properties.items())


def _literal(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")  # guard: sql_quoting
    return f"'{escaped}'"


def _name(identifier: str) -> str:
    return "`" + identifier.replace("`", "``") + "`"


def _quoted(table: TableName) -> str:
    return f"{_name(table.database)}.{_name(table.table)}"
