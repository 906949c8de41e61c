"""Groups the footers of Parquet files, and adds their figures up, in Spark's SQL.

What bounds are valid, and in which order, is as in `core/formats/parquet_statistics`.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from spark_jobs.core.formats.parquet_statistics import (
    BETWEEN,
    FIRST_YEAR,
    LAST_YEAR,
    MOMENT,
    NO_TEXT,
    WITH_BOUNDS,
    WITHOUT_BOUNDS,
    Order,
)

_CHUNK = (
    "path: string, codec: string, totalSize: bigint, valueCount: bigint, statistics: string, encrypted: boolean,"
    " bloomFilterOffset: bigint"
)
_BLOCK = f"rowCount: bigint, totalByteSize: bigint, columns: array<struct<{_CHUNK}>>"
_ABOUT = "schema: string, keyValueMetaData: map<string, string>, createdBy: string"
_METADATA = f"fileMetaData: struct<{_ABOUT}>, blocks: array<struct<{_BLOCK}>>"
_FOOTERS = f"array<struct<file: string, parquetMetadata: struct<{_METADATA}>>>"

#: The digits of all scripts, in one unit of UTF-16 each.
_DIGITS = "".join(chr(code) for code in range(0x80, 0xFFFF) if chr(code).isdecimal())
#: A number as Java writes an integer or a decimal, and one of those floating-point numbers that have an order.
_NUMBER = r"\A-?[0-9]{1,20}(\.[0-9]{1,18})?(E-[0-9]{1,2})?\z"
_FLOAT = r"\A-?([0-9]+\.[0-9]+(E-?[0-9]+)?|Infinity)\z"

#: What the files of a group have in common.
_COMMON = ("schema", "writer", "created_by", "blooms")
#: What is added up over them.
_ADDED = ("rows", "blocks")
#: Up to 2^40. The sums over all files of a task have no more than 63 bits.
_POSSIBLE = "BETWEEN 0 AND 1099511627776"
_CHUNKS = (
    "flatten(transform(footer.parquetMetadata.blocks, block -> transform(block.columns, chunk -> struct("
    " chunk.path AS path, chunk.codec AS codec, chunk.totalSize AS size, chunk.valueCount AS entries,"
    " chunk.statistics AS statistics, chunk.bloomFilterOffset AS bloom,"
    " coalesce(chunk.encrypted, false) AS encrypted, chunk.valueCount = block.rowCount AS one_per_row,"
    f" chunk.valueCount {_POSSIBLE} AND block.rowCount {_POSSIBLE} AND chunk.totalSize {_POSSIBLE} AS possible))))"
)


def figures_of_groups(footers: DataFrame, most: int) -> DataFrame:
    """Return the figures of files and of columns, a row for each column and codec of a group.

    Args:
        footers: the JSON text of the `footers` that each `task` has read.
        most: the characters of all rows of a task. Of a task with more there are none.

    Returns:
        `task` and `kind` tell the groups. `names` to `row_group` are those of all files of a group, in one or some of
        its rows: the others have no names. `path` to `one_per_row` are those of a column; `path` is null where no file
        has rows. By the name of an order, the extremes of a column, or null.
    """
    return _small(_added_up(_with_bounds(_parts(_files(footers)))), most)


def _small(rows: DataFrame, most: int) -> DataFrame:
    """Leave out the tasks whose rows are too long together: files of their own kinds have as many rows as columns."""
    length = F.length(F.to_json(F.struct(*rows.columns)))
    return rows.withColumn("small", F.sum(length).over(Window.partitionBy("task")) <= most).where("small")


def _files(footers: DataFrame) -> DataFrame:
    """Return a row for each file."""
    each = footers.select("task", F.explode(F.from_json("footers", _FOOTERS)).alias("footer"))
    named = each.selectExpr("*", f"{_CHUNKS} AS chunks", "footer.parquetMetadata.blocks AS blocks")
    return named.selectExpr(
        "task",
        "chunks",
        "substring_index(footer.file, '/', -1) AS name",
        "footer.parquetMetadata.fileMetaData.schema AS schema",
        "to_json(footer.parquetMetadata.fileMetaData.keyValueMetaData) AS writer",
        "coalesce(footer.parquetMetadata.fileMetaData.createdBy, '') AS created_by",
        "array_except(chunks.path, filter(chunks, chunk -> coalesce(chunk.bloom, -1) < 0).path) AS blooms",
        "coalesce(aggregate(blocks.rowCount, 0L, (sum, rows) -> sum + rows), 0L) AS rows",
        "size(blocks) AS blocks",
        "if(size(blocks) > 1, array_max(blocks.totalByteSize), 0L) AS row_group",
    )


def _parts(files: DataFrame) -> DataFrame:
    """Return a row for each chunk, or for a file without any. The first one of a file has the file's properties."""
    file = F.array(F.struct(*_COMMON, "name", *_ADDED, "row_group")).alias("file")
    parts = files.select(
        "task", F.sha2(F.to_json(F.struct(*_COMMON)), 256).alias("kind"), file, F.col("chunks").alias("chunk")
    )
    each = parts.select("task", "kind", F.explode(F.arrays_zip("file", "chunk")).alias("part"))
    return each.select("task", "kind", "part.file", "part.chunk")


def _with_bounds(parts: DataFrame) -> DataFrame:
    """Return with each chunk its values that are not null, and its bounds in each order in which they are valid."""
    text = F.coalesce(F.col("chunk.statistics"), F.lit(""))
    with_bounds, without = _whole(WITH_BOUNDS.pattern), _whole(WITHOUT_BOUNDS.pattern)
    bounded = parts.select(
        "*",
        F.regexp_extract(text, with_bounds, 1).alias("low"),
        F.regexp_extract(text, with_bounds, 2).alias("high"),
        text.rlike(with_bounds).alias("bounded"),
        F.concat(F.regexp_extract(text, with_bounds, 3), F.regexp_extract(text, without, 1)).alias("nulls"),
    )
    digits = F.translate("nulls", _DIGITS, "".join(str(int(digit)) for digit in _DIGITS))
    nulls = F.when(F.length(digits).between(1, 18), digits).cast("bigint")
    non_null = F.col("chunk.entries") - nulls
    counted = bounded.withColumn("non_null", F.when(non_null >= 0, non_null))
    valid = F.col("bounded") & ~F.col("low").contains(BETWEEN) & ~F.col("high").contains(BETWEEN)
    return counted.select(
        "*",
        *(
            F.when(valid & (F.col("non_null") > 0) & _in_order(order), F.struct("low", "high")).alias(
                order.value
            )
            for order in Order
        ),
    )


def _whole(pattern: str) -> str:
    """Return a pattern of Python's `fullmatch`, in which a dot is also a line feed, for Java.

    As in Python, a digit is one of any script: parquet-java writes the null count with those of the executor's locale.
    """
    return rf"(?sU)\A(?:{pattern})\z"


def _in_order(order: Order) -> Column:
    """Tell whether both bounds are valid in an order, and the lower one comes first; null if not."""
    first = _key(order, "low") <= _key(order, "high")
    year = F.substring("low", 1, 4)
    return first & year.between(FIRST_YEAR, LAST_YEAR) if order is Order.MOMENT else first


def _key(order: Order, name: str) -> Column:
    """Return what the texts of a column are compared by; null for a text that is not valid in this order."""
    value = F.col(name)
    keys = {
        Order.NUMBER: (value.rlike(_NUMBER), value.cast("decimal(38,18)")),
        Order.FLOAT: (value.rlike(_FLOAT), value.cast("double")),
        Order.MOMENT: (value.rlike(_whole(MOMENT.pattern)), value),
        Order.TEXT: (~value.contains(NO_TEXT), value),
    }
    return F.when(*keys[order])


def _added_up(chunks: DataFrame) -> DataFrame:
    groups = chunks.groupBy(
        "task", "kind", F.col("chunk.path").alias("path"), F.col("chunk.codec").alias("codec")
    )
    with_values = F.count(F.when(F.col("non_null") > 0, True))
    return groups.agg(
        F.collect_list("file.name").alias("names"),
        *(F.first(f"file.{name}", ignorenulls=True).alias(name) for name in _COMMON),
        *(F.sum(f"file.{name}").alias(name) for name in _ADDED),
        F.max("file.row_group").alias("row_group"),
        F.count("chunk").alias("chunks"),
        *(F.sum(f"chunk.{name}").alias(name) for name in ("size", "entries")),
        F.when(F.count("non_null") == F.count("chunk"), F.sum("non_null")).alias("non_null"),
        F.min("chunk.one_per_row").alias("one_per_row"),
        F.min("chunk.possible").alias("possible"),
        F.max("chunk.encrypted").alias("encrypted"),
        *(
            F.when(F.count(order.value) == with_values, _extremes(order)).alias(order.value)
            for order in Order
        ),
    )


def _extremes(order: Order) -> Column:
    low, high = f"{order.value}.low", f"{order.value}.high"
    return F.when(
        F.count(order.value) > 0, F.struct(F.min_by(low, _key(order, low)), F.max_by(high, _key(order, high)))
    )
