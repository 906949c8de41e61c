"""Parts of SQL statements, with names and values quoted, and the statements that messages name."""

from __future__ import annotations

import re

from spark_jobs.core.messages.printable import shown
from spark_jobs.core.values.model import DEFAULT_PARTITION, Spec

_HIVE, _SPARK = "hive.variable.substitute", "spark.sql.variable.substitute"
#: A name that Hive takes without quotes: it may not begin with an underscore, as those of backup tables do.
_NAME = re.compile(r"[A-Za-z0-9]\w*\Z", re.ASCII)
#: What a shell for SQL acts on before it parses a literal: variables, the end of a statement, the end of a line.
_SHELL = re.compile(r"\$(?=\{)|[;\x00-\x1f\x7f]")
#: What it acts on in a name too, although that is quoted: backticks are no quotes for Beeline and Hive's shell.
_ENDS = re.compile(r"[;'\"\\\x00-\x1f\x7f\u2028\u2029]|--|/\*|^!")


def literal(text: str) -> str:
    """Return a text as a literal, which means the same in the jobs' own session, and in the shells of Hive and Spark.

    Both read octal escapes alike. Hive reads what Spark takes for Unicode escapes as decimal digits.
    """
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")  # guard: sql_quoting
    escaped = _SHELL.sub(lambda found: f"\\{ord(found[0]):03o}", escaped)  # guard: sql_shell_quoting
    return f"'{escaped}'"


def identifier(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"  # guard: sql_names_quoted


def table_name(name: str) -> str:
    """Return the name of a table, DATABASE.TABLE, for a statement."""
    # guard: names_of_tables_quoted
    return ".".join(part if _NAME.match(part) else identifier(part) for part in name.split("."))


def partition_spec(spec: Spec) -> str:
    values = ", ".join(f"{identifier(k)}={literal(DEFAULT_PARTITION if v is None else v)}" for k, v in spec)
    return f"PARTITION ({values})"


def set_location(table: str, spec: Spec, location: str) -> str:
    """Return the statement that points a partition at another directory. It changes no file."""
    return _statement(table, spec, f"{partition_spec(spec)} SET LOCATION {literal(location)}")


def add_partition(table: str, spec: Spec, location: str) -> str:
    """Return the statement that adds a partition. The metastore creates a directory that does not exist."""
    return _statement(table, spec, f"ADD {partition_spec(spec)} LOCATION {literal(location)}")


def repair(table: str) -> str:
    """Return the statement that registers the directories of partitions that the metastore does not have."""
    return _statement(table, (), "", "MSCK REPAIR")


def drop(table: str, spec: Spec = ()) -> str:
    """Return the statement that drops a table, or one of its partitions."""
    if not spec:
        return _statement(table, (), "", "DROP")
    return _statement(table, spec, f"DROP {partition_spec(spec)}")


def set_property(table: str, key: str, value: str) -> str:
    """Return the statement that sets a property of a table."""
    return _statement(table, (), f"SET TBLPROPERTIES ({literal(key)}={literal(value)})")


def _statement(table: str, spec: Spec, rest: str, verb: str = "ALTER") -> str:
    """Return a statement for a person.

    A name cannot be escaped. So the shell must be told of a variable in it, and a statement with a name that the shell
    would take for the end of the statement is not shown: what follows would be executed.
    """
    names = [*table.split("."), *(key for key, _ in spec)]
    ending = next((name for name in names if _ENDS.search(name)), None)
    if ending is not None:  # guard: names_in_statements
        return (
            f"(no statement is shown, because shells for SQL act on the name {shown(ending)}: let a program send an"
            f" {verb} TABLE as one statement)"
        )
    text = f"{verb} TABLE {table_name(table)} {rest}".rstrip()
    if "${" not in text:  # guard: variables_pointed_out
        return text
    return f"{text} (before it, SET {_HIVE}=false, or in Spark SET {_SPARK}=false)"
