"""Parquet files by Hive's own SerDe: `python -m tests.fidelity.foreign.hive JARS FOLDER`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.fidelity.foreign.java import process

ROWS = 7
_COMMON = "org.apache.hadoop.hive.common.type"
#: The type of a column, and the Java object of row `id`.
COLUMNS: dict[str, tuple[str, Callable[[Any, int], Any]]] = {
    "int": ("int", lambda _, id: id),
    "string": ("string", lambda _, id: f"é{id}"),
    "double": ("double", lambda _, id: float("nan") if id == 0 else id / 3),
    "date": ("date", lambda jvm, id: _type(jvm, "Date").ofEpochDay(19_000 + id)),
    "timestamp": ("timestamp", lambda jvm, id: _type(jvm, "Timestamp").ofEpochMilli(10**12 + id)),
    "decimal": ("decimal(9,2)", lambda jvm, id: _type(jvm, "HiveDecimal").create(f"{id}.25")),
    "char": ("char(5)", lambda jvm, id: _type(jvm, "HiveChar")(f"c{id}", 5)),
    "boolean": ("boolean", lambda _, id: id % 2 == 0),
    "bigint": ("bigint", lambda _, id: 2**40 + id),
    "varchar": ("varchar(9)", lambda jvm, id: _type(jvm, "HiveVarchar")(f"v{id}", 9)),
    "big_decimal": ("decimal(38,10)", lambda jvm, id: _type(jvm, "HiveDecimal").create(f"{10**20 + id}.5")),
    "binary": ("binary", lambda _, id: bytearray([255, id % 100])),
    "list": ("array<int>", lambda jvm, id: _list(jvm, range(id % 4))),
    "map": ("map<string,int>", lambda jvm, id: jvm.java.util.Collections.singletonMap("z", id)),
    "lists": ("array<array<int>>", lambda jvm, id: _list(jvm, [_list(jvm, range(id % 3))])),
    "records": ("array<struct<a:int>>", lambda jvm, id: _list(jvm, [_list(jvm, (id,))] * (id % 3))),
    "struct": ("struct<a:int,b:string>", lambda jvm, id: _list(jvm, (id, f"s{id}"))),
}
UNITS = {
    **{name: (name,) for name in COLUMNS},
    "list and date": ("list", "date"),
    "map and date": ("map", "date"),
}


def _type(jvm: Any, name: str) -> Any:
    return getattr(jvm.org.apache.hadoop.hive.common.type, name)


def _list(jvm: Any, items: Any) -> Any:
    found = jvm.java.util.ArrayList()
    for item in items:
        found.add(item)
    return found


def write(jvm: Any, file: Path, names: tuple[str, ...], start: int, rows: int = ROWS) -> None:
    """Write a file with the column `id` and these columns."""
    hive, conf = jvm.org.apache.hadoop.hive, jvm.org.apache.hadoop.mapred.JobConf()
    kinds = ["int", *(COLUMNS[name][0] for name in names)]
    properties = jvm.java.util.Properties()
    properties.setProperty("columns", ",".join(("id", *names)))
    properties.setProperty("columns.types", ":".join(kinds))
    serde = hive.ql.io.parquet.serde.ParquetHiveSerDe()
    serde.initialize(conf, properties)
    text = ",".join(f"{name}:{kind}" for name, kind in zip(("id", *names), kinds, strict=True))
    info = hive.serde2.typeinfo.TypeInfoUtils.getTypeInfoFromTypeString(f"struct<{text}>")
    inspector = hive.serde2.typeinfo.TypeInfoUtils.getStandardJavaObjectInspectorFromTypeInfo(info)
    output = hive.ql.io.parquet.MapredParquetOutputFormat()
    path, none = jvm.org.apache.hadoop.fs.Path(str(file)), jvm.org.apache.hadoop.mapred.Reporter.NULL
    writer = output.getHiveRecordWriter(conf, path, serde.getSerializedClass(), False, properties, none)
    for id in range(start, start + rows):
        values = (COLUMNS[name][1](jvm, id) for name in names)
        writer.write(serde.serialize(_list(jvm, (id, *values)), inspector))
    writer.close(False)


def main(jars: str, folder: str) -> None:
    """Write two files of each unit into a directory of its own."""
    with process(Path(jars), zone="Europe/Paris") as jvm:
        for unit, names in UNITS.items():
            target = Path(folder) / unit.replace(" ", "_")
            target.mkdir(parents=True)
            for number in range(2):
                write(jvm, target / f"00000{number}_0", names, number * 100)
            write(jvm, target / "000002_0", names, 0, rows=0)


if __name__ == "__main__":
    main(*sys.argv[1:])
