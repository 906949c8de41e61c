"""Columns that pyarrow writes, to Parquet and to ORC: ordinary ones first, then what few files hold."""

from __future__ import annotations

import datetime as dt
import decimal
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.orc
import pyarrow.parquet

FILES, ROWS = 4, 5
DAY = dt.date(2024, 2, 29)
NOON = dt.datetime(2024, 2, 29, 12, 30, 15, 123000)
ODD = [float("nan"), -0.0, 0.0, float("inf"), 5e-324]


@dataclass(frozen=True)
class Column:
    """`value(n)` is the nth row's; `options` go to pyarrow's writer, `metadata` to the field."""

    kind: pa.DataType
    value: Callable[[int], Any]
    name: str = "v"
    nullable: bool = True
    options: dict[str, Any] = field(default_factory=dict)
    metadata: dict[str, str] | None = None

    def array(self, start: int) -> pa.Array:
        numbers = range(start, start + ROWS)
        values = [None if self.nullable and n % 6 == 5 else self.value(n) for n in numbers]
        return pa.array(values, self.kind)

    def table(self, start: int) -> pa.Table:
        fields = [pa.field("id", pa.int64()), pa.field(self.name, self.kind, self.nullable, self.metadata)]
        ids = pa.array(range(start, start + ROWS), pa.int64())
        return pa.table([ids, self.array(start)], schema=pa.schema(fields))


def _number(n: int) -> decimal.Decimal:
    return decimal.Decimal(n * 7 - 30).scaleb(-2)


ORDINARY = {
    "bool": Column(pa.bool_(), lambda n: n % 2 == 0),
    "int8": Column(pa.int8(), lambda n: n - 9),
    "int16": Column(pa.int16(), lambda n: n - 9),
    "int32": Column(pa.int32(), lambda n: n - 9),
    "int64": Column(pa.int64(), lambda n: n - 2**60),
    "float": Column(pa.float32(), lambda n: n / 3),
    "double": Column(pa.float64(), lambda n: n / 3),
    "odd doubles": Column(pa.float64(), lambda n: ODD[n % 5]),
    "odd floats": Column(pa.float32(), lambda n: ODD[n % 4]),
    "string": Column(pa.string(), lambda n: f"é{n}\n,\t\x00"),
    "large string": Column(pa.large_string(), lambda n: f"row {n}"),
    "binary": Column(pa.binary(), lambda n: bytes([n, 255, 0])),
    "date": Column(pa.date32(), lambda n: DAY + dt.timedelta(n)),
    "timestamp us": Column(pa.timestamp("us"), lambda n: NOON + dt.timedelta(microseconds=n)),
    "timestamp us utc": Column(pa.timestamp("us", "UTC"), lambda n: NOON + dt.timedelta(microseconds=n)),
    "timestamp ns": Column(pa.timestamp("ns"), lambda n: 1_709_209_815_123_456_789 + n),
    "decimal 5": Column(pa.decimal128(5, 2), _number),
    "decimal 18": Column(pa.decimal128(18, 2), _number),
    "decimal 38": Column(pa.decimal128(38, 2), _number),
    "list": Column(pa.list_(pa.int32()), lambda n: [[n, None], [], [None], [n]][n % 4]),
    "list of structs": Column(
        pa.list_(pa.struct([("a", pa.int32()), ("b", pa.string())])),
        lambda n: [{"a": n, "b": None}] * (n % 3),
    ),
    "struct": Column(pa.struct([("a", pa.int64()), ("B", pa.string())]), lambda n: {"a": None, "B": f"{n}"}),
    "map": Column(pa.map_(pa.string(), pa.int64()), lambda n: [(f"k{n}", n), ("none", None)][: n % 3]),
    "map in no order": Column(
        pa.map_(pa.string(), pa.int64()),
        lambda n: [(f"k{9 - n % 3}", n), ("a", n + 1), (f"k{9 - n % 3}", n + 2)],
    ),
    "upper case": Column(pa.int32(), lambda n: n, name="V"),
}
ANCIENT = {
    # The 29th of February 1500 is a day in the Julian calendar alone.
    "ancient dates": Column(pa.date32(), lambda n: dt.date(1500, 3, 1) + dt.timedelta(n)),
    "ancient timestamps": Column(pa.timestamp("us", "UTC"), lambda n: dt.datetime(1500, 1, 1, n)),
}
PARQUET_ONLY = {
    "decimal as integer": Column(pa.decimal128(9, 2), _number, options={"store_decimal_as_integer": True}),
    "decimal and list": Column(
        pa.struct([("d", pa.decimal128(9, 2)), ("l", pa.list_(pa.int32()))]),
        lambda n: {"d": _number(n), "l": [n]},
    ),
    "timestamp ms": Column(pa.timestamp("ms"), lambda n: NOON + dt.timedelta(n)),
    "timestamp ms utc": Column(pa.timestamp("ms", "UTC"), lambda n: NOON + dt.timedelta(n)),
    "old lists": Column(
        pa.list_(pa.int32()), lambda n: [n, None], options={"use_compliant_nested_type": False}
    ),
    "uint8": Column(pa.uint8(), lambda n: 200 + n),
    "uint16": Column(pa.uint16(), lambda n: 60_000 + n),
    "uint32": Column(pa.uint32(), lambda n: 2**32 - 1 - n),
    "uint64": Column(pa.uint64(), lambda n: 2**64 - 1 - n),
    "half": Column(pa.float16(), lambda n: n / 4),
    "fixed": Column(pa.binary(4), lambda n: f"{n:04d}".encode()),
    "time us": Column(pa.time64("us"), lambda n: dt.time(12, n)),
    "time ms": Column(pa.time32("ms"), lambda n: dt.time(12, n)),
    "dictionary": Column(pa.dictionary(pa.int32(), pa.string()), lambda n: f"k{n % 3}"),
    "json": Column(pa.json_(), lambda n: f'{{"n":{n}}}'),
    "uuid": Column(pa.uuid(), lambda n: bytes(range(n, n + 16))),
    "required": Column(pa.int32(), lambda n: n, nullable=False),
    "field id": Column(pa.int32(), lambda n: n, metadata={"PARQUET:field_id": "7"}),
    "spaced name": Column(pa.int32(), lambda n: n, name="a b"),
    "dotted name": Column(pa.int32(), lambda n: n, name="a.b"),
    "int96": Column(
        pa.timestamp("ns"),
        lambda n: NOON + dt.timedelta(n),
        options={"use_deprecated_int96_timestamps": True},
    ),
    "zstd": Column(pa.int32(), lambda n: n, options={"compression": "zstd"}),
    "v2 pages": Column(pa.int32(), lambda n: n, options={"data_page_version": "2.0"}),
    "no dictionary": Column(pa.string(), lambda n: f"v{n % 2}", options={"use_dictionary": False}),
}


def write_parquet(folder: Path, column: Column) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(FILES):
        table = column.table(number * ROWS)
        pa.parquet.write_table(table, folder / f"arrow-{number}.parquet", **column.options)


def write_orc(folder: Path, column: Column) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(FILES):
        pa.orc.write_table(column.table(number * ROWS), folder / f"arrow-{number}.orc")
