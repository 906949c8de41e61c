"""The matrix: writers x columns. Each cell is a unit of small files that is compacted once.

Every column is a partition of one table for each file format. One column of each writer is a table without partitions
besides: what is different there (a hidden folder beside the table, a lease and a journal of its own) is the same for
all columns.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.fidelity import arrow, elsewhere, reading, spark_columns
from tests.fidelity.conditions import conditions, counts
from tests.spark.toolbox import Jobs, by_arrow

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COUNTS: Counter[str] = Counter()
#: The cells that Arrow has written, and why it has not written the others, in a run over Arrow.
BY_ARROW: Counter[str] = Counter()


@dataclass(frozen=True)
class Cell:
    """One column of one writer in one layout."""

    writer: str
    column: str
    layout: str

    @property
    def file_format(self) -> str:
        return "orc" if "orc" in self.writer else "parquet"

    @property
    def by_version(self) -> bool:
        """May the outcome differ from one version of Spark to the next?

        So it is with files that this Spark, or the other one, wrote itself, with calendars and with time zones. `all
        types` holds all common columns, so that each of them alone adds nothing there.
        """
        if self.layout == "flat":
            return False
        ours = self.writer == "spark orc" or self.writer.startswith("other") or self.column == "all types"
        return ours or bool(re.search("timestamp|date|int96", self.column))

    @property
    def slug(self) -> str:
        return re.sub(r"\W+", "_", f"{self.writer}_{self.column}")

    def __str__(self) -> str:
        return f"{self.writer}-{self.column}-{self.layout}"


def _writers() -> Iterator[tuple[str, str]]:
    yield from (
        ("arrow parquet", column) for column in [*arrow.ORDINARY, *arrow.ANCIENT, *arrow.PARQUET_ONLY]
    )
    yield from (("arrow orc", column) for column in [*arrow.ORDINARY, "ancient dates"])
    yield from (("spark parquet default", column) for column in spark_columns.COMMON)
    for mode in list(spark_columns.PARQUET_MODES)[1:]:
        yield from (
            (f"spark parquet {mode}", column) for column in ("timestamp", "decimal 9", "array", "nested")
        )
        yield f"spark parquet {mode}", "all types"
    for mode in spark_columns.ANCIENT:
        yield from ((f"spark parquet {mode}", column) for column in spark_columns.ANCIENT_COLUMNS)
    yield from (
        ("spark orc", column)
        for column in [*spark_columns.COMMON, "ancient date", "ancient timestamp 1895", "all types"]
    )
    yield from (("other parquet default", column) for column in ("all types", "timestamp"))
    for mode in ("legacy", "int96", "micros"):
        yield f"other parquet {mode}", "all types"
    for mode in spark_columns.ANCIENT:
        yield from ((f"other parquet {mode}", column) for column in spark_columns.ANCIENT_COLUMNS)
    yield from (("other orc", column) for column in ("all types", "ancient date"))
    for file_format in ("parquet", "orc"):
        yield from ((f"hive {file_format}", column) for column in spark_columns.HIVE)


def _cells() -> Iterator[Cell]:
    columns: dict[str, list[str]] = {}
    for writer, column in _writers():
        yield Cell(writer, column, "partitioned")
        columns.setdefault(writer, []).append(column)
    for writer, names in columns.items():
        yield Cell(writer, "all types" if "all types" in names else names[0], "flat")


CELLS = list(_cells())


@dataclass(frozen=True)
class Outcome:
    """What became of a cell, and what an independent reader found before and after.

    Attributes:
        found, found_after: how many rows Spark finds by each condition, in a run over Arrow.
    """

    unit: dict[str, Any]
    foreseen: dict[str, Any]
    before: tuple[list[str], dict[str, str]]
    after: tuple[list[str], dict[str, str]]
    untouched: bool
    found: dict[str, int]
    found_after: dict[str, int]


class Matrix:
    """Writes all cells, compacts them in one job, and reads them before and after."""

    def __init__(self, spark: SparkSession, jobs: Jobs, database: str, root: Path) -> None:
        self._spark, self._jobs, self._database, self._root = spark, jobs, database, root

    def play(self, cells: Sequence[Cell]) -> dict[Cell, Outcome]:
        self._cells = cells
        self._write()
        self._declare()
        before = {cell: self._seen(cell) for cell in self._cells}
        asked = {cell: self._conditions(cell) for cell in self._cells}
        found_before = {cell: self._counts(cell, asked[cell]) for cell in self._cells}
        foreseen = self._units("analyze")
        found = self._units("compact")
        after = {cell: self._seen(cell) for cell in self._cells}
        found_after = {cell: self._counts(cell, asked[cell]) for cell in self._cells}
        return {
            cell: Outcome(
                found[self._key(cell)],
                foreseen[self._key(cell)],
                before[cell][:2],
                after[cell][:2],
                before[cell][2] == after[cell][2],
                found_before[cell],
                found_after[cell],
            )
            for cell in self._cells
        }

    def _conditions(self, cell: Cell) -> list[str]:
        """Arrow writes other bounds and dictionaries than parquet-java, which Spark's files have before and after."""
        asked = by_arrow() and cell.file_format == "parquet"
        return conditions(self._spark, self.folder(cell), cell.file_format) if asked else []

    def _counts(self, cell: Cell, asked: list[str]) -> dict[str, int]:
        return counts(self._spark, self.folder(cell), cell.file_format, asked)

    def _units(self, verb: str) -> dict[tuple[str, str | None], dict[str, Any]]:
        report = self._jobs(verb, "--tables", ",".join(sorted({self._key(cell)[0] for cell in self._cells})))
        return {
            (table["table"], unit["unit"].get("cell")): unit
            for table in report["tables"]
            for unit in table["units"] or [{**table, "unit": {}}]
        }

    def _key(self, cell: Cell) -> tuple[str, str | None]:
        if cell.layout == "flat":
            return f"{self._database}.flat_{cell.slug}".lower(), None
        return f"{self._database}.parts_{cell.file_format}".lower(), cell.slug

    def folder(self, cell: Cell) -> Path:
        if cell.layout == "flat":
            return self._root / "flat" / cell.slug
        return self._root / f"parts_{cell.file_format}" / f"cell={cell.slug}"

    def _seen(self, cell: Cell) -> tuple[list[str], dict[str, str], dict[str, int]]:
        folder = self.folder(cell)
        names = {path.name: path.stat().st_mtime_ns for path in reading.data(folder)}
        return reading.rows(folder), reading.physical(folder), names

    def _write(self) -> None:
        by: dict[str, list[Cell]] = {"arrow": [], "spark": [], "other": [], "hive": []}
        for cell in self._cells:
            by[cell.writer.split()[0]].append(cell)
        for cell in by["arrow"]:
            self._write_by_arrow(cell)
        spark_columns.write(self._spark, [self._job(cell) for cell in by["spark"]])
        other = elsewhere.other_than(self._spark.version)
        elsewhere.write(other, [self._job(cell) for cell in by["other"]])
        spark_columns.write_by_hive(self._spark, [self._hive_job(cell) for cell in by["hive"]])

    def _write_by_arrow(self, cell: Cell) -> None:
        column = {**arrow.ORDINARY, **arrow.ANCIENT, **arrow.PARQUET_ONLY}[cell.column]
        write = arrow.write_orc if cell.file_format == "orc" else arrow.write_parquet
        write(self.folder(cell), column)

    def _hive_job(self, cell: Cell) -> spark_columns.HiveJob:
        table = f"{self._database}.written_{cell.layout}_{cell.slug}"
        return table, f"file:{self.folder(cell)}", cell.column, cell.file_format

    def _job(self, cell: Cell) -> spark_columns.Job:
        """What a Spark writes for this cell."""
        mode, folder = cell.writer.split()[-1], f"file:{self.folder(cell)}"
        sql = {**spark_columns.COMMON, **spark_columns.ANCIENT_COLUMNS, "all types": spark_columns.ALL_TYPES}[
            cell.column
        ]
        settings = {
            **spark_columns.PARQUET_MODES.get(mode, {}),
            **(spark_columns.ANCIENT.get(mode, {}) if cell.column.startswith("ancient") else {}),
        }
        return folder, sql, cell.file_format, settings

    def _declare(self) -> None:
        """The metastore's columns do not matter here: what is kept is what the files hold."""
        for cell in self._cells:
            table, _ = self._key(cell)
            if cell.layout == "flat":
                self._spark.sql(
                    f"CREATE EXTERNAL TABLE {table} (id BIGINT, v STRING) STORED AS {cell.file_format}"
                    f" LOCATION 'file:{self.folder(cell)}'"
                )
        for file_format in sorted({cell.file_format for cell in self._cells if cell.layout == "partitioned"}):
            table = f"{self._database}.parts_{file_format}"
            self._spark.sql(
                f"CREATE EXTERNAL TABLE {table} (id BIGINT, v STRING) PARTITIONED BY (cell STRING)"
                f" STORED AS {file_format} LOCATION '{(self._root / f'parts_{file_format}').as_uri()}'"
            )
            self._spark.sql(f"MSCK REPAIR TABLE {table}")
