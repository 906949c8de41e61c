"""The SQL statements for backup tables and statistics. All names and values are quoted."""

from __future__ import annotations

import re

from spark_jobs.adapters.hadoop.metastore_errors import MetastoreError
from spark_jobs.core.formats.registry import FORMATS
from spark_jobs.core.rules.eligibility import TableFacts
from spark_jobs.core.values.ddl import identifier, literal, partition_spec
from spark_jobs.core.values.model import TableName, Unit

#: The types that are used in a statement. The names of a struct's fields have no special characters.
_TYPE = re.compile(r"(?:(?:var)?char\(\d+\)|decimal\(\d+,\d+\)|[\w<>,:])+\Z", re.IGNORECASE)
#: Types that no statement can declare, and those that read the same rows: a column of type `void` has none but NULL.
_DECLARED_AS = {"void": "string", "timestamp_ntz": "timestamp"}
#: Such a type, and not the name of a field, which a colon follows.
_UNDECLARED = re.compile(rf"\b({'|'.join(_DECLARED_AS)})\b(?!:)", re.IGNORECASE)
BACKUP_PROPERTIES = {"external.table.purge": "false", "discover.partitions": "false"}
#: With it a metastore of Hive 3 or newer lists no files, and removes the property (`updateTableStatsSlow`). One of
#: Hive 2 lists them, counts none, and removes it too.
_UNCOUNTED = {"DO_NOT_UPDATE_STATS": "true"}
RUN_PROPERTY = "lakekeeper.run_id"
SOURCE_PROPERTY = "lakekeeper.source_table"


def hive_type_name(kind: str) -> str:
    """Return a type for a statement. Raise MetastoreError for any other text.

    The text must be checked: Spark reads the schema from a table property, which the table's owner can set.
    """
    if not _TYPE.match(kind):  # guard: types_are_types
        raise MetastoreError(
            f"{kind!r} is not a Hive type that can be used in an SQL statement; check the table's schema"
        )
    return kind


def _declared(kind: str) -> str:
    """Return the type that a backup table declares for a column of this type."""
    return _UNDECLARED.sub(lambda found: _DECLARED_AS[found[1].lower()], hive_type_name(kind))


def backup_ddl(backup: TableName, source: TableFacts, run_id: str, location: str) -> str:
    """Return the statement that creates a backup table.

    Of the source's properties, the backup table has only those that readers of the files need.
    """
    columns = ", ".join(f"{identifier(name)} {_declared(kind)}" for name, kind in source.columns)
    # guard: backup_keys_are_strings
    keys = ", ".join(f"{identifier(key)} STRING" for key in source.partition_keys)
    partitioned = f" PARTITIONED BY ({keys})" if keys else ""
    stored, more = _stored(source)
    # guard: backup_own_properties
    properties = {**backup_properties(source), RUN_PROPERTY: run_id, SOURCE_PROPERTY: source.name, **more}
    # guard: backup_own_definition
    return (
        f"CREATE EXTERNAL TABLE {qualified(backup)} ({columns}){partitioned} {stored}"
        f" LOCATION {literal(location)} TBLPROPERTIES ({properties_clause(properties)})"
    )


def backup_properties(table: TableFacts) -> dict[str, str]:
    """Return the properties that a statement gives a backup table whose partition keys are those of this table.

    Of a table with partition keys the metastore counts no files, and would keep the property that says so.
    """
    return BACKUP_PROPERTIES if table.partition_keys else {**BACKUP_PROPERTIES, **_UNCOUNTED}


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
        f"ROW FORMAT SERDE {literal(storage.serde or '')} WITH SERDEPROPERTIES ({properties_clause(serde)})"
        f" STORED AS INPUTFORMAT {literal(storage.input_format or '')}"
        f" OUTPUTFORMAT {literal(spec.output_format)}",
        needed,
    )


def partition_clause(unit: Unit, location: str) -> str:
    return f"{partition_spec(unit.spec)} LOCATION {literal(location)}"


def properties_clause(properties: dict[str, str]) -> str:
    return ", ".join(f"{literal(k)}={literal(v)}" for k, v in properties.items())


def qualified(table: TableName) -> str:
    return f"{identifier(table.database)}.{identifier(table.table)}"
