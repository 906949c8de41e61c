"""What pyarrow, pyorc and fastavro write: `PYTHON -m tests.engines.python_files FOLDER TABLE...` writes these tables
below a folder, in an environment that has their libraries."""

from __future__ import annotations

import datetime
import subprocess
import sys
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from demo.services import paths
from demo.services.processes import own_environ
from tests.engines.tables import ARROW, CPP_ORC, FASTAVRO, Table, by_name

_UTC = datetime.timezone.utc
_NAN = float("nan")
#: The ids of each file: one is large.
_FILES = (range(1000, 1400), range(0, 12), range(12, 24), range(24, 36))

TABLES = by_name(
    [
        Table(
            "a_parquet",
            ARROW,
            "PARQUET",
            {
                "id": "bigint",
                "s": "string",
                "ts": "timestamp",
                "de": "decimal(12,3)",
                "d": "double",
                "arr": "array<int>",
                "m": "map<string,int>",
                "st": "struct<x:int,y:string>",
            },
            "nested types; INT96; both versions of pages",
            default=True,
        ),
        Table(
            "a_parquet_times", ARROW, "PARQUET", {"id": "bigint", "ts": "timestamp"}, "timestamps as INT64"
        ),
        Table(
            "a_orc",
            ARROW,
            "ORC",
            {"id": "bigint", "s": "string", "d": "double", "arr": "array<bigint>", "de": "decimal(12,3)"},
            "NaN and nested types",
        ),
        Table(
            "p_orc",
            CPP_ORC,
            "ORC",
            {
                "id": "int",
                "s": "string",
                "c": "char(5)",
                "vc": "varchar(8)",
                "de": "decimal(10,2)",
                "dt": "date",
                "ts": "timestamp",
                "m": "map<string,int>",
                "arr": "array<int>",
            },
            "CHAR, VARCHAR, Bloom filters",
            default=True,
        ),
        Table(
            "f_avro",
            FASTAVRO,
            "AVRO",
            {
                "id": "int",
                "s": "string",
                "d": "double",
                "e": "string",
                "arr": "array<string>",
                "m": "map<string,bigint>",
                "dt": "date",
                "ts": "timestamp",
                "de": "decimal(10,2)",
                "r": "struct<x:int,y:string>",
            },
            "logical types and an enum",
            default=True,
        ),
    ]
)
#: The environment of each writer; pyarrow is in that of the tests.
_ENVS = {ARROW: "spark-3.5", CPP_ORC: "writers-python", FASTAVRO: "writers-python"}
_AVRO = {
    "type": "record",
    "name": "r",
    "fields": [
        {"name": "id", "type": "int"},
        {"name": "s", "type": ["null", "string"]},
        {"name": "d", "type": ["double", "null"]},
        {"name": "e", "type": {"type": "enum", "name": "en", "symbols": ["A", "B"]}},
        {"name": "arr", "type": ["null", {"type": "array", "items": ["null", "string"]}]},
        {"name": "m", "type": ["null", {"type": "map", "values": ["null", "long"]}]},
        {"name": "dt", "type": ["null", {"type": "int", "logicalType": "date"}]},
        {"name": "ts", "type": ["null", {"type": "long", "logicalType": "timestamp-millis"}]},
        {
            "name": "de",
            "type": ["null", {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}],
        },
        {
            "name": "r",
            "type": [
                "null",
                {
                    "type": "record",
                    "name": "inner",
                    "fields": [
                        {"name": "x", "type": ["null", "int"]},
                        {"name": "y", "type": ["null", "string"]},
                    ],
                },
            ],
        },
    ],
}


def _text(id: int) -> str | None:
    return (None, "", "zz", f"s{id:04d}")[id % 4]


def _list(id: int) -> list[int | None] | None:
    return (None, [], [None, 1], [id])[id % 4]


def _pairs(id: int) -> list[tuple[str, int | None]] | None:
    return (None, [], [("k", None)], [("a", id), ("b", 2)])[id % 4]


def _map(id: int) -> dict[str, int | None] | None:
    pairs = _pairs(id)
    return None if pairs is None else dict(pairs)


def _struct(id: int) -> dict[str, Any] | None:
    return (None, {"x": None, "y": None}, {"x": id, "y": "y"})[id % 3]


def _double(id: int) -> float:
    return _NAN if id % 6 == 0 else -0.0 if id % 6 == 1 else id / 4


def _date(id: int) -> datetime.date:
    return datetime.date(1970, 1, 1) + datetime.timedelta(days=id * 100 - 200)


def _time(id: int, micros: int = 123456) -> datetime.datetime:
    return datetime.datetime(2021, 10, 31, id % 24, 30, 0, micros)


def _arrow_table(ids: Sequence[int], names: Sequence[str]) -> Any:
    import pyarrow as pa

    columns = {
        "id": pa.array(list(ids), pa.int64()),
        "s": pa.array([_text(id) for id in ids], pa.string()),
        "ts": pa.array([_time(id) for id in ids], pa.timestamp("us")),
        "de": pa.array([Decimal(id * 7).scaleb(-3) for id in ids], pa.decimal128(12, 3)),
        "d": pa.array([_double(id) for id in ids], pa.float64()),
        "arr": pa.array([_list(id) for id in ids], pa.list_(pa.int32())),
        "longs": pa.array([_list(id) for id in ids], pa.list_(pa.int64())),
        "m": pa.array([_pairs(id) for id in ids], pa.map_(pa.string(), pa.int32())),
        "st": pa.array([_struct(id) for id in ids], pa.struct([("x", pa.int32()), ("y", pa.string())])),
    }
    return pa.table({"arr" if name == "longs" else name: columns[name] for name in names})


def _a_parquet(folder: Path) -> None:
    _parquet(folder, list(TABLES["a_parquet"].columns), use_deprecated_int96_timestamps=True)


def _a_parquet_times(folder: Path) -> None:
    _parquet(folder, ["id", "ts"])


def _parquet(folder: Path, names: Sequence[str], **options: Any) -> None:
    """One file has pages of the second version, another codec, and no schema of Arrow's."""
    import pyarrow.parquet as pq

    for number, ids in enumerate(_FILES):
        odd = {"data_page_version": "2.0", "compression": "gzip", "store_schema": False} if number % 2 else {}
        pq.write_table(_arrow_table(ids, names), folder / f"f{number}.parquet", **options, **odd)


def _a_orc(folder: Path) -> None:
    import pyarrow.orc as po

    for number, ids in enumerate(_FILES):
        table = _arrow_table(ids, ["id", "s", "d", "longs", "de"])
        po.write_table(table, str(folder / f"f{number}.orc"), compression="zlib")


def _p_orc(folder: Path) -> None:
    import pyorc

    columns = ",".join(f"{name}:{kind}" for name, kind in TABLES["p_orc"].columns.items())
    for number, ids in enumerate(_FILES):
        with (
            (folder / f"f{number}.orc").open("wb") as target,
            pyorc.Writer(target, f"struct<{columns}>", bloom_filter_columns=("s", "c")) as writer,
        ):
            for id in ids:
                writer.write(_orc_row(id))


def _orc_row(id: int) -> tuple[Any, ...]:
    name = (None, "ab", f"c{id}")[id % 3]
    time = _time(id).replace(tzinfo=_UTC)
    return (id, _text(id), name, f"v{id}", Decimal(id * 101).scaleb(-2), _date(id), time, _map(id), _list(id))


def _f_avro(folder: Path) -> None:
    import fastavro

    schema = fastavro.parse_schema(_AVRO)
    for number, ids in enumerate(_FILES):
        with (folder / f"f{number}.avro").open("wb") as target:
            fastavro.writer(target, schema, [_avro_row(id) for id in ids], codec="deflate")


def _avro_row(id: int) -> dict[str, Any]:
    texts = _list(id)
    return {
        "id": id,
        "s": _text(id),
        "d": _double(id),
        "e": "AB"[id % 2],
        "arr": None if texts is None else [each if each is None else str(each) for each in texts],
        "m": _map(id),
        "dt": _date(id),
        "ts": _time(id, 123000).replace(tzinfo=_UTC),
        "de": Decimal(id * 101).scaleb(-2),
        "r": _struct(id),
    }


_WRITERS: dict[str, Callable[[Path], None]] = {
    "a_parquet": _a_parquet,
    "a_parquet_times": _a_parquet_times,
    "a_orc": _a_orc,
    "p_orc": _p_orc,
    "f_avro": _f_avro,
}


def write(root: Path, names: Sequence[str]) -> None:
    """Write these tables, each in a process of the environment of its writer; raises where it fails."""
    for env in dict.fromkeys(_ENVS.values()):
        chosen = [name for name in names if name in TABLES and _ENVS[TABLES[name].writer] == env]
        if chosen:
            command = [paths.env_python(env), "-m", "tests.engines.python_files", str(root), *chosen]
            subprocess.run(command, cwd=paths.ROOT, env=own_environ(), check=True)


def main(root: str, *names: str) -> None:
    """Write these tables below a folder."""
    for name in names:
        folder = TABLES[name].folder(Path(root))
        folder.mkdir(parents=True)
        _WRITERS[name](folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
