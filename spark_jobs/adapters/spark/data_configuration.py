"""Hadoop's configuration for reading and writing data: what a cluster sets there must not leave out or change rows."""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession

#: With the first ones, readers leave out what is damaged or behind a length. The last ones have their defaults: no
#: cluster needs others, and not all file systems have zero-copy reads.
_STRICT = {  # guard: damage_not_skipped
    "io.skip.checksum.errors": "false",
    "parquet.read.bad.record.threshold": "0",
    "orc.skip.corrupt.data": "false",
    "orc.max.file.length": "9223372036854775807",
    "parquet.metadata.read.parallelism": "5",
    "orc.use.zerocopy": "false",
    "io.file.buffer.size": "65536",
}
#: By these, readers leave out files, rows or columns.
_UNSET = (  # guard: nothing_filtered
    "mapreduce.input.pathFilter.class",
    "parquet.read.filter",
    "parquet.private.read.filter.predicate",
    "parquet.read.schema",
)


def data_configuration(spark: SparkSession) -> Any:
    """Return a copy of the driver's configuration, as the jobs need it where they call Hadoop's classes themselves."""
    spark._jsparkSession.sharedState()  # it reads hive-site.xml
    jvm: Any = spark._jvm
    conf = jvm.org.apache.hadoop.conf.Configuration(spark._jsc.hadoopConfiguration())
    for name in _UNSET:
        conf.unset(name)
    for name, value in _STRICT.items():
        conf.set(name, value)
    return conf
