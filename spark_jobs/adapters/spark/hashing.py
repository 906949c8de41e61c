"""A fingerprint of rows that does not depend on their order. The rows read and the rows written must have the same one.

A row's hash is Spark's xxhash64 of its columns. This function ignores nulls and empty arrays, and does not distinguish
-0.0 from 0.0. So a flag for null, a flag for the sign of zero, and the size of an array are hashed too. The hashes of
all rows are added up in two halves of 32 bits, so that no sum overflows below 2^31 rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, DoubleType, FloatType, MapType, StructType

_LOW = 0xFFFFFFFF


@dataclass(frozen=True)
class Fingerprint:
    """The number of rows, and the sums of the upper and lower halves of their hashes; None if there are no rows."""

    rows: int
    upper: int | None
    lower: int | None

    @classmethod
    def of(cls, row: Row | dict[str, int]) -> Fingerprint:
        """Return the fingerprint from the results of `aggregates`. Sums over no rows are null."""
        found = row.asDict() if isinstance(row, Row) else row
        return cls(found["rows"], found["upper"], found["lower"])


def aggregates(schema: StructType) -> list[Column]:
    """Return the aggregates of a fingerprint. They can be observed in the pass that writes."""
    rows = F.count(F.lit(1)).alias("rows")
    row = F.xxhash64(*[_flagged(F.col(_quoted(field.name)), field.dataType) for field in schema])
    upper = F.sum(F.shiftrightunsigned(row, 32)).alias("upper")
    return [rows, upper, F.sum(row.bitwiseAND(F.lit(_LOW))).alias("lower")]


def fingerprint(frame: DataFrame, schema: StructType) -> Fingerprint:
    """Compute the fingerprint in a separate pass."""
    first = frame.agg(*aggregates(schema)).first()
    assert first is not None  # noqa: S101 - for mypy: an aggregate has one row
    return Fingerprint.of(first)


def _flagged(column: Column, kind: DataType) -> Column:
    return F.struct(column.isNull().alias("null"), *_parts(column, kind))


def _parts(column: Column, kind: DataType) -> list[Column]:
    """Return what is hashed of a value, as fields of a struct. Spark's hash descends into structs and arrays itself."""
    if isinstance(kind, StructType):
        fields = (_flagged(column.getField(field.name), field.dataType) for field in kind)
        return [field.alias(f"f{number}") for number, field in enumerate(fields)]
    if isinstance(kind, ArrayType):
        return [F.size(column).alias("size"), F.transform(column, _element(kind.elementType)).alias("items")]
    if isinstance(kind, MapType):
        entries = StructType().add("key", kind.keyType).add("value", kind.valueType)
        return _parts(F.map_entries(column), ArrayType(entries))
    if isinstance(kind, (FloatType, DoubleType)):
        negative = F.when(column == 0, column.cast("string").startswith("-"))
        return [column.alias("value"), negative.alias("negative")]
    return [column.alias("value")]


def _element(kind: DataType) -> Callable[[Column], Column]:
    return lambda item: _flagged(item, kind)


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"
