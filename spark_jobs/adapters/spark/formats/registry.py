"""The adapters of all formats of `core/formats/registry.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import SparkSession

from spark_jobs.adapters.spark.formats.avro import AvroFormat
from spark_jobs.adapters.spark.formats.orc import OrcFormat
from spark_jobs.adapters.spark.formats.parquet import ParquetFormat
from spark_jobs.adapters.spark.formats.sequence import SequenceFormat
from spark_jobs.adapters.spark.formats.spark_format import SparkFormat
from spark_jobs.adapters.spark.formats.text import TextFormat
from spark_jobs.core.formats.footers import Footer
from spark_jobs.core.formats.registry import AVRO, ORC, PARQUET, SEQUENCE, TEXT
from spark_jobs.core.values.model import FileListing
from spark_jobs.protocol.measuring.namenode_calls import NameNodeCalls

_CLASSES: Mapping[str, type[SparkFormat]] = {
    PARQUET: ParquetFormat,
    ORC: OrcFormat,
    AVRO: AvroFormat,
    SEQUENCE: SequenceFormat,
    TEXT: TextFormat,
}


def spark_formats(spark: SparkSession, calls: NameNodeCalls | None = None) -> dict[str, SparkFormat]:
    """Return the formats of a driver by name. Their calls to the NameNode are counted and limited together."""
    calls = calls or NameNodeCalls()
    return {name: kind(spark, calls) for name, kind in _CLASSES.items()}


class FooterReader:
    """Reads footers and headers with the formats' own Java readers, on the driver."""

    def __init__(self, formats: Mapping[str, SparkFormat]) -> None:
        self._formats = formats

    def read(self, directories: Sequence[tuple[str, FileListing]], file_format: str) -> list[list[Footer]]:
        """Return the footers of the data files of each directory. See the port for what it raises."""
        return self._formats[file_format].read(directories)
