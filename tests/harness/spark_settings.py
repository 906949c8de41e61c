"""What a test may change about a session, so that the next module finds it as this one did."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@contextmanager
def restored(spark: SparkSession) -> Iterator[None]:
    """Puts back SQL settings, Hadoop's configuration, the time zone and the current database; drops cached tables."""
    settings, hadoop, zones = sql_settings(spark), _Hadoop(spark), spark._jvm.java.util.TimeZone
    zone, database = zones.getDefault(), spark.catalog.currentDatabase()
    try:
        yield
    finally:
        _restore_sql(spark, settings)
        hadoop.restore()
        zones.setDefault(zone)
        spark.catalog.setCurrentDatabase(database)
        spark.catalog.clearCache()


def sql_settings(spark: SparkSession) -> dict[str, str]:
    """What was set for this session; defaults are not among it."""
    return {row["key"]: row["value"] for row in spark.sql("SET").collect()}


def _restore_sql(spark: SparkSession, before: dict[str, str]) -> None:
    # Only what differs is touched, for settings that are fixed at the start may not be set again.
    now = sql_settings(spark)
    for key in now.keys() - before.keys():
        spark.conf.unset(key)
    for key, value in before.items():
        if now.get(key) != value:
            spark.conf.set(key, value)


class _Hadoop:
    """The configuration that all sessions of this process share, as it was."""

    def __init__(self, spark: SparkSession) -> None:
        self._jvm: Any = spark._jvm
        self._conf: Any = spark._jsc.hadoopConfiguration()
        self._before = self._values()
        # Values that refer to others (`${...}`) go back as they were written.
        self._copy = self._jvm.org.apache.hadoop.conf.Configuration(self._conf)

    def restore(self) -> None:
        now = self._values()
        for key in {key for key, _ in now.items() ^ self._before.items()}:
            raw = self._copy.getRaw(key)
            if raw is None:
                self._conf.unset(key)
            else:
                self._conf.set(key, raw)

    def _values(self) -> dict[str, str]:
        """In one call: there are more than a thousand of them."""
        mapper = self._jvm.com.fasterxml.jackson.databind.ObjectMapper()
        return dict(json.loads(mapper.writeValueAsString(self._conf.getPropsWithPrefix(""))))
