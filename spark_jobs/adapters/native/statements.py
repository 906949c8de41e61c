"""SQL statements on the tables of one catalog of a format. Names are identifiers, and values literals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

from pyspark.sql import SparkSession

from spark_jobs.adapters.hadoop.java_errors import first_line, message_of
from spark_jobs.core.messages.errors import LakekeeperError, UnitChanged
from spark_jobs.core.rules.eligibility import TableFacts
from spark_jobs.core.values.ddl import identifier, literal
from spark_jobs.core.values.model import Spec, TableName

#: The types of keys by which a statement can select a partition, as a literal of the type.
_LITERALS: Mapping[str, Callable[[str], str]] = {
    "string": literal,
    "int": lambda text: str(int(text)),
    "bigint": lambda text: f"{int(text)}L",
    "date": lambda text: f"DATE {literal(text)}",
}
#: Words in the errors of formats by which another writer was faster.
_CONFLICTS = (
    *("CommitFailedException", "Found conflicting files", "Missing required files to delete"),
    *("onflicts during commits", "deletion conflicts detected", "Conflicts detected"),
)
#: And those by which a catalog has no such table.
_ABSENT = (
    *("NoSuchTableException", "NoSuchNamespaceException", "NoSuchDatabaseException"),
    *("TABLE_OR_VIEW_NOT_FOUND", "is not an Iceberg table"),
)


def can_be_selected(kinds: Sequence[str]) -> bool:
    """Tell whether partitions of keys of these types can be selected one by one."""
    return all(kind in _LITERALS for kind in kinds)


def condition(units: Sequence[Spec], kinds: Mapping[str, str]) -> str:
    """Return the condition on the keys that selects exactly some partitions."""
    return " OR ".join(f"({' AND '.join(_equals(k, v, kinds[k]) for k, v in unit)})" for unit in units)


def _equals(key: str, value: str | None, kind: str) -> str:
    name = identifier(key)
    return f"{name} IS NULL" if value is None else f"{name} = {_LITERALS[kind](value)}"


def timestamp(at: datetime) -> str:
    """Return a time as a literal."""
    return f"TIMESTAMP {literal(at.astimezone(timezone.utc).strftime('%Y-%m-%d %H:%M:%S+00:00'))}"


def longest(millis: int) -> timedelta:
    """Return a time in milliseconds; a property may say more of them than a `timedelta` has."""
    return (
        timedelta.max
        if millis > timedelta.max // timedelta(milliseconds=1)
        else timedelta(milliseconds=millis)
    )


class NoTable(LakekeeperError):
    """A catalog has no table of this name."""


class Statements:
    """The statements on one table.

    Args:
        spark: a session for SQL text, with the catalogs.
    """

    def __init__(self, spark: SparkSession, catalog: str, facts: TableFacts) -> None:
        self.spark = spark
        self._catalog = identifier(catalog)
        self.catalog = catalog
        self.facts = facts
        self.table = TableName.parse(facts.name)

    def name(self, suffix: str = "") -> str:
        """Return the name of the table, or of a table beside it whose name has a suffix."""
        parts = (self.table.database, f"{self.table.table}{suffix}")
        return ".".join((self._catalog, *map(identifier, parts)))

    def argument(self) -> str:
        """Return the name of the table as the argument of a procedure."""
        return literal(f"{identifier(self.table.database)}.{identifier(self.table.table)}")

    def select(self, *columns: str, of: str = "", where: str = "", version: str | None = None) -> list[Any]:
        """Return columns of a table.

        Args:
            columns: SQL expressions.
            of: what follows the quoted name, such as `.snapshots`; of a name with a suffix, the suffix: `$files`.
            where: an SQL condition.
            version: the number of a commit.
        """
        table = self.name() + of if of.startswith(".") else self.name(of)
        at = f" VERSION AS OF {int(version)}" if version else ""
        condition = f" WHERE {where}" if where else ""
        # Expressions are constants of the adapters with quoted names.
        return self.rows(f"SELECT {', '.join(columns)} FROM {table}{at}{condition}")  # noqa: S608

    def rows(self, sql: str) -> list[Any]:
        """Return the rows of a query."""
        found: list[Any] = self.run(lambda: self.spark.sql(sql).collect())
        return found

    def call(self, procedure: str, **arguments: str) -> None:
        """Call a procedure of the catalog.

        Args:
            arguments: SQL expressions by the names of the parameters.
        """
        given = ", ".join(f"{name} => {value}" for name, value in arguments.items())
        self.rows(f"CALL {self._catalog}.{procedure}({given})")

    def run(self, act: Callable[[], Any]) -> Any:
        """Run something by Spark.

        Raises:
            NoTable: the catalog has no such table.
            UnitChanged: another writer has committed meanwhile.
            LakekeeperError: anything else went wrong.
        """
        try:
            return act()
        except LakekeeperError:
            raise
        except Exception as error:
            raise _kind_of(error)(f"{self.facts.name}: {first_line(message_of(error))}") from error


def _kind_of(error: Exception) -> type[LakekeeperError]:
    text = f"{type(error).__name__} {error}"
    kinds = ((_ABSENT, NoTable), (_CONFLICTS, UnitChanged))
    return next((kind for words, kind in kinds if any(word in text for word in words)), LakekeeperError)
