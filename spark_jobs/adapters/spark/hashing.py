"""A fingerprint of rows that does not depend on their order. The rows read and the rows written must have the same one.

A row's hash is Spark's xxhash64 of its columns. This function ignores nulls and empty arrays, and distinguishes neither
-0.0 from 0.0 nor one NaN from another. So a flag for null and the size of an array are hashed too, and of a float or
double its bits. The hashes of all rows are added up in two halves of 32 bits, so that no sum overflows below 2^31 rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, DoubleType, FloatType, MapType, StructType

from spark_jobs.adapters.spark.catalyst import JavaCalls

_LOW = 0xFFFFFFFF
#: By type: Java's class, its methods for the bits of a value and for those with one NaN, and the type of the bits.
_BITS: dict[type[DataType], tuple[str, str, str, str]] = {
    FloatType: ("java.lang.Float", "floatToRawIntBits", "floatToIntBits", "integer"),
    DoubleType: ("java.lang.Double", "doubleToRawLongBits", "doubleToLongBits", "long"),
}


@dataclass(frozen=True)
class Fingerprint:
    """The number of rows, and the sums of the upper and lower halves of their hashes; None if there are no rows.

    `bytes` is the sum of the lengths of all texts, for lines of text.
    """

    rows: int
    upper: int | None
    lower: int | None
    bytes: int | None = None

    @classmethod
    def of(cls, row: Row | dict[str, int]) -> Fingerprint:
        """Return the fingerprint from the results of `aggregates`. Sums over no rows are null."""
        values = row.asDict() if isinstance(row, Row) else row
        return cls(values["rows"], values["upper"], values["lower"], values.get("bytes"))


class Hashing:
    """The fingerprints of one driver.

    Attributes:
        one_nan: all NaNs are the same. Else their bits are compared, as of all floats.
    """

    def __init__(self, spark: SparkSession, one_nan: bool = False) -> None:
        self._java = JavaCalls(spark)
        self._one_nan = one_nan
        #: The last aggregates: the units of a table have one schema, and to make them takes a hundred calls to the JVM.
        self._made: tuple[tuple[str, bool], list[Column]] | None = None

    def aggregates(self, schema: StructType, lines: bool = False) -> list[Column]:
        """Return the aggregates of a fingerprint. They can be observed in the pass that writes.

        Args:
            lines: the only column has lines of text, whose bytes are counted.
        """
        key, made = (schema.json(), lines), self._made
        if made is None or made[0] != key:
            made = self._made = (key, self._aggregates(schema, lines))
        return made[1]

    def _aggregates(self, schema: StructType, lines: bool) -> list[Column]:
        columns = [(F.col(_quoted(field.name)), field.dataType) for field in schema]
        row = F.xxhash64(*[self._flagged(column, kind) for column, kind in columns])
        upper = F.sum(F.shiftrightunsigned(row, 32)).alias("upper")
        aggregates = [
            F.count(F.lit(1)).alias("rows"),
            upper,
            F.sum(row.bitwiseAND(F.lit(_LOW))).alias("lower"),
        ]
        return [*aggregates, F.sum(F.expr("octet_length(value)")).alias("bytes")] if lines else aggregates

    def fingerprint(self, frame: DataFrame, schema: StructType, lines: bool = False) -> Fingerprint:
        """Compute the fingerprint in a separate pass."""
        first = frame.agg(*self.aggregates(schema, lines)).first()
        assert first is not None  # noqa: S101 - for mypy: an aggregate has one row
        return Fingerprint.of(first)

    def _flagged(self, column: Column, kind: DataType) -> Column:
        return F.struct(column.isNull().alias("null"), *self._parts(column, kind))

    def _parts(self, column: Column, kind: DataType) -> list[Column]:
        """Return what is hashed of a value, as fields of a struct. Spark's hash descends into structs and arrays."""
        if isinstance(kind, StructType):
            fields = (self._flagged(column.getField(field.name), field.dataType) for field in kind)
            return [field.alias(f"f{number}") for number, field in enumerate(fields)]
        if isinstance(kind, ArrayType):
            items = F.transform(column, self._element(kind.elementType))
            return [F.size(column).alias("size"), items.alias("items")]
        if isinstance(kind, MapType):
            entries = StructType().add("key", kind.keyType).add("value", kind.valueType)
            return self._parts(F.map_entries(column), ArrayType(entries))
        if type(kind) in _BITS:
            return [self._bits(column, *_BITS[type(kind)]).alias("bits")]
        return [column.alias("value")]

    def _bits(self, column: Column, owner: str, raw: str, one_nan: str, answer: str) -> Column:
        """Return the bits of floats: all of them, or the canonical NaN's for each NaN."""
        method = one_nan if self._one_nan else raw  # guard: bits_of_floats_hashed
        return self._java.static_column(owner, method, answer, column)

    def _element(self, kind: DataType) -> Callable[[Column], Column]:
        return lambda item: self._flagged(item, kind)


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"
