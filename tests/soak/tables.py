"""The soak's two tables: how they are declared, how a file comes to them, and what a reader finds in them."""

from __future__ import annotations

import os
import uuid
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from tests.soak.drivers import Driver
from tests.soak.ledger import Ledger

DATABASE = "soak"
EVENTS, FLAT = f"{DATABASE}.events", f"{DATABASE}.flat"
DAYS = 8
ROWS = 10
COLUMNS = "(id BIGINT, payload STRING)"

#: All writers here only add.
PROPERTIES = "TBLPROPERTIES ('lakekeeper.writers'='append')"


def create(driver: Driver, warehouse: Path, days: int = DAYS) -> dict[str, Path]:
    """Makes the tables; returns the directory of every unit, as the metastore has it."""
    events, flat = warehouse / "events", warehouse / "flat"
    driver.sql(
        f"CREATE DATABASE {DATABASE} LOCATION '{warehouse.as_uri()}'",
        f"CREATE EXTERNAL TABLE {EVENTS} {COLUMNS} PARTITIONED BY (day STRING) STORED AS PARQUET"
        f" LOCATION '{events.as_uri()}' {PROPERTIES}",
        f"CREATE EXTERNAL TABLE {FLAT} {COLUMNS} STORED AS PARQUET LOCATION '{flat.as_uri()}' {PROPERTIES}",
        *(f"ALTER TABLE {EVENTS} ADD PARTITION (day='{day}')" for day in range(days)),
    )
    units = {f"events/day={day}": f"{EVENTS} PARTITION (day='{day}')" for day in range(days)}
    return {unit: _location(driver, what) for unit, what in {**units, "flat": FLAT}.items()}


def _location(driver: Driver, what: str) -> Path:
    rows = driver.sql(f"DESCRIBE FORMATTED {what}")[0]
    return local(next(str(row[1]) for row in rows if row[0] == "Location"))


def local(uri: str) -> Path:
    """The path behind a `file:` URI."""
    return Path("/" + uri.removeprefix("file:").lstrip("/"))


def home(units: Mapping[str, Path], table: str) -> Path:
    """The table's hidden folder."""
    if table == FLAT:
        return units["flat"].parent / f".lakekeeper-{units['flat'].name}"
    return next(path for unit, path in units.items() if unit != "flat").parent / ".lakekeeper"


def add_file(place: Path, staging: Path, ids: range) -> None:
    """As a writer commits: the file is complete before it gets its place, and a missing directory is made."""
    import pyarrow
    from pyarrow import parquet

    rows = pyarrow.table({"id": list(ids), "payload": [f"row {number}" for number in ids]})
    staged = staging / f"part-{uuid.uuid4().hex}.parquet"
    parquet.write_table(rows, staged)
    while True:
        try:
            os.rename(staged, place / staged.name)  # noqa: PTH104 (one system call, and nothing else)
            return
        except FileNotFoundError:
            if not staged.exists():
                raise
            place.mkdir(parents=True, exist_ok=True)


class Writer:
    """Adds files of fresh ids, and says so in the ledger. Each writer has a range of ids of its own."""

    def __init__(self, units: Mapping[str, Path], staging: Path, ledger: Ledger, first: int) -> None:
        staging.mkdir(parents=True, exist_ok=True)
        self._units, self._staging, self._ledger, self._next = units, staging, ledger, first

    def add(self, unit: str, rows: int = ROWS) -> None:
        ids = range(self._next, self._next + rows)
        self._next = ids.stop
        add_file(self._units[unit], self._staging, ids)
        self._ledger.add(unit, ids)


def read(place: Path) -> Counter[int]:
    """The ids in one directory, counted; raises FileNotFoundError where it, or a listed file, is gone."""
    from pyarrow import parquet

    found: Counter[int] = Counter()
    for entry in sorted(os.listdir(place)):  # noqa: PTH208
        if not entry.startswith((".", "_")):
            with parquet.ParquetFile(place / entry) as file:
                found.update(file.read(columns=["id"]).column("id").to_pylist())
    return found
