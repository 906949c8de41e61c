"""Rewrite small Parquet files by pyarrow in Spark's Python workers: a trial, no part of the jobs.

spark-submit byte_pipe.py SOURCE TARGET --outputs N

The JVM reads the small files whole and writes the finished bytes, so that tokens, encryption zones and the commit
protocol stay its own; pyarrow reads and writes in memory. The rows of both directories are compared at the end.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.udf import UserDefinedFunction

#: PySpark's number for functions of batches of Arrow (`PythonEvalType.SQL_MAP_ARROW_ITER_UDF`, 3.3 to 4.3).
#: `mapInArrow` itself asks for pandas before Spark 4.
_MAP_IN_ARROW = 207
_OUTPUT = "unit int, value string"


def rewrite(batches: Iterator[Any]) -> Iterator[Any]:
    """Write the files of each unit into one, and yield its bytes as texts, each without the `1` behind it.

    Every Parquet file ends with `PAR1`. The sink for text writes a `1` behind each row, and nothing else.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    units: dict[int, list[Any]] = {}
    for batch in batches:
        for unit, content in zip(batch.column(0).to_pylist(), batch.column(1), strict=True):
            units.setdefault(unit, []).append(content.as_buffer())
    for unit, contents in units.items():
        tables = [pq.read_table(pa.BufferReader(content)) for content in contents]
        written = pa.BufferOutputStream()
        pq.write_table(pa.concat_tables(tables), written, compression="snappy", store_schema=False)
        data = written.getvalue().to_pybytes()
        if pq.ParquetFile(pa.BufferReader(data)).metadata.num_rows != sum(table.num_rows for table in tables):
            raise ValueError(f"unit {unit} has other rows than its files")
        parts = list(_cut(data))
        offsets = [0]
        for part in parts:
            offsets.append(offsets[-1] + len(part))
        buffers = pa.array(offsets, pa.int32()).buffers()[1], pa.py_buffer(b"".join(parts))
        values = pa.StringArray.from_buffers(len(parts), *buffers)
        units_of_parts = pa.array([unit] * len(parts), pa.int32())
        yield pa.RecordBatch.from_arrays([units_of_parts, values], ["unit", "value"])


def _cut(data: bytes, size: int = 1 << 20) -> Iterator[bytes]:
    """Yield parts of about `size` bytes, between which the bytes `1` are."""
    start = 0
    while start < len(data):
        end = data.index(b"1", min(start + size, len(data) - 1))
        yield data[start:end]
        start = end + 1


def pipe(spark: SparkSession, source: str, target: str, outputs: int) -> None:
    files = spark.read.format("binaryFile").option("pathGlobFilter", "*.parquet").load(source)
    unit = F.expr(f"CAST(pmod(xxhash64(path), {outputs}) AS INT)").alias("unit")
    frame = files.select(unit, "content").repartition(outputs, "unit")
    call = UserDefinedFunction(rewrite, _OUTPUT, evalType=_MAP_IN_ARROW)("unit", "content")
    version = tuple(int(part) for part in spark.version.split(".")[:2])
    if version >= (4, 0):
        mapped = frame._jdf.mapInArrow(call._jc, False, None)
    else:
        mapped = frame._jdf.pythonMapInArrow(call._jc.expr(), *([False] if version >= (3, 5) else []))
    # The cluster may compress what is written, which would be no Parquet file any more.
    DataFrame(mapped, spark).write.partitionBy("unit").options(compression="none", lineSep="1").text(target)


def hashed(rows: DataFrame, columns: Sequence[str]) -> tuple[Any, ...]:
    """Return the number of rows and the sum of the hashes of these columns."""
    return tuple(rows.select(F.count("*"), F.sum(F.xxhash64(*columns).cast("decimal(38,0)"))).collect()[0])


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("source")
    parser.add_argument("target", help="must not exist")
    parser.add_argument("--outputs", type=int, default=1, help="so many files are written")
    asked = parser.parse_args()
    spark = SparkSession.builder.appName("byte pipe").getOrCreate()
    started = time.monotonic()
    pipe(spark, asked.source, asked.target, asked.outputs)
    seconds = time.monotonic() - started
    originals = spark.read.parquet(asked.source)
    written = spark.read.option("pathGlobFilter", "*.txt").schema(originals.schema).parquet(asked.target)
    before, after = hashed(originals, originals.columns), hashed(written, originals.columns)
    found = {
        "spark": spark.version,
        "master": spark.sparkContext.master,
        "user": spark.sparkContext.sparkUser(),
    }
    print(json.dumps({**found, "seconds": round(seconds, 1), "rows": before[0], "same": before == after}))
    spark.stop()
    return 0 if before == after else 1


if __name__ == "__main__":
    sys.exit(main())
