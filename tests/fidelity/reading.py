"""What a folder of files holds, by a reader that has nothing to do with Spark: pyarrow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.orc
import pyarrow.parquet


def data(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if not path.name.startswith((".", "_")))


def rows(folder: Path) -> list[str]:
    """Every row as text, in the order of its id; -0.0 and NaN are told apart from 0.0 and nothing."""
    found = [row for path in data(folder) for row in table(path)]
    return [repr(row) for row in sorted(found, key=lambda row: row["id"])]


def table(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a file, by lower-cased name; INT96 in microseconds, which hold the years that nanoseconds cannot;
    nanoseconds as numbers."""
    if _is_orc(path):
        found = pa.orc.read_table(path)
    else:
        found = pa.parquet.ParquetFile(path, coerce_int96_timestamp_unit="us").read()
    for number, field in enumerate(found.schema):
        if pa.types.is_timestamp(field.type) and field.type.unit == "ns":
            found = found.set_column(number, field.name, found[number].cast(pa.int64()))
    for row in found.to_pylist():
        yield {key.lower(): value for key, value in row.items()}


def physical(folder: Path) -> dict[str, str]:
    """The physical type of each column, without the order of the columns."""
    found: dict[str, str] = {}
    for path in data(folder):
        found.update(_orc_types(path) if _is_orc(path) else _parquet_types(path))
    return found


def _is_orc(path: Path) -> bool:
    return path.open("rb").read(3) == b"ORC"


def _orc_types(path: Path) -> dict[str, str]:
    return {field.name.lower(): str(field.type) for field in pa.orc.ORCFile(path).schema}


def _parquet_types(path: Path) -> dict[str, str]:
    file = pa.parquet.ParquetFile(path)
    columns = [file.schema.column(number) for number in range(len(file.schema))]
    ids = {
        f"{field.name.lower()} (id)": str((field.metadata or {}).get(b"PARQUET:field_id"))
        for field in file.schema_arrow
    }
    return ids | {
        column.path.lower(): f"{column.physical_type}({column.length}) {column.logical_type}"
        f" {column.max_repetition_level}"
        for column in columns
    }
