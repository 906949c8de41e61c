"""Parts of SQL statements, with names and values quoted, and the statements that messages name."""

from __future__ import annotations

from spark_jobs.core.model import DEFAULT_PARTITION, Spec


def literal(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")  # guard: sql_quoting
    return f"'{escaped}'"


def identifier(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def partition_spec(spec: Spec) -> str:
    values = ", ".join(f"{identifier(k)}={literal(DEFAULT_PARTITION if v is None else v)}" for k, v in spec)
    return f"PARTITION ({values})"


def set_location(table: str, spec: Spec, location: str) -> str:
    """Return the statement that points a partition at another directory. It changes no file."""
    return f"ALTER TABLE {table} {partition_spec(spec)} SET LOCATION {literal(location)}"


def add_partition(table: str, spec: Spec, location: str) -> str:
    """Return the statement that adds a partition. The metastore creates a directory that does not exist."""
    return f"ALTER TABLE {table} ADD {partition_spec(spec)} LOCATION {literal(location)}"
