"""Parquet files by one release of parquet-mr: `python -m tests.fidelity.foreign.parquet_mr JARS FOLDER`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JJavaError

from tests.fidelity.foreign.java import process

ROWS = 7
NAN = float("nan")
#: The text of a column in a schema, and what puts the value of row `id` into a group.
Column = tuple[str, Callable[[Any, int], Any]]
LIST = "optional group {0} (LIST) {{ repeated group list {{ optional int32 element; }} }}"
OLD_LIST = "optional group {0} (LIST) {{ repeated int32 array; }}"
MAP = "optional group {0} (MAP) {{ repeated group key_value {{ required binary key (UTF8); optional int64 value; }} }}"
OLD_MAP = (
    "optional group {0} (MAP) {{ repeated group map (MAP_KEY_VALUE)"
    " {{ required binary key (UTF8); optional int64 value; }} }}"
)
RECORDS = (
    "optional group {0} (LIST) {{ repeated group list {{ optional group element {{ optional int32 a;"
    " optional group b (LIST) {{ repeated group list {{ optional int32 element; }} }} }} }} }}"
)
STRUCT = "optional group {0} {{ optional int32 a; optional binary B (UTF8); }}"


def _value(change: Callable[[int], Any]) -> Callable[[Any, int], Any]:
    def put(group: Any, id: int) -> None:
        value = change(id)
        if value is not None:
            group.add("v", value)

    return put


def _list(group: Any, id: int) -> None:
    found = group.addGroup("v")
    for number in range(id % 4):
        found.addGroup("list").add("element", number)


def _old_list(group: Any, id: int) -> None:
    found = group.addGroup("v")
    for number in range(id % 4):
        found.add("array", number)


def _map(group: Any, id: int) -> None:
    found = group.addGroup("v")
    for key in ("z", "a")[: id % 3]:
        entry = found.addGroup("key_value")
        entry.add("key", key)
        entry.add("value", group.getLong("id", 0))


def _records(group: Any, id: int) -> None:
    found = group.addGroup("v")
    for number in range(id % 3):
        element = found.addGroup("list").addGroup("element")
        element.add("a", number)
        if number:
            element.addGroup("b").addGroup("list").add("element", id)


def _old_map(group: Any, id: int) -> None:
    found = group.addGroup("v")
    for key in ("z", "a")[: id % 3]:
        entry = found.addGroup("map")
        entry.add("key", key)
        entry.add("value", group.getLong("id", 0))


def _struct(group: Any, id: int) -> None:
    found = group.addGroup("v")
    found.add("a", id)
    found.add("B", f"s{id}")


COLUMNS: dict[str, Column] = {
    "boolean": ("optional boolean {0};", _value(lambda id: id % 2 == 0)),
    "int": ("optional int32 {0};", _value(lambda id: None if id == 2 else id)),
    "tiny": ("optional int32 {0} (INT_8);", _value(lambda id: id % 100)),
    "unsigned": ("optional int32 {0} (UINT_32);", _value(lambda id: -id)),
    "string": ("optional binary {0} (UTF8);", _value(lambda id: f"é{id}")),
    "enum": ("optional binary {0} (ENUM);", _value(lambda id: f"E{id}")),
    "double": ("optional double {0};", _value(lambda id: NAN if id == 0 else id / 3)),
    "date": ("optional int32 {0} (DATE);", _value(lambda id: 19_000 + id)),
    "old date": ("optional int32 {0} (DATE);", _value(lambda id: -171_000 + id)),
    "decimal": ("optional int32 {0} (DECIMAL(9,2));", _value(lambda id: id * 25)),
    "list": (LIST, _list),
    "old list": (OLD_LIST, _old_list),
    "map": (MAP, _map),
    "struct": (STRUCT, _struct),
    "old map": (OLD_MAP, _old_map),
    "records": (RECORDS, _records),
    "byte": ("optional int32 {0} (UINT_8);", _value(lambda id: id % 100)),
    "unsigned long": ("optional int64 {0} (UINT_64);", _value(lambda id: 2**62 + id)),
    "long decimal": ("optional int64 {0} (DECIMAL(18,2));", _value(lambda id: 2**40 + id)),
    "bytes decimal": ("optional binary {0} (DECIMAL(30,2));", _value(lambda id: f"{id:012}")),
    "fixed decimal": (
        "optional fixed_len_byte_array(16) {0} (DECIMAL(38,10));",
        _value(lambda id: f"{id:016}"),
    ),
    "bytes": ("optional binary {0};", _value(lambda id: None if id == 3 else f"b{id}")),
    "fixed": ("optional fixed_len_byte_array(3) {0};", _value(lambda id: f"{id:03}")),
    "json": ("optional binary {0} (JSON);", _value(lambda id: f'{{"a": {id}}}')),
    "bson": ("optional binary {0} (BSON);", _value(lambda id: f"b{id}")),
    "interval": ("optional fixed_len_byte_array(12) {0} (INTERVAL);", _value(lambda id: f"{id:012}")),
    "time millis": ("optional int32 {0} (TIME_MILLIS);", _value(lambda id: 86_399_999 - id)),
    "time micros": ("optional int64 {0} (TIME_MICROS);", _value(lambda id: 86_399_999_999 - id)),
    "timestamp millis": ("optional int64 {0} (TIMESTAMP_MILLIS);", _value(lambda id: 1_711_850_400_123 + id)),
    "timestamp micros": (
        "optional int64 {0} (TIMESTAMP_MICROS);",
        _value(lambda id: 1_711_850_400_123_456 + id),
    ),
    "old timestamp": (
        "optional int64 {0} (TIMESTAMP_MICROS);",
        _value(lambda id: -15_000_000_000_000_000 + id),
    ),
    "timestamp nanos": (
        "optional int64 {0} (TIMESTAMP(NANOS,true));",
        _value(lambda id: 1_711_850_400_123_456_789 + id),
    ),
    "local timestamp": (
        "optional int64 {0} (TIMESTAMP(MICROS,false));",
        _value(lambda id: 1_711_850_400_123_456 + id),
    ),
    "uuid": ("optional fixed_len_byte_array(16) {0} (UUID);", _value(lambda id: f"{id:016}")),
    "float16": ("optional fixed_len_byte_array(2) {0} (FLOAT16);", _value(lambda id: f"{id % 100:02}")),
}
#: Columns that keep their schema only if they are copied, beside dates.
UNITS = {**COLUMNS, "dates and old lists": ("optional int32 d (DATE); " + OLD_LIST, _old_list)}


def write(jvm: Any, file: Path, column: Column, start: int, rows: int = ROWS) -> None:
    """Write a file with the column `id` and this one, named `v`."""
    parquet, hadoop = jvm.org.apache.parquet, jvm.org.apache.hadoop
    text = f"message m {{ required int64 id; {column[0].format('v')} }}"
    schema = parquet.schema.MessageTypeParser.parseMessageType(text)
    conf = hadoop.conf.Configuration()
    parquet.hadoop.example.GroupWriteSupport.setSchema(schema, conf)
    factory = parquet.example.data.simple.SimpleGroupFactory(schema)
    sizes = (128 << 20, 1 << 20, 1 << 20)
    writer = parquet.hadoop.ParquetWriter(
        hadoop.fs.Path(str(file)),
        parquet.hadoop.ParquetFileWriter.Mode.CREATE,
        parquet.hadoop.example.GroupWriteSupport(),
        parquet.hadoop.metadata.CompressionCodecName.SNAPPY,
        *sizes,
        True,
        False,
        parquet.column.ParquetProperties.WriterVersion.PARQUET_1_0,
        conf,
    )
    for id in range(start, start + rows):
        group = factory.newGroup()
        # So large that py4j passes a Java long.
        group.add("id", id + 2**32)
        column[1](group, id)
        writer.write(group)
    writer.close()


def main(jars: str, folder: str) -> None:
    """Write two files of each column into a directory of its own, and one without rows beside them.

    Columns of types that the release does not know are left out.
    """
    with process(Path(jars)) as jvm:
        for name, column in UNITS.items():
            target = Path(folder) / name.replace(" ", "_")
            try:
                for number in range(2):
                    write(jvm, target / f"00000{number}_0", column, number * 100)
            except Py4JJavaError as error:
                if "No enum constant" not in str(error.java_exception.getMessage()):
                    raise
            else:
                write(jvm, target / "000002_0", COLUMNS["string"], 0, rows=0)


if __name__ == "__main__":
    main(*sys.argv[1:])
