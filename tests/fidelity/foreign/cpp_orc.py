"""ORC files by the C++ library: `PYTHON -m tests.fidelity.foreign.cpp_orc FOLDER`, in an environment with pyorc."""

from __future__ import annotations

import datetime
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyorc

ROWS = 7
NAN = float("nan")
UTC = datetime.timezone.utc
#: The type of a column, and the value of row `id`.
COLUMNS: dict[str, tuple[str, Callable[[int], Any]]] = {
    "boolean": ("boolean", lambda id: id % 2 == 0),
    "tinyint": ("tinyint", lambda id: id % 100 - 3),
    "int": ("int", lambda id: None if id == 2 else id * 1000),
    "bigint": ("bigint", lambda id: id * 1_000_000_007),
    "float": ("float", lambda id: NAN if id == 0 else id / 4),
    "double": ("double", lambda id: NAN if id == 0 else id / 3),
    "string": ("string", lambda id: f"é{id}"),
    "binary": ("binary", lambda id: bytes([255, id])),
    "char": ("char(5)", lambda id: f"c{id}"),
    "varchar": ("varchar(9)", lambda id: f"v{id}"),
    "decimal": ("decimal(9,2)", lambda id: Decimal(id) + Decimal("0.25")),
    "big decimal": ("decimal(38,10)", lambda id: Decimal(10**20 + id)),
    "date": ("date", lambda id: datetime.date(1500 + id % 600, 2, 28)),
    "timestamp": ("timestamp", lambda id: datetime.datetime(1900 + id, 3, 31, 2, 30, 0, 123456, tzinfo=UTC)),
    "instant": (
        "timestamp with local time zone",
        lambda id: datetime.datetime(1900 + id, 3, 31, 2, 30, 0, 123456, tzinfo=UTC),
    ),
    "array": ("array<int>", lambda id: None if id == 1 else list(range(id % 4))),
    "map": ("map<string,bigint>", lambda id: None if id == 1 else {"z": id, "a": 1}),
    "struct": ("struct<a:int,B:string>", lambda id: (id, f"s{id}")),
    "nothing": ("array<int>", lambda _: None),
}
UNITS: dict[str, dict[str, tuple[str, Callable[[int], Any]]]] = {
    **{name: {name: column} for name, column in COLUMNS.items()},
    "all": COLUMNS,
    "with files without rows": COLUMNS,
    "short index": {"timestamp": COLUMNS["timestamp"]},
    "union": {"union": ("uniontype<int,string>", lambda id: f"x{id}" if id % 2 else id)},
}


def write(
    file: Path,
    columns: dict[str, tuple[str, Callable[[int], Any]]],
    start: int,
    rows: int = ROWS,
    stride: int = 10_000,
) -> None:
    """Write a file with the column `id` and these columns, and an index entry for so many rows."""
    text = ",".join(f"{name.replace(' ', '_')}:{kind}" for name, (kind, _) in columns.items())
    with (
        file.open("wb") as target,
        pyorc.Writer(target, f"struct<id:bigint,{text}>", row_index_stride=stride) as writer,
    ):
        for row in range(start, start + rows):
            writer.write((row, *(value(row) for _, value in columns.values())))


def main(folder: str) -> None:
    """Write the files of each unit into a directory of its own."""
    for name, columns in UNITS.items():
        target = Path(folder) / name.replace(" ", "_")
        target.mkdir(parents=True)
        for number in range(2):
            stride = 500 if name == "short index" else 10_000
            write(target / f"00000{number}_0", columns, number * 100, stride=stride)
        if name == "with files without rows":
            write(target / "000002_0", columns, 0, rows=0)


if __name__ == "__main__":
    main(sys.argv[1])
