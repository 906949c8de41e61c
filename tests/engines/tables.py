"""The tables that the engines read: who writes them, what Hive is told about them, and where their files are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

#: The database of all tables, of each metastore.
DATABASE = "engines"
#: Who writes the files.
HIVE, SPARK, SPARK_4, ARROW, CPP_ORC, FASTAVRO = (
    "Hive 3.1.3",
    "Spark 3.5",
    "Spark 4.3",
    "pyarrow",
    "pyorc (ORC's C++ library)",
    "fastavro",
)
#: Formats whose files have statistics, by which a reader skips what a condition excludes.
WITH_STATISTICS = ("PARQUET", "ORC")


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes:
        stored: the format, as the DDL names it.
        columns: their types by their names, after all changes of the schema; without partition keys.
        shown: what it is for, in a few words, for the page.
        keys: the partition keys.
        row_format: between the columns and the format in the DDL.
        default: it belongs to the default set of tests.
        created: the columns that it is created with, where others were added or changed later.
        of_one_format: all partitions have the format of the table, so that another metastore finds them by the
            directories alone.
    """

    name: str
    writer: str
    stored: str
    columns: Mapping[str, str]
    shown: str
    keys: Mapping[str, str] = field(default_factory=dict)
    properties: Mapping[str, str] = field(default_factory=dict)
    row_format: str = ""
    default: bool = False
    created: Mapping[str, str] = field(default_factory=dict)
    of_one_format: bool = True

    @property
    def qualified(self) -> str:
        return f"{DATABASE}.{self.name}"

    @property
    def all_columns(self) -> dict[str, str]:
        """The columns of `SELECT *`."""
        return {**self.columns, **self.keys}

    @property
    def has_statistics(self) -> bool:
        return self.stored in WITH_STATISTICS

    def ddl(self, root: Path, columns: Mapping[str, str] | None = None) -> str:
        """Return the statement that creates it over the directory of its name."""
        keys = f" PARTITIONED BY ({_columns(self.keys)})" if self.keys else ""
        properties = ", ".join(f"'{name}'='{value}'" for name, value in self.properties.items())
        return (
            f"CREATE EXTERNAL TABLE {self.qualified} ({_columns(columns or self.columns)}){keys} {self.row_format}"
            f" STORED AS {self.stored} LOCATION '{self.folder(root).as_uri()}'"
            f"{f' TBLPROPERTIES ({properties})' if properties else ''}"
        )

    def declare(self, root: Path) -> list[str]:
        """Return the statements that declare a table whose files are there, with its last columns."""
        found = [self.ddl(root)]
        return [*found, f"MSCK REPAIR TABLE {self.qualified}"] if self.keys else found

    def folder(self, root: Path) -> Path:
        return root / self.name


def _columns(columns: Mapping[str, str]) -> str:
    return ", ".join(f"`{name}` {kind}" for name, kind in columns.items())


def create_database(root: Path) -> str:
    """Return the statement that creates the database, in a metastore that has none of this name."""
    return f"CREATE DATABASE IF NOT EXISTS {DATABASE} LOCATION '{(root / 'database').as_uri()}'"


def by_name(tables: Sequence[Table]) -> dict[str, Table]:
    found = {table.name: table for table in tables}
    if len(found) != len(tables):
        raise ValueError("two tables have one name")
    return found


def largest_file(table: Table, root: Path) -> int:
    """Return the size of a file that some directory of the table has none larger than, and each has one as large.

    With it as the target size, a compaction in part leaves the largest file of each directory alone.
    """
    sizes: dict[Path, int] = {}
    for path in data_files(table.folder(root)):
        sizes[path.parent] = max(sizes.get(path.parent, 0), path.stat().st_size)
    return min(sizes.values())


def data_files(folder: Path) -> list[Path]:
    """Return the visible files below a folder that are not empty."""
    found = (path for path in folder.rglob("*") if path.is_file() and path.stat().st_size)
    return sorted(path for path in found if not _is_hidden(path.relative_to(folder)))


def _is_hidden(path: Path) -> bool:
    return any(part.startswith((".", "_")) for part in path.parts)
