"""The rows of the table that Hive reads to write the others: a text file of Hive's own SerDe.

The first rows have the extremes of each type, nulls, and empty lists, maps and structs; some lie in hours that the time
zone of the writer has twice or not at all. The others are ordinary, and most of them go to one large file.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path

#: The columns of the source, and their types.
TYPES = {
    "id": "int",
    "ti": "tinyint",
    "si": "smallint",
    "bi": "bigint",
    "f": "float",
    "d": "double",
    "b": "boolean",
    "s": "string",
    "c": "char(5)",
    "vc": "varchar(8)",
    "de": "decimal(10,2)",
    "de38": "decimal(38,10)",
    "dt": "date",
    "ts": "timestamp",
    "bin": "binary",
    "arr": "array<int>",
    "arrs": "array<string>",
    "m": "map<string,int>",
    "st": "struct<x:int,y:string>",
    "nest": "array<struct<k:string,v:array<int>>>",
    "un": "uniontype<int,string>",
}
#: Rows with empty or null members of lists, maps and structs, on which Hive's own Parquet and Avro writers fail.
EMPTY = (3, 4, 6, 8, 9)
#: A row with a greater id belongs to the large file.
SMALL = 100
_LARGE_ROWS = 500
#: Text of Hive's SerDe: the separators of columns, members and map entries (or members one level below), and a null.
_COLUMN, _ITEM, _ENTRY, _DEEPER, _NULL = "\x01", "\x02", "\x03", "\x04", "\\N"


def write(folder: Path) -> None:
    """Write the file of the source."""
    folder.mkdir(parents=True)
    lines = (_COLUMN.join(row) + "\n" for row in _rows())
    (folder / "rows.txt").write_text("".join(lines), encoding="utf-8")


def _rows() -> Iterator[list[str]]:
    for id, values in {**_extremes(), **_hours()}.items():
        yield _row(id, values)
    for id in [*range(12, 41), *range(SMALL + 1, SMALL + _LARGE_ROWS)]:
        yield _row(id, _ordinary(id))


def _row(id: int, values: dict[str, str]) -> list[str]:
    known = {"id": str(id), "un": _items("0", "1"), **values}
    return [known.get(column, _NULL) for column in TYPES]


def _items(*values: str) -> str:
    return _ITEM.join(values)


def _entry(*values: str) -> str:
    return _ENTRY.join(values)


def _bytes(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _extremes() -> dict[int, dict[str, str]]:
    """Rows by their ids; a column that is not named is null."""
    return {
        1: _whole(),
        2: {},
        3: _lowest(),
        4: _zero(),
        5: _highest(),
        6: _words(),
        7: _below(),
        8: _largest(),
        9: _least(),
    }


def _whole() -> dict[str, str]:
    return {
        **dict(ti="1", si="100", bi="10000000000", f="1.5", d="2.25", b="true", s="abc", c="ab", vc="vc"),
        **dict(de="123.45", de38="1234567890123456789012345678.0123456789", dt="2020-02-29"),
        **dict(ts="2020-02-29 12:34:56.123456789", bin=_bytes(b"\x00\xff\x10"), arr=_items("1", "2", "3")),
        **dict(arrs=_items("x", "y"), m=_items(_entry("k1", "1"), _entry("k2", "2")), st=_items("1", "why")),
        **dict(nest=_items(_entry("a", f"1{_DEEPER}2"), _entry("b", "3")), un=_items("0", "7")),
    }


def _lowest() -> dict[str, str]:
    return {
        **dict(
            ti="-128", si="-32768", bi="-9223372036854775808", f="-0.0", d="NaN", b="false", s="", c="", vc=""
        ),
        **dict(de="-0.01", de38="-9999999999999999999999999999.9999999999", dt="0001-01-01"),
        **dict(ts="0001-01-01 00:00:00", bin="", arr="", arrs="", m="", st=_items(_NULL, _NULL), nest=""),
        **dict(un=_items("1", "")),
    }


def _zero() -> dict[str, str]:
    return {
        **dict(ti="0", si="0", bi="0", f="0.0", d="-0.0", b="true", s=" lead and trail ", c="a b", vc=" v "),
        **dict(de="0.00", de38="0.0000000001", dt="1582-10-04", ts="1582-10-04 23:59:59.999999999"),
        **dict(
            bin=_bytes(b"text"), arr=_items(_NULL, "1"), arrs=_items("", _NULL, "z"), m=_entry("k", _NULL)
        ),
        **dict(st=_items("2", ""), nest=_entry(_NULL, _NULL), un=_items("1", "str")),
    }


def _highest() -> dict[str, str]:
    return {
        **dict(ti="127", si="32767", bi="9223372036854775807", f="Infinity", d="Infinity", b="true"),
        **dict(s="é中\U0001f600", c="é中", vc="über", de="99999999.99"),
        **dict(
            de38="9999999999999999999999999999.9999999999",
            dt="9999-12-31",
            ts="9999-12-31 23:59:59.999999999",
        ),
        **dict(bin=_bytes(bytes(range(256))), arr=_items("2147483647", "-2147483648"), st=_items("3", "é")),
        **dict(un=_items("1", "é")),
    }


def _words() -> dict[str, str]:
    return {
        **dict(ti="6", si="6", bi="6", f="NaN", d="0.0", b="false", s="NULL", c="NULL", vc="null", de="1.10"),
        **dict(
            de38="1.1", dt="1582-10-10", ts="1582-10-10 01:02:03.4", bin=_bytes(b"\n"), arr="5", arrs="NULL"
        ),
        **dict(m=_entry("k", "0"), st=_items("0", "NULL"), nest=_entry("k", ""), un=_items("1", _NULL)),
    }


def _below() -> dict[str, str]:
    return {
        **dict(
            ti="7", si="7", bi="7", f="-Infinity", d="-Infinity", b="false", s="zz", c="zzzzz", vc="zzzzzzzz"
        ),
        **dict(
            de="7.00",
            de38="7",
            dt="1582-10-15",
            ts="1900-01-01 00:00:00.000000001",
            bin=_bytes(b"7"),
            arr="7",
        ),
        **dict(arrs=_items("a,b", "c|d"), m=_entry("a:b", "1"), st=_items("7", "a,b"), nest=_entry("a", "1")),
        **dict(un=_items("0", "-7")),
    }


def _largest() -> dict[str, str]:
    return {
        **dict(
            ti="8", si="8", bi="8", f="3.4028235E38", d="1.7976931348623157E308", b="true", s="2020-02-29"
        ),
        **dict(c="8", vc="8", de="8.88", de38="8.8", dt="1899-12-31", ts="1969-12-31 23:59:59.999999999"),
        **dict(bin=_bytes(b"8"), arr="", arrs="", m="", st=_items("8", ""), nest="", un=_items("0", "8")),
    }


def _least() -> dict[str, str]:
    return {
        **dict(
            ti="9", si="9", bi="9", f="1.4E-45", d="4.9E-324", b="true", s="-0", c="-0", vc="-0", de="-9.99"
        ),
        **dict(
            de38="-9.9", dt="1970-01-01", ts="1970-01-01 00:00:00", bin=_bytes(b"9"), arr=_NULL, arrs=_NULL
        ),
        **dict(m=_entry(_NULL, "1"), st=_items(_NULL, "x"), nest=_entry(_NULL, _NULL), un=_items("0", _NULL)),
    }


def _hours() -> dict[int, dict[str, str]]:
    """Hours that Europe/Paris has twice, and never."""
    twice, never = "2021-10-31 02:30:00.5", "2021-03-28 02:30:00"
    return {
        id: {**_ordinary(id), "dt": ts[:10], "ts": ts, "s": "dst"} for id, ts in ((10, twice), (11, never))
    }


def _ordinary(id: int) -> dict[str, str]:
    day = f"2021-01-{id % 28 + 1:02d}"
    return {
        **dict(ti=str(id % 128), si=str(id), bi=str(id * 1000), f=str(id / 4), d=str(id / 8)),
        **dict(
            b="true" if id % 2 else "false",
            s=f"s{id:03d}",
            c=f"c{id}",
            vc=f"v{id}",
            de=f"{id}.{id % 100:02d}",
        ),
        **dict(de38=f"{id}.{id:010d}", dt=day, ts=f"{day} 0{id % 10}:00:00.{id:09d}", bin=_bytes(b"%d" % id)),
        **dict(
            arr=_items(str(id), str(id + 1)),
            arrs=f"x{id}",
            m=_entry(f"k{id}", str(id)),
            st=_items(str(id), f"y{id}"),
        ),
        **dict(nest=_entry(f"k{id}", f"{id}{_DEEPER}{id}"), un=_items("0", str(id))),
    }
