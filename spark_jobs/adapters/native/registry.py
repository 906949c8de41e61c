"""The table formats with an adapter."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import SparkSession

from spark_jobs.adapters.native.iceberg import Iceberg
from spark_jobs.adapters.native.paimon import Paimon
from spark_jobs.protocol.native_ports import NativeFormat


def native_formats(spark: SparkSession) -> Mapping[str, NativeFormat]:
    """Return the formats by name. Nothing is asked of Spark before one of them is used."""
    formats: tuple[NativeFormat, ...] = (Iceberg(spark), Paimon(spark))
    return {each.name: each for each in formats}
