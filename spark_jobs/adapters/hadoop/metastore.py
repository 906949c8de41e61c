"""The Hive metastore: it is read through Spark's external catalog, and backup tables are changed by SQL."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from typing import Any

from pyspark.sql import SparkSession

from spark_jobs.adapters.hadoop.file_system import HadoopFileSystem
from spark_jobs.adapters.hadoop.java_answers import java_json
from spark_jobs.adapters.hadoop.locations import Locations, decode_location
from spark_jobs.adapters.hadoop.metastore_connection import connect
from spark_jobs.adapters.hadoop.metastore_entries import Entry, MetastoreEntries, is_read_by_classes
from spark_jobs.adapters.hadoop.metastore_errors import MetastoreError, metastore_errors
from spark_jobs.adapters.hadoop.metastore_parameters import MetastoreParameters
from spark_jobs.adapters.hadoop.partition_condition import matching_units
from spark_jobs.adapters.hadoop.spark_descriptions import facts_by_spark
from spark_jobs.adapters.hadoop.sql import (
    RUN_PROPERTY,
    SOURCE_PROPERTY,
    backup_ddl,
    backup_properties,
    partition_clause,
    properties_clause,
    qualified,
)
from spark_jobs.adapters.spark.sessions import active, statement_session
from spark_jobs.core.rules.eligibility import Storage, TableFacts
from spark_jobs.core.values.ddl import partition_spec
from spark_jobs.core.values.model import DEFAULT_PARTITION, TableName, Unit
from spark_jobs.core.values.once import once
from spark_jobs.core.values.parameters import ParameterChange, UnitParameters

_ADD_BATCH = 500


class Metastore:
    """Reads tables and partitions in bulk, and creates and drops backup tables."""

    #: Tables with a file for the schema. Spark must not describe them, and so must run no SQL on them.
    _with_schema_file: frozenset[TableName] = frozenset()

    def __init__(self, spark: SparkSession, fs: HadoopFileSystem) -> None:
        self._spark = statement_session(spark)
        self._locations = Locations(fs.qualify)
        jvm: Any = spark._jvm
        self._mapper = jvm.com.fasterxml.jackson.databind.ObjectMapper()
        self._mapper.registerModule(jvm.com.fasterxml.jackson.module.scala.DefaultScalaModule())
        #: The table that was looked up last, and its entry, until the table is read.
        self._looked_up: tuple[TableName, Entry] | None = None

    @cached_property
    def _uris(self) -> str:
        self._spark._jsparkSession.sharedState()  # it reads hive-site.xml
        return str(self._spark._jsc.hadoopConfiguration().get("hive.metastore.uris") or "")

    @once
    def _catalog(self) -> Any:
        """Return Spark's catalog, which connects to the metastore when it is first asked for."""
        with self._errors("cannot connect to the metastore"):
            return connect(self._spark)

    @cached_property
    def _entries(self) -> MetastoreEntries:
        return MetastoreEntries(self._spark, self._catalog, self._mapper, self._locations.qualified)

    @cached_property
    def _parameters(self) -> MetastoreParameters:
        return MetastoreParameters(
            self._spark._jvm, self._entries.client, self._mapper, self._locations.qualified
        )

    def _errors(self, what: str) -> AbstractContextManager[None]:
        return metastore_errors(what, self._uris)

    def database_exists(self, database: str) -> bool:
        with self._errors(f"cannot look up database {database}"):
            return bool(self._catalog.databaseExists(database))

    def table_exists(self, table: TableName) -> bool:
        with self._errors(f"cannot look up {table}"):
            entry = self._entries.table(table)
        self._looked_up = (table, entry) if entry is not None else None
        return entry is not None

    def databases(self) -> list[str]:
        """Return the names of all databases."""
        with self._errors("cannot list the databases"):
            return list(self._json(self._catalog.listDatabases()))

    def tables(self, database: str) -> list[str]:
        with self._errors(f"cannot list the tables of {database}"):
            return list(self._json(self._catalog.listTables(database)))

    def table(self, name: TableName) -> TableFacts:
        """Return the description of a table.

        One that Spark cannot read is described by its entry. No storage handler is loaded, and no schema file read.

        Raises:
            Refusal: it is a materialized view or an index table of Hive, which Spark cannot read.
            MetastoreError: the table does not exist, or the metastore does not answer.
        """
        looked_up, self._looked_up = self._looked_up, None
        entry = looked_up[1] if looked_up and looked_up[0] == name else self._entry(name)
        if is_read_by_classes(entry):  # guard: handlers_not_loaded
            return self._entries.facts(name, entry)
        if self._entries.names_schema_file(entry):  # guard: schema_files_not_read
            self._with_schema_file |= {name}
            return self._entries.facts_without_schema_file(name, entry)
        try:
            # Spark parses the types of columns by the settings of the active session.
            with self._errors(f"cannot read {name}"), active(self._spark):
                raw = self._catalog.getTable(name.database, name.table)
                return facts_by_spark(name, raw, self._json, self._storage)
        except MetastoreError as error:
            if not error.answered:  # guard: unreadable_is_no_outage
                raise
            return self._entries.unreadable_facts(name, entry, str(error))

    def properties(self, name: TableName) -> dict[str, str]:
        return dict(self._entry(name)["parameters"] or {})

    def _entry(self, name: TableName) -> Entry:
        """Return the entry of a table. Raise MetastoreError if it does not exist."""
        with self._errors(f"cannot read {name}"):
            entry = self._entries.table(name)
        if entry is None:
            raise MetastoreError(f"cannot read {name}: it does not exist")
        return entry

    def partitions(self, facts: TableFacts) -> list[tuple[Unit, Storage]]:
        """Return all partitions with their own locations, in the order of their values.

        SQL text is not used, because it confuses partitions: for an INT key, PARTITION (p='01') selects p=1. Nor is
        Spark's catalog: it asks for all of them by one call, reads none if one has no location, and opens the file
        that a schema is in.
        """
        name = TableName.parse(facts.name)
        with self._errors(f"cannot list the partitions of {name}"):  # guard: metastore_fails_closed
            listed = self._entries.partitions(name, facts.partition_keys)
        listed.sort(key=lambda each: [each[0][key] for key in facts.partition_keys])
        return [(_unit(spec, facts.partition_keys, s.location), s) for spec, s in listed]

    def units(self, facts: TableFacts) -> list[tuple[Unit, Storage]]:
        """Return the units that the metastore has now: the partitions, or the table itself."""
        if facts.partition_keys:
            return self.partitions(facts)
        return [(Unit((), facts.storage.location), facts.storage)]

    def matching(self, facts: TableFacts, units: Sequence[Unit], where: str) -> list[Unit]:
        """Return the units that match an SQL condition on the partition keys. See `partition_condition`."""
        return matching_units(self._spark, facts, units, where)

    def _storage(self, row: dict[str, Any]) -> Storage:
        uri = row["locationUri"]
        location = self._locations.qualified(decode_location(uri)) if uri else ""
        return Storage(location, row["inputFormat"], row["serde"], row["properties"])

    def _json(self, scala: Any) -> Any:
        return java_json(self._mapper, scala)

    def create_backup(
        self,
        backup: TableName,
        source: TableFacts,
        run_id: str,
        location: str,
        units: Sequence[tuple[Unit, str]],
    ) -> None:
        """Create an external table over the originals of a run, with minimal DDL.

        The partition keys are STRING, because SQL text of an INT key turns `01` into `1`.

        Args:
            units: units with the locations of their originals. These must exist: the metastore creates a directory
                that does not, and a later rename to its path would fail.
        """
        self._check_for_sql(TableName.parse(source.name), f"cannot register {backup}")
        with self._errors(f"cannot register {backup}"):
            self._spark.sql(backup_ddl(backup, source, run_id, location))
            for start in range(0, len(units) if source.partition_keys else 0, _ADD_BATCH):
                clauses = " ".join(
                    partition_clause(unit, where) for unit, where in units[start : start + _ADD_BATCH]
                )
                self._spark.sql(f"ALTER TABLE {qualified(backup)} ADD IF NOT EXISTS {clauses}")

    def backup_tables(self, run_id: str, database: str, source: str) -> list[TableName]:
        """Return the backup tables of a run of a table. They are found by their properties, never by their names."""
        rows = []
        for table in self.tables(database):
            name = TableName(database, table)
            properties = self.properties(name)
            # guard: backup_by_properties
            if properties.get(RUN_PROPERTY) == run_id and properties.get(SOURCE_PROPERTY) == source:
                rows.append(name)
        return rows

    def drop_backup(self, backup: TableName, run_id: str, source: str) -> bool:
        """Drop a backup table, but not its files. Return False if it does not exist.

        It is dropped only if it is external and its properties name this run and this table. Purge is switched off
        directly before, so the metastore deletes no file.

        Raises:
            MetastoreError: it is another table, or the metastore does not answer.
        """
        if not self.table_exists(backup):
            return False
        facts = self.table(backup)
        ours = (
            facts.properties.get(RUN_PROPERTY) == run_id and facts.properties.get(SOURCE_PROPERTY) == source
        )
        if not ours or facts.kind != "EXTERNAL":  # guard: drop_own_backup_only
            raise MetastoreError(
                f"{backup} is not the backup table of run {run_id} of {source}; it is not dropped. Check it, and drop"
                " it yourself if it is not needed"
            )
        with self._errors(f"cannot drop {backup}"):
            if backup in self._with_schema_file:
                self._entries.drop(backup)
                return True
            properties = properties_clause(backup_properties(facts))
            # guard: no_purge_before_drop
            self._spark.sql(f"ALTER TABLE {qualified(backup)} SET TBLPROPERTIES ({properties})")
            self._spark.sql(f"DROP TABLE IF EXISTS {qualified(backup)}")
        return True

    def drop_backup_partitions(self, backup: TableName, units: Sequence[Unit]) -> None:
        """Drop the partitions of units whose originals were moved. The table is external, so no file is deleted."""
        self._check_for_sql(backup, f"cannot update {backup}")
        with self._errors(f"cannot update {backup}"):
            for start in range(0, len(units), _ADD_BATCH):
                clauses = ", ".join(partition_spec(unit.spec) for unit in units[start : start + _ADD_BATCH])
                self._spark.sql(f"ALTER TABLE {qualified(backup)} DROP IF EXISTS {clauses}")

    def _check_for_sql(self, name: TableName, what: str) -> None:
        """Raise MetastoreError for a table that Spark must not describe, because a file would be read."""
        if name in self._with_schema_file:  # guard: no_sql_on_schema_files
            raise MetastoreError(
                f"{what}: its property avro.schema.url names a file, which Spark would read with the rights of this"
                " job, whoever else may read it. Give the schema as avro.schema.literal, or use another engine"
            )

    def analyze(self, name: TableName, unit: Unit) -> None:
        """Run ANALYZE TABLE ... COMPUTE STATISTICS on one unit."""
        self._check_for_sql(name, f"cannot compute statistics of {name}")
        where = f" {partition_spec(unit.spec)}" if unit.spec else ""
        with self._errors(f"cannot compute statistics of {name}"):
            self._spark.sql(f"ANALYZE TABLE {qualified(name)}{where} COMPUTE STATISTICS")

    def parameters(self, facts: TableFacts, units: Sequence[Unit]) -> dict[str, UnitParameters]:
        """Return the parameters of some units, and their locations, by unit key."""
        with self._errors(f"cannot read the parameters of {facts.name}"):
            return self._parameters.read(TableName.parse(facts.name), units)

    def set_parameters(self, facts: TableFacts, changes: Sequence[ParameterChange]) -> list[Unit]:
        """Change parameters of some units, and nothing else. Return the units that were left alone."""
        with self._errors(f"cannot set the parameters of {facts.name}"):
            return self._parameters.write(TableName.parse(facts.name), changes)


def _unit(spec: dict[str, str], keys: Sequence[str], location: str) -> Unit:
    values = tuple((key, None if spec[key] == DEFAULT_PARTITION else spec[key]) for key in keys)
    return Unit(values, location)
