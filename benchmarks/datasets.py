"""The tables of the benchmarks: how many partitions, files and rows. `programs/make_table.py` makes them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date, timedelta

DATABASE = "bench"
#: The size of the files that all programs write.
TARGET = 128 * 1024 * 1024

#: Partitions of one day.
SHOPS = 20

#: The columns of all tables; `programs/make_table.py` has an expression for each.
COLUMNS = {
    "id": "BIGINT",
    "user_id": "STRING",
    "event_type": "STRING",
    "amount": "DECIMAL(10,2)",
    "score": "DOUBLE",
    "event_time": "TIMESTAMP",
    "session": "STRING",
}
SCHEMA = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())


@dataclass(frozen=True)
class Dataset:
    """A table of small Parquet files.

    Spark writes `models` different files; the table's files are copies of them under names of their own. So the footers
    are Spark's, and a table of very many files is there in a minute.

    Attributes:
        partitions: 0 for a table without partitions.
        files: in each partition, or in the table.
        rows: in each file.
        linked: the files are hard links of the models instead of copies. Only for tables that are not rewritten.
        large: how many files there are besides, in each partition, that are larger than TARGET.
    """

    name: str
    partitions: int
    files: int
    rows: int
    models: int
    linked: bool = False
    large: int = 0

    @property
    def table(self) -> str:
        return f"t_{self.name.replace('-', '_')}"

    @property
    def full_name(self) -> str:
        return f"{DATABASE}.{self.table}"

    @property
    def total_files(self) -> int:
        return max(self.partitions, 1) * (self.files + self.large)

    @property
    def keys(self) -> tuple[str, ...]:
        return ("day", "shop") if self.partitions else ()

    def values(self, number: int) -> tuple[str, ...]:
        """Return the values of the keys of a partition."""
        day = date(2026, 1, 1) + timedelta(days=number // SHOPS)
        return (day.isoformat(), f"shop-{number % SHOPS:02}")

    def folder(self, number: int) -> str:
        """Return the directory of a partition below the table's root."""
        pairs = zip(self.keys, self.values(number), strict=True) if self.partitions else ()
        return "/".join(f"{key}={value}" for key, value in pairs)

    def folders(self) -> list[str]:
        """Return the directories of all units: the root alone, which is "", without partitions."""
        return [self.folder(number) for number in range(max(self.partitions, 1))]


@dataclass(frozen=True)
class Database:
    """A database of small tables without partitions, whose files are hard links of a few models.

    Attributes:
        files: in each table.
    """

    name: str
    tables: int
    files: int

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"t_{number:05}" for number in range(self.tables))


def outputs(size: int) -> int:
    """Return how many files a unit of this size is rewritten to."""
    return max(1, math.ceil(size / TARGET))


def flat(files: int, name: str = "") -> Dataset:
    """Return a table without partitions, whose files have 44 KB each, and are all different.

    Spark orders files by their lengths, so copies would come beside each other and encode to a third of their size.
    """
    return Dataset(name or f"files-{files}", 0, files, rows=ROWS_OF_44_KB, models=files)


ROWS_OF_44_KB = 875
ROWS_OF_67_KB = 1367
#: Of a file that is somewhat larger than TARGET.
ROWS_OF_LARGE = 3_200_000

DATASETS = {
    dataset.name: dataset
    for dataset in (
        flat(65_000),
        flat(650),
        flat(6_500),
        Dataset("partitions-200", 200, 20, rows=ROWS_OF_67_KB, models=400),
        Dataset("beside-large", 0, 900, rows=ROWS_OF_44_KB, models=450, large=12),
        Dataset("analysis-10000", 10_000, 5, rows=50, models=5),
        Dataset("analysis-million", 1_000, 1_000, rows=10, models=20, linked=True),
        *(Dataset(f"scale-partitions-{n}", n, 2, rows=10, models=20, linked=True) for n in (10_000, 100_000)),
        *(flat(files, f"growth-files-{files}") for files in (800, 1600)),
        *(Dataset(f"growth-partitions-{n}", n, 3, rows=50, models=30) for n in (40, 80)),
    )
}
DATABASES = {f"scale-tables-{n}": Database(f"bench_{n}_tables", n, files=4) for n in (500, 5_000)}
