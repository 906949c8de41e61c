"""Readers of files that know no metastore: DuckDB, pyarrow, polars, DataFusion, ClickHouse (chdb), pyorc, fastavro.

`PYTHON -m tests.engines.by_path QUESTIONS ANSWERS` runs them in the environment `engines-python`. QUESTIONS is a JSON
file: a list of `[table, files, {column: constant}]`. ANSWERS gets a line of JSON for each record, or for an error:
`[reader, table, question, record or null, error or null]`. Each file is read by itself.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from demo.services import paths
from demo.services.processes import own_environ
from tests.engines.answers import Answer, record
from tests.engines.questions import ALL

ENV = "engines-python"
#: A record of a file.
Record = Mapping[str, Any]
#: Yields the records of a file that have this constant in this column; all of them without a column.
Reader = Callable[[Path, "str | None", Any], Iterable[Record]]
#: A constant for each of some columns of a table.
Constants = Mapping[str, Any]
#: Table, its files, and the constants of the conditions.
Question = tuple[str, Sequence[Path], Constants]
#: INT96 in microseconds, which hold the years that nanoseconds cannot.
_MICROS: dict[str, Any] = {"coerce_int96_timestamp_unit": "us"}
#: Of ClickHouse: no time is too early, and a NaN is not a null.
_SETTINGS = "date_time_overflow_behavior = 'ignore', output_format_json_quote_denormals = 1"


def _literal(value: Any) -> str:
    return str(value) if isinstance(value, int) else f"'{value}'"


def _duckdb(path: Path, column: str | None, constant: Any) -> Iterable[Record]:
    import duckdb

    where = f' WHERE "{column}" = {_literal(constant)}' if column else ""
    found = duckdb.sql(f"SELECT * FROM read_parquet('{path}', hive_partitioning = false){where}")
    return [dict(zip(found.columns, row, strict=True)) for row in found.fetchall()]


def _arrow_parquet(path: Path, column: str | None, constant: Any) -> Iterable[Record]:
    import pyarrow.parquet as pq

    if column:
        # By statistics of row groups; a folder that is called like a partition adds no column.
        table = pq.read_table(path, filters=[(column, "=", constant)], partitioning=None, **_MICROS)
    else:
        table = pq.ParquetFile(path, **_MICROS).read()
    return _records(table)


def _arrow_orc(path: Path, column: str | None, constant: Any) -> Iterable[Record]:
    import pyarrow.dataset as ds
    import pyarrow.orc as po

    if column:
        return _records(ds.dataset(str(path), format="orc").to_table(filter=ds.field(column) == constant))
    return _records(po.ORCFile(str(path)).read())


def _records(table: Any) -> Iterable[Record]:
    """Nanoseconds are taken as numbers: Python's times have microseconds."""
    import pyarrow as pa

    for place, field in enumerate(table.schema):
        if pa.types.is_timestamp(field.type) and field.type.unit == "ns":
            table = table.set_column(place, field.name, table[place].cast(pa.int64()))
    return list(table.to_pylist())


def _polars(path: Path, column: str | None, constant: Any) -> Iterable[Record]:
    import polars as pl

    frame = pl.scan_parquet(path, hive_partitioning=False)
    return list((frame.filter(pl.col(column) == constant) if column else frame).collect().to_dicts())


def _datafusion(path: Path, column: str | None, constant: Any) -> Iterable[Record]:
    import datafusion

    context = datafusion.SessionContext()
    context.register_parquet("t", str(path), file_extension=path.suffix)
    where = f' WHERE "{column}" = {_literal(constant)}' if column else ""
    return _records(context.sql(f"SELECT * FROM t{where}").to_arrow_table())


def _clickhouse(path: Path, column: str | None, constant: Any) -> Iterable[Record]:
    import chdb

    name = {"parquet": "Parquet", "orc": "ORC", "avro": "Avro"}[kind_of(path)]
    where = f"WHERE `{column}` = {_literal(constant)}" if column else ""
    query = f"SELECT * FROM file('{path}', {name}) {where} SETTINGS {_SETTINGS}"
    # It writes bytes as they are: no UTF-8, and each of them another letter in Latin-1.
    lines = chdb.query(query, "JSONEachRow").bytes().decode("latin-1").split("\n")
    return [json.loads(line) for line in lines if line]


def _pyorc(path: Path, column: str | None, constant: Any) -> Iterator[Record]:
    import pyorc

    with path.open("rb") as source:
        for found in pyorc.Reader(source, struct_repr=pyorc.StructRepr.DICT):
            if column is None or found[column] == constant:
                yield found


def _fastavro(path: Path, column: str | None, constant: Any) -> Iterator[Record]:
    import fastavro

    with path.open("rb") as source:
        for found in fastavro.reader(source):
            if column is None or found[column] == constant:
                yield found


#: The readers of each format, by the name that the page shows.
READERS: dict[str, dict[str, Reader]] = {
    "parquet": {
        "DuckDB": _duckdb,
        "pyarrow": _arrow_parquet,
        "polars": _polars,
        "DataFusion": _datafusion,
        "ClickHouse (chdb)": _clickhouse,
    },
    "orc": {"pyarrow": _arrow_orc, "ClickHouse (chdb)": _clickhouse, "pyorc": _pyorc},
    "avro": {"fastavro": _fastavro, "ClickHouse (chdb)": _clickhouse},
}
_MAGIC = {b"PAR1": "parquet", b"Obj\x01": "avro"}


def kind_of(path: Path) -> str:
    """Return the format of a file, by its first bytes; an empty text for one that is not read here."""
    with path.open("rb") as source:
        start = source.read(4)
    return "orc" if start.startswith(b"ORC") else _MAGIC.get(start, "")


def columns_of(path: Path) -> set[str]:
    """Return the columns that a file has, in which alone a condition can be asked."""
    kind = kind_of(path)
    if kind == "parquet":
        import pyarrow.parquet as pq

        return set(pq.read_schema(path).names)
    if kind == "orc":
        import pyarrow.orc as po

        return set(po.ORCFile(str(path)).schema.names)
    import fastavro

    with path.open("rb") as source:
        return {field["name"] for field in fastavro.reader(source).writer_schema["fields"]}


def answers(questions: Sequence[Question]) -> Iterator[tuple[str, str, str, str | None, str | None]]:
    """Yield reader, table, question, and a record or an error."""
    for table, files, constants in questions:
        known = {path: kind_of(path) for path in files}
        for path, kind in known.items():
            for reader, read in READERS.get(kind, {}).items():
                yield from _of_file(table, path, constants, reader, read)


def _of_file(
    table: str, path: Path, constants: Constants, reader: str, read: Reader
) -> Iterator[tuple[str, str, str, str | None, str | None]]:
    asked = {column: constants[column] for column in sorted(columns_of(path) & set(constants))}
    for column, constant in {None: None, **asked}.items():
        question = column or ALL
        try:
            # Of a partition, rows must not move to another one.
            found = [f"{path.parent.name}: {record(each)}" for each in read(path, column, constant)]
        # A reader in Rust ends with an exception that is no Exception.
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            yield reader, table, question, None, f"{type(error).__name__}: {error}"[:300]
        else:
            yield from ((reader, table, question, each, None) for each in found)


def ask(questions: Sequence[Question], scratch: Path) -> dict[tuple[str, str], dict[str, Answer]]:
    """Return the answers of all readers, by reader and table, and by the name of the question.

    A reader that fails on some file has failed for the question. Raises where the process fails.
    """
    scratch.mkdir(parents=True, exist_ok=True)
    asked, answered = scratch / "questions.json", scratch / "answers.jsonl"
    asked.write_text(json.dumps([[table, list(map(str, files)), known] for table, files, known in questions]))
    command = [paths.env_python(ENV), "-m", "tests.engines.by_path", str(asked), str(answered)]
    subprocess.run(command, cwd=paths.ROOT, env=own_environ(), check=True)
    return _collected(answered)


def _collected(answered: Path) -> dict[tuple[str, str], dict[str, Answer]]:
    rows: dict[tuple[str, str, str], Counter[str]] = {}
    errors: dict[tuple[str, str, str], str] = {}
    for line in answered.read_text().splitlines():
        reader, table, question, row, error = json.loads(line)
        known = rows.setdefault((reader, table, question), Counter())
        if error is None:
            known[sys.intern(row)] += 1
        else:
            errors.setdefault((reader, table, question), error)
    found: dict[tuple[str, str], dict[str, Answer]] = {}
    for (reader, table, question), known in rows.items():
        answer = Answer(known, errors.get((reader, table, question)))
        found.setdefault((reader, table), {})[question] = answer
    return found


def main(asked: str, answered: str) -> None:
    """Answer the questions of a file."""
    questions = [
        (table, [Path(name) for name in files], known)
        for table, files, known in json.loads(Path(asked).read_text())
    ]
    with Path(answered).open("w") as target:
        for answer in answers(questions):
            target.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
