"""The table formats with an adapter."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import SparkSession

from spark_jobs.adapters.native import iceberg, paimon
from spark_jobs.adapters.native.spark_format import SparkFormat
from spark_jobs.protocol.native_ports import NativeFormat


def native_formats(spark: SparkSession) -> Mapping[str, NativeFormat]:
    """Return the formats by name."""
    formats = (
        SparkFormat(spark, "iceberg", iceberg.NEEDS, iceberg.IcebergTable),
        SparkFormat(spark, "paimon", paimon.NEEDS, paimon.PaimonTable),
    )
    return {each.name: each for each in formats}
