"""The texts of Hive's types: the same as those of PySpark, without its parser."""

from __future__ import annotations

import json

import pytest
from pyspark.sql import types as T

from spark_jobs.core.formats.struct_types import hive_type

_STRUCT = T.StructType([T.StructField("a b", T.LongType()), T.StructField("c", T.ArrayType(T.ShortType()))])
_TYPES = [
    T.ByteType(),
    T.ShortType(),
    T.IntegerType(),
    T.LongType(),
    T.FloatType(),
    T.DoubleType(),
    T.DecimalType(38, 18),
    T.BooleanType(),
    T.BinaryType(),
    T.StringType(),
    T.DateType(),
    T.TimestampType(),
    T.DayTimeIntervalType(0, 3),
    T.NullType(),
    T.ArrayType(_STRUCT),
    T.MapType(T.IntegerType(), _STRUCT),
    _STRUCT,
]


@pytest.mark.parametrize("kind", _TYPES, ids=str)
def test_a_type_has_the_text_that_pyspark_gives_it(kind: T.DataType) -> None:
    assert hive_type(json.loads(kind.json())) == kind.simpleString()


def test_a_type_of_another_version_is_its_name() -> None:
    names = ("variant", "interval", "varchar(7)")
    assert tuple(hive_type({"type": "array", "elementType": name}) for name in names) == (
        "array<variant>",
        "array<interval>",
        "array<varchar(7)>",
    )
