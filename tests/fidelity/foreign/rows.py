"""The rows of ORC files as text, by ORC's own reader: unions and nanoseconds included."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def of_orc(spark: SparkSession, files: Iterable[Path]) -> Counter[str]:
    """Each row with its number of times."""
    return Counter(row for file in files for row in _rows(spark._jvm, spark._jsc.hadoopConfiguration(), file))


def _rows(jvm: Any, conf: Any, file: Path) -> Iterable[str]:
    orc = jvm.org.apache.orc.OrcFile
    reader = orc.createReader(jvm.org.apache.hadoop.fs.Path(str(file)), orc.readerOptions(conf))
    rows, batch = reader.rows(), reader.getSchema().createRowBatch()
    try:
        while rows.nextBatch(batch):
            yield from _texts(jvm, batch)
    finally:
        rows.close()


def _texts(jvm: Any, batch: Any) -> list[str]:
    """The rows of a batch: the class of vectors writes each row as a line of values."""
    return [line for line in str(batch.toString()).splitlines() if line.startswith("[")]
