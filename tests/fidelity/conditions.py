"""Conditions on the columns of files, by which Spark skips row groups, pages and dictionaries.

A scan finds each row that is there. A condition finds only those that statistics do not hide.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_OPERATORS = ("=", "<>", "<", ">")
#: What is asked for besides the smallest and the largest number.
_NUMBERS = ["0.0", "-0.0", "NaN"]
_SIMPLE = (
    "byte",
    "short",
    "integer",
    "long",
    "float",
    "double",
    "decimal",
    "date",
    "timestamp",
    "string",
    "boolean",
)


def conditions(spark: SparkSession, folder: Path, file_format: str) -> list[str]:
    """Return conditions on the columns of a directory; none if this Spark does not read its files."""
    try:
        return _conditions(spark, folder, file_format)
    except (PySparkException, Py4JJavaError):
        return []


def _conditions(spark: SparkSession, folder: Path, file_format: str) -> list[str]:
    frame = spark.read.format(file_format).load(str(folder))
    found: list[str] = []
    for field in frame.schema.fields:
        kind, name = field.dataType.simpleString(), f"`{field.name}`"
        if not field.dataType.typeName().startswith(_SIMPLE):
            continue
        column = frame.selectExpr(f"{name} AS c").where("c IS NOT NULL")
        bounds = column.selectExpr("CAST(min(c) AS STRING)", "CAST(max(c) AS STRING)").first()
        texts = [text for text in (bounds or ()) if text is not None]
        texts += _NUMBERS if kind in ("float", "double") else []
        found += [_condition(name, each, text, kind) for text in dict.fromkeys(texts) for each in _OPERATORS]
    return found


def _condition(name: str, operator: str, text: str, kind: str) -> str:
    value = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"{name} {operator} CAST('{value}' AS {kind})"


def counts(spark: SparkSession, folder: Path, file_format: str, asked: list[str]) -> dict[str, int]:
    """Return how many rows fulfil each condition. Each one is a scan of its own, all of them are one job."""
    if not asked:
        return {}
    frame: Any = spark.read.format(file_format).load(str(folder))
    scans = [frame.where(each).selectExpr(f"{number} AS n", "1 AS one") for number, each in enumerate(asked)]
    union = scans[0]
    for scan in scans[1:]:
        union = union.union(scan)
    rows = {row.n: row["count"] for row in union.groupBy("n").count().collect()}
    return {each: rows.get(number, 0) for number, each in enumerate(asked)}
