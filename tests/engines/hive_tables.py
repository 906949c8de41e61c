"""What Hive 3.1.3 writes itself: each table by INSERT from one source, several tables with one job."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tests.engines import hive_rows
from tests.engines.tables import DATABASE, HIVE, Table, by_name, create_database

_SOURCE = f"{DATABASE}.src"
_ALL = [name for name in hive_rows.TYPES if name != "un"]
#: The rows of each file; the last one is large.
_FILES = (
    *(f"id <= {hive_rows.SMALL} AND id % 4 = {number}" for number in (1, 2, 3)),
    f"(id > {hive_rows.SMALL} OR id % 4 = 0)",
)
_NOT_EMPTY = f" AND id NOT IN ({', '.join(map(str, hive_rows.EMPTY))})"
_TEXT = (
    "ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' ESCAPED BY '\\\\' COLLECTION ITEMS TERMINATED BY '|'"
    " MAP KEYS TERMINATED BY ':' NULL DEFINED AS 'NUL'"
)
_BLOOM = {
    "orc.bloom.filter.columns": "s,c,vc,de,bi,d",
    "orc.bloom.filter.fpp": "0.01",
    "orc.row.index.stride": "1000",
}
_P = {"p": "string"}


def _table(name: str, stored: str, columns: Sequence[str], shown: str, **more: object) -> Table:
    types = {column: hive_rows.TYPES[column] for column in columns}
    return replace(Table(name, HIVE, stored, types, shown), **more)  # type: ignore[arg-type]


def _without(*names: str) -> list[str]:
    return [column for column in _ALL if column not in names]


#: Written with one job for each file, all of them together.
PLAIN = by_name(
    [
        _table("h_orc", "ORC", _ALL, "all types", default=True),
        _table("h_parquet", "PARQUET", _without("ts"), "all types but timestamps", default=True),
        _table("h_avro", "AVRO", _ALL, "all types", default=True),
        _table(
            "h_text",
            "TEXTFILE",
            _ALL,
            "all types, separators and escapes of its own",
            row_format=_TEXT,
            default=True,
        ),
        _table("h_sequence", "SEQUENCEFILE", _ALL, "all types", default=True),
        _table("h_parquet_int96", "PARQUET", ["id", "ts"], "INT96 of an unknown time zone"),
        _table("h_rcfile", "RCFILE", _ALL, "a format that is refused"),
        _table(
            "h_orc_bloom",
            "ORC",
            ["id", "s", "c", "vc", "de", "bi", "d"],
            "Bloom filters",
            keys=_P,
            properties=_BLOOM,
        ),
        _table("o_union", "ORC", ["id", "un"], "UNIONTYPE"),
        _table("h_text_union", "TEXTFILE", ["id", "un"], "UNIONTYPE in text"),
    ]
)
#: Written compressed.
COMPRESSED = by_name(
    [
        _table("h_text_deflate", "TEXTFILE", ["id", "s", "c", "de", "arr"], "compressed"),
        _table("h_sequence_block", "SEQUENCEFILE", _ALL, "compressed by blocks"),
    ]
)
_EVOLVED = {"id": "int", "a": "string", "n": "int"}
_EVOLVED_LAST = {"id": "int", "a": "string", "n": "bigint", "x": "double"}
_RENAMED = {"id": "int", "a": "string", "b": "string"}
_RENAMED_LAST = {"id": "int", "a2": "string", "b": "string"}
_POSITIONAL = {"orc.force.positional.evolution": "true"}
_BY_INDEX = {"parquet.column.index.access": "true"}
#: A column is added, and another one widened, between the files.
ADDED = by_name(
    [
        Table("h_orc_evolved", HIVE, "ORC", _EVOLVED_LAST, "columns added and widened", created=_EVOLVED),
        Table(
            "h_parquet_evolved", HIVE, "PARQUET", _EVOLVED_LAST, "columns added and widened", created=_EVOLVED
        ),
    ]
)
#: A column is renamed between the files.
RENAMED = by_name(
    [
        Table("h_orc_renamed", HIVE, "ORC", _RENAMED_LAST, "a column renamed", created=_RENAMED),
        replace(
            Table(
                "h_orc_positional",
                HIVE,
                "ORC",
                _RENAMED_LAST,
                "a column renamed, read by position",
                created=_RENAMED,
            ),
            properties=_POSITIONAL,
        ),
        replace(
            Table("h_parquet_by_index", HIVE, "PARQUET", _RENAMED_LAST, "a column renamed, read by position"),
            created=_RENAMED,
            properties=_BY_INDEX,
        ),
    ]
)
_KEYS = {"pd": "date", "pi": "int", "pc": "char(4)", "pv": "varchar(10)", "pe": "decimal(6,2)"}
KEYS = Table("h_keys", HIVE, "ORC", {"id": "int", "s": "string"}, "partition keys of five types", keys=_KEYS)
_MIXED = {"id": "int", "s": "string", "c": "char(5)", "de": "decimal(10,2)"}
_SEPARATED = "ROW FORMAT DELIMITED FIELDS TERMINATED BY ','"


@dataclass(frozen=True)
class _Changing:
    """A table that is changed before each partition is written, so that its partitions differ.

    Attributes:
        changes: by the value of the key `p`, what ALTER TABLE says.
    """

    table: Table
    changes: Mapping[str, str]


CHANGING = {
    "h_formats": _Changing(
        Table(
            "h_formats", HIVE, "PARQUET", _MIXED, "partitions of other formats", keys=_P, of_one_format=False
        ),
        # ORC comes last: Hive changes no table from it to another format.
        {
            name: f"SET FILEFORMAT {stored}"
            for name, stored in (("text", "TEXTFILE"), ("parquet", "PARQUET"), ("orc", "ORC"))
        },
    ),
    "h_separators": _Changing(
        replace(
            Table(
                "h_separators",
                HIVE,
                "TEXTFILE",
                {"id": "int", "s": "string"},
                "partitions with other separators",
            ),
            keys=_P,
            row_format=_SEPARATED,
            of_one_format=False,
        ),
        {
            name: f"SET SERDEPROPERTIES ('field.delim'='{text}', 'serialization.format'='{text}')"
            for name, text in (("comma", ","), ("bar", "|"))
        },
    ),
}
TABLES = {
    **PLAIN,
    **COMPRESSED,
    **ADDED,
    **RENAMED,
    KEYS.name: KEYS,
    **{name: each.table for name, each in CHANGING.items()},
}


def statements(root: Path, names: Sequence[str]) -> Iterator[str]:
    """Yield what Hive does to write these tables below a folder, where the source's file is already."""
    yield create_database(root)
    columns = ", ".join(f"`{name}` {kind}" for name, kind in hive_rows.TYPES.items())
    yield f"CREATE EXTERNAL TABLE {_SOURCE} ({columns}) STORED AS TEXTFILE LOCATION '{(root / 'src').as_uri()}'"
    for name in names:
        yield TABLES[name].ddl(root, TABLES[name].created or None)
    yield from _filled([PLAIN[name] for name in names if name in PLAIN])
    yield "SET hive.exec.compress.output=true"
    yield "SET mapreduce.output.fileoutputformat.compress.type=BLOCK"
    yield from _filled([COMPRESSED[name] for name in names if name in COMPRESSED])
    yield "SET hive.exec.compress.output=false"
    yield from _evolved(names)
    if KEYS.name in names:
        yield from _keyed()
    for name in CHANGING:
        if name in names:
            yield from _changed(CHANGING[name])


def _filled(tables: Sequence[Table]) -> Iterator[str]:
    """One file of each table by one statement."""
    for rows in _FILES if tables else ():
        yield f"FROM {_SOURCE} " + " ".join(insert for table in tables for insert in _inserts(table, rows))


def _inserts(table: Table, rows: str) -> Iterator[str]:
    for partition in (" PARTITION (p='a')", " PARTITION (p='b')") if table.keys else ("",):
        where = rows + (_NOT_EMPTY if table.stored in ("PARQUET", "AVRO") else "") + _readable(table)
        columns = ", ".join(f"`{column}`" for column in table.columns)
        yield f"INSERT INTO TABLE {table.qualified}{partition} SELECT {columns} WHERE {where}"


def _readable(table: Table) -> str:
    """Hive's RCFile loses its place at an empty text."""
    return " AND id <> 3" if table.stored == "RCFILE" else ""


def _evolved(names: Sequence[str]) -> Iterator[str]:
    added, renamed = ([name for name in kind if name in names] for kind in (ADDED, RENAMED))
    yield from _inserted([*added, *renamed], "id, s, ti", (0, 1))
    for name in added:
        yield f"ALTER TABLE {DATABASE}.{name} ADD COLUMNS (x double)"
    yield from _inserted(added, "id, s, ti, d", (2,))
    for name in added:
        yield f"ALTER TABLE {DATABASE}.{name} CHANGE n n bigint"
    yield from _inserted(added, "id, s, bi, d", (3, 4))
    for name in renamed:
        yield f"ALTER TABLE {DATABASE}.{name} CHANGE a a2 string"
    yield from _inserted(renamed, "id, s, ti", (3, 4))


def _inserted(names: Sequence[str], columns: str, remainders: Sequence[int]) -> Iterator[str]:
    """A file for each remainder of the id; the first one is the large one."""
    for number in remainders if names else ():
        where = (
            f"(id > {hive_rows.SMALL} OR id % 5 = 0)"
            if number == 0
            else f"id <= {hive_rows.SMALL} AND id % 5 = {number}"
        )
        inserts = (f"INSERT INTO TABLE {DATABASE}.{name} SELECT {columns} WHERE {where}" for name in names)
        yield f"FROM {_SOURCE} {' '.join(inserts)}"


def _keyed() -> Iterator[str]:
    for _ in range(3):
        yield (
            f"INSERT INTO TABLE {KEYS.qualified} PARTITION (pd, pi, pc, pv, pe) SELECT id, s, dt, ti, c, vc, de"
            f" FROM {_SOURCE} WHERE id IN (1, 4, 7, 12)"
        )


def _changed(changing: _Changing) -> Iterator[str]:
    table = changing.table
    for value, change in changing.changes.items():
        yield f"ALTER TABLE {table.qualified} {change}"
        for number in range(2):
            yield (
                f"INSERT INTO TABLE {table.qualified} PARTITION (p='{value}') SELECT {', '.join(table.columns)}"
                f" FROM {_SOURCE} WHERE id <= {hive_rows.SMALL} AND id % 2 = {number}"
            )
