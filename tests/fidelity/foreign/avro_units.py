"""The Avro files that each library writes: schemas, and the values of their records as Python has them.

A value of a union is a pair of the branch and the value, or just the value of the one branch that is not null. A value
of a logical type is that of the type below it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

ROWS = 7
NAN = float("nan")
DAY = 86_400_000
#: The type of a column, and the value of row `id`.
Column = tuple[Any, Callable[[int], Any]]


def logical(kind: str, name: str, **more: Any) -> dict[str, Any]:
    """The schema of a logical type."""
    return {"type": kind, "logicalType": name, **more}


def fixed(name: str, size: int, **more: Any) -> dict[str, Any]:
    """The schema of values of so many bytes."""
    return {"type": "fixed", "name": name, "size": size, **more}


NODE: dict[str, Any] = {
    "type": "record",
    "name": "Node",
    "fields": [{"name": "label", "type": "string"}, {"name": "next", "type": ["null", "Node"]}],
}
PERSON = {
    "type": "record",
    "name": "Person",
    "namespace": "people",
    "doc": "A person, é",
    "aliases": ["people.Human"],
    "owner": "team-a",
    "fields": [
        {"name": "name", "type": "string", "doc": "as in the passport", "aliases": ["called"]},
        {"name": "size", "type": "int", "default": -1, "order": "ignore"},
        {"name": "tags", "type": {"type": "array", "items": "string"}, "default": []},
        {"name": "rate", "type": ["null", "double"], "default": None, "unit": {"of": ["kg", 1.5]}},
        {
            "name": "sort",
            "type": {"type": "enum", "name": "other.Sort", "doc": "A or B", "symbols": ["A", "B"]},
        },
        {"name": "again", "type": ["null", "other.Sort"], "default": None},
    ],
}
COLUMNS: dict[str, Column] = {
    "null": ("null", lambda _: None),
    "boolean": ("boolean", lambda id: id % 2 == 0),
    "int": ("int", lambda id: (-1) ** id * 2**31 // (id + 2)),
    "long": ("long", lambda id: (-1) ** id * 2**63 // (id + 2)),
    "float": ("float", lambda id: NAN if id == 0 else id / 4),
    "double": ("double", lambda id: NAN if id == 0 else -0.0 if id == 1 else id / 3),
    "bytes": ("bytes", lambda id: bytes([255, id, 0])),
    "string": ("string", lambda id: f"é{id}😀"),
    "java string": ({"type": "string", "avro.java.string": "String"}, lambda id: f"é{id}"),
    "enum": ({"type": "enum", "name": "E", "symbols": ["A", "B"]}, lambda id: "AB"[id % 2]),
    "fixed": (fixed("F", 3), lambda id: bytes([255, id, 0])),
    "array": ({"type": "array", "items": "int"}, lambda id: list(range(id % 4))),
    "map": ({"type": "map", "values": ["null", "long"]}, lambda id: {"z": id, "a": None}),
    "record": ({**NODE, "name": "Pair", "fields": NODE["fields"][:1]}, lambda id: {"label": f"s{id}"}),
    "optional": (["null", "long"], lambda id: None if id % 2 else id),
    "optional last": (["string", "null"], lambda id: None if id == 0 else f"s{id}"),
    "union": (
        ["null", "long", "string", {"type": "array", "items": "int"}],
        lambda id: [None, ("long", id), ("string", f"s{id}"), ("array", [id])][id % 4],
    ),
    "decimal": (logical("bytes", "decimal", precision=9, scale=2), lambda id: bytes([0, id])),
    "fixed decimal": (
        fixed("D", 16, logicalType="decimal", precision=38, scale=10),
        lambda id: bytes([255] * 15 + [id]),
    ),
    "date": (logical("int", "date"), lambda id: -171_000 + id % 7 * 30_000),
    "time-millis": (logical("int", "time-millis"), lambda id: DAY - 1 - id),
    "time-micros": (logical("long", "time-micros"), lambda id: DAY * 1000 - 1 - id),
    "timestamp-millis": (
        logical("long", "timestamp-millis"),
        lambda id: -DAY * 150_000 + id % 7 * DAY * 30_000,
    ),
    "timestamp-micros": (logical("long", "timestamp-micros"), lambda id: 1_711_850_400_123_456 + id),
    "local-timestamp-millis": (logical("long", "local-timestamp-millis"), lambda id: 1_711_850_400_123 + id),
    "local-timestamp-micros": (logical("long", "local-timestamp-micros"), lambda id: id - 3),
    "uuid": (logical("string", "uuid"), lambda id: f"00000000-0000-0000-0000-0000000001{id % 100:02}"),
    "duration": (fixed("U", 12, logicalType="duration"), lambda id: bytes([id]) * 12),
    "recursive": (NODE, lambda id: {"label": "a", "next": {"label": f"b{id}", "next": None}}),
    "documented": (
        PERSON,
        lambda id: {"name": "é", "size": id, "tags": ["x"], "rate": id / 3, "sort": "B", "again": None},
    ),
    # Attributes where the specification has none: many people write them.
    "attributes": (
        {
            "type": "array",
            "items": {"type": "long", "name": "n", "doc": "number"},
            "doc": "list",
            "name": "l",
        },
        lambda id: [id],
    ),
}


def _nested(depth: int) -> Any:
    """Records in records."""
    kind: Any = "long"
    for number in range(depth):
        kind = {"type": "record", "name": f"R{number}", "fields": [{"name": "f", "type": kind}]}
    return kind


def _in_records(depth: int, value: int) -> Any:
    return {"f": _in_records(depth - 1, value)} if depth else value


#: Schemas that say more than the specification has, or try a parser.
ODD: dict[str, Column] = {
    "logical type of another type": (logical("string", "timestamp-millis"), lambda id: f"s{id}"),
    "decimal of more digits": (logical("bytes", "decimal", precision=2, scale=1), lambda id: bytes([99, id])),
    "record without fields": ({"type": "record", "name": "N", "fields": []}, lambda _: {}),
    "many records in each other": (_nested(120), lambda id: _in_records(120, id)),
    "long schema": ({"type": "long", "doc": "é" * 200_000}, lambda id: id),
    "two names that differ in case": (
        {
            "type": "record",
            "name": "C",
            "fields": [{"name": "a", "type": "int"}, {"name": "A", "type": "string"}],
        },
        lambda id: {"a": id, "A": f"s{id}"},
    ),
}


@dataclass(frozen=True)
class File:
    """A file to write: `rows` records from the row `start` on, so many in each block. By no codec, none is noted."""

    columns: Mapping[str, Column]
    start: int = 0
    rows: int = ROWS
    block: int = 100
    codec: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    doc: str | None = None

    @property
    def schema(self) -> dict[str, Any]:
        """A record with the column `id` and the others."""
        columns = [("id", "long"), *((name, kind) for name, (kind, _) in self.columns.items())]
        fields = [{"name": _identifier(name), "type": kind} for name, kind in columns]
        doc = {} if self.doc is None else {"doc": self.doc}
        return {"type": "record", "name": "Row", "namespace": "n", **doc, "fields": fields}

    def records(self) -> list[dict[str, Any]]:
        """The values of each record, by the names of the fields."""
        return [
            {"id": id, **{_identifier(name): value(id) for name, (_, value) in self.columns.items()}}
            for id in range(self.start, self.start + self.rows)
        ]


def _identifier(name: str) -> str:
    return name.replace(" ", "_").replace("-", "_")


def _two(file: File, **changes: Any) -> list[File]:
    """Two files, the second one with these changes."""
    return [file, replace(file, start=100, **changes)]


CODECS = ("null", "deflate", "snappy", "bzip2", "xz", "zstandard", "lz4")
LONG = File({"string": COLUMNS["string"]}, rows=300, block=50)
#: The files of each unit, in their order.
UNITS: dict[str, list[File]] = {
    **{name: _two(File({name: column})) for name, column in {**COLUMNS, **ODD}.items()},
    "names": _two(replace(LONG, columns={"my-column $1": COLUMNS["string"]})),
    "all": _two(File(COLUMNS)),
    **{f"codec {codec}": _two(replace(LONG, codec=codec)) for codec in CODECS},
    "with files without rows": [*_two(File(COLUMNS)), File(COLUMNS, rows=0)],
    "no rows": _two(File(COLUMNS, rows=0)),
    "two versions": [
        *_two(LONG),
        *_two(replace(LONG, columns={**LONG.columns, "more": COLUMNS["optional"]})),
    ],
    "two documentations": [*_two(LONG), *_two(replace(LONG, doc="now with a comment"))],
    "two codecs": [*_two(LONG), *_two(replace(LONG, codec="deflate"))],
    "metadata of its own": _two(replace(LONG, metadata={"checksum": "1"})),
    "metadata of one file": _two(LONG, metadata={"checksum": "1"}),
    "reserved metadata": _two(replace(LONG, metadata={"avro.of.its.own": "1"})),
    "metadata of hive": _two(replace(LONG, metadata={"writer.time.zone": "Europe/Paris"})),
    # Units to be damaged after they were written.
    "truncated": _two(replace(LONG, codec="deflate")),
    "truncated at a block": _two(LONG),
    "truncated header": _two(LONG),
    "corrupt marker": _two(LONG),
    "concatenated": _two(LONG),
    "concatenated with itself": _two(LONG),
    "empty": _two(LONG),
}
