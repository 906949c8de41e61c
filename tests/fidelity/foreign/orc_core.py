"""ORC files by one release of orc-core: `python -m tests.fidelity.foreign.orc_core JARS FOLDER`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from py4j.java_gateway import set_field

from tests.fidelity.foreign.java import process

ROWS = 7
#: Sets a value in a row of a column vector.
Put = Callable[[Any, Any, int, Any], None]
#: The type of a column, how a value is set, and the value of row `id`; None is a null.
Column = tuple[str, Put, Callable[[int], Any]]


def _number(_: Any, vector: Any, row: int, value: Any) -> None:
    vector.vector[row] = value


def _bytes(_: Any, vector: Any, row: int, value: bytes) -> None:
    vector.setVal(row, value)


def _decimal(jvm: Any, vector: Any, row: int, value: str) -> None:
    vector.set(row, jvm.org.apache.hadoop.hive.common.type.HiveDecimal.create(value))


def _timestamp(jvm: Any, vector: Any, row: int, value: str) -> None:
    vector.set(row, jvm.java.sql.Timestamp.valueOf(value))


def _integers(_: Any, vector: Any, row: int, values: Sequence[int]) -> None:
    _extend(vector, row, len(values))
    for number, value in enumerate(values, vector.offsets[row]):
        vector.child.vector[number] = value


def _entries(_: Any, vector: Any, row: int, values: Sequence[tuple[bytes, int]]) -> None:
    _extend(vector, row, len(values))
    for number, (key, value) in enumerate(values, vector.offsets[row]):
        vector.keys.setVal(number, key)
        vector.values.vector[number] = value


def _extend(vector: Any, row: int, length: int) -> None:
    vector.offsets[row], vector.lengths[row] = vector.childCount, length
    set_field(vector, "childCount", vector.childCount + length)


def _fields(jvm: Any, vector: Any, row: int, values: tuple[int, bytes]) -> None:
    _number(jvm, vector.fields[0], row, values[0])
    _bytes(jvm, vector.fields[1], row, values[1])


def _tagged(jvm: Any, vector: Any, row: int, value: tuple[int, Any]) -> None:
    vector.tags[row] = value[0]
    (_bytes if value[0] else _number)(jvm, vector.fields[value[0]], row, value[1])


def _list_of_times(jvm: Any, vector: Any, row: int, values: Sequence[str]) -> None:
    _extend(vector, row, len(values))
    for number, value in enumerate(values, vector.offsets[row]):
        _timestamp(jvm, vector.child, number, value)


NAN = float("nan")
TIMES = (
    "2024-03-31 02:30:00.123456789",
    "1500-02-28 01:02:03.4",
    "2024-10-27 02:30:00",
    "1969-12-31 23:59:59.999",
)
ID: dict[str, Column] = {"id": ("bigint", _number, lambda id: id)}
COLUMNS: dict[str, Column] = {
    "boolean": ("boolean", _number, lambda id: id % 2),
    "tinyint": ("tinyint", _number, lambda id: id - 3),
    "int": ("int", _number, lambda id: None if id == 2 else id * 1000),
    "bigint": ("bigint", _number, lambda id: id * 1_000_000_007),
    "float": ("float", _number, lambda id: NAN if id == 0 else id / 3),
    "double": ("double", _number, lambda id: NAN if id == 0 else id / 3),
    "string": ("string", _bytes, lambda id: f"é{id}".encode()),
    "binary": ("binary", _bytes, lambda id: bytes([255, id])),
    "char": ("char(5)", _bytes, lambda id: f"c{id}   ".encode()),
    "varchar": ("varchar(9)", _bytes, lambda id: f"v{id}".encode()),
    "decimal": ("decimal(9,2)", _decimal, lambda id: f"{id}.25"),
    "big decimal": ("decimal(38,10)", _decimal, lambda id: f"{10**20 + id}.0123456789"),
    "date": ("date", _number, lambda id: -171_000 + id * 30_000),
    "timestamp": ("timestamp", _timestamp, lambda id: TIMES[id % 4]),
    "array": ("array<int>", _integers, lambda id: None if id == 1 else list(range(id % 4))),
    "map": (
        "map<string,bigint>",
        _entries,
        lambda id: None if id == 1 else [(b"z", id), (b"a", 1)][: id % 3],
    ),
    "struct": ("struct<a:int,B:string>", _fields, lambda id: (id, f"s{id}".encode())),
    "times": ("array<timestamp>", _list_of_times, lambda id: [TIMES[id % 4]] * (id % 3)),
    "nothing": ("array<int>", _integers, lambda _: None),
}
UNION: Column = ("uniontype<int,string>", _tagged, lambda id: (1, b"x%d" % id) if id % 2 else (0, id))
TIMES_AND_LISTS = {name: COLUMNS[name] for name in ("array", "map", "date", "timestamp")}
#: The columns of each unit, by its name.
UNITS: dict[str, dict[str, Column]] = {
    **{name: {name: column} for name, column in {**COLUMNS, "union": UNION}.items()},
    "all": COLUMNS,
    "times and lists": TIMES_AND_LISTS,
    "with files without rows": TIMES_AND_LISTS,
    "flat with files without rows": {"string": COLUMNS["string"]},
}


def write(jvm: Any, file: Path, columns: Mapping[str, Column], start: int, rows: int = ROWS) -> None:
    """Write a file with these columns."""
    orc = jvm.org.apache.orc
    text = ",".join(f"{name.replace(' ', '_')}:{kind}" for name, (kind, _, _) in columns.items())
    schema = orc.TypeDescription.fromString(f"struct<{text}>")
    options = orc.OrcFile.writerOptions(jvm.org.apache.hadoop.conf.Configuration()).setSchema(schema)
    writer = orc.OrcFile.createWriter(jvm.org.apache.hadoop.fs.Path(str(file)), options)
    batch = schema.createRowBatch()
    for row in range(rows):
        for vector, (_, put, value) in zip(batch.cols, columns.values(), strict=True):
            _set(jvm, vector, row, put, value(start + row))
    set_field(batch, "size", rows)
    if rows:
        writer.addRowBatch(batch)
    writer.close()


def _set(jvm: Any, vector: Any, row: int, put: Put, value: Any) -> None:
    if value is None:
        set_field(vector, "noNulls", False)
        vector.isNull[row] = True
    else:
        put(jvm, vector, row, value)


def main(jars: str, folder: str) -> None:
    """Write the files of each unit into a directory of its own: two with rows, and where its name says so more."""
    with process(Path(jars), zone="Europe/Paris") as jvm:
        for name, columns in UNITS.items():
            target = Path(folder) / name.replace(" ", "_")
            target.mkdir(parents=True)
            for number in range(2):
                write(jvm, target / f"00000{number}_0", {**ID, **columns}, number * 100)
            if name.endswith("with files without rows"):
                # Hive writes such files for a task without rows: with the columns, or with none.
                write(jvm, target / "000002_0", {**ID, **columns}, 0, rows=0)
                write(jvm, target / "000003_0", {}, 0, rows=0)


if __name__ == "__main__":
    main(*sys.argv[1:])
