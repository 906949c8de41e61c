"""Finds out how Spark reads the types in files, and what it would write for them, with Spark's own converters.

The converters are not part of Spark's public interface. They are the same from Spark 3.3 to 4.3. Their result is
compared with the files that were written. So if a later version changes them, units are refused, and no data is
changed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from pyspark.sql import SparkSession

from spark_jobs.adapters.hadoop.java_errors import root_cause
from spark_jobs.adapters.spark.sessions import Sessions
from spark_jobs.core.formats.hadoop_values import variable_in
from spark_jobs.core.formats.parquet_json import Reading

#: A type that Spark 4 can read into a schema, but does not write.
_TIME = '"time('


class SparkTypes:
    """Spark's converters between its types and those of files."""

    def __init__(self, spark: SparkSession) -> None:
        self._jvm = cast(Any, spark._jvm)
        self._sessions = Sessions(spark)
        self._parquet = self._jvm.org.apache.spark.sql.execution.datasources.parquet
        #: The schemas that Spark writes, by columns and settings: most units share one.
        self._texts: dict[tuple[str, tuple[tuple[str, str], ...]], str] = {}
        self._orc = self._jvm.org.apache.spark.sql.execution.datasources.orc.OrcUtils

    def of_parquet(self, message: Any) -> Reading:
        """Return the columns of a `MessageType`. They are converted one by one, so that the reason names the column."""
        converter = self._parquet.ParquetToSparkSchemaConverter(self._conf({}))
        fields = []
        for field in message.getFields():
            alone = self._jvm.org.apache.parquet.schema.MessageType(
                "spark_schema", self._jvm.java.util.Collections.singletonList(field)
            )
            try:
                text = converter.convert(alone).json()
                if _TIME in text:
                    return Reading(
                        None, f"column '{field.getName()}' holds times of day, which Spark cannot write"
                    )
                fields += json.loads(text)["fields"]
            except Exception as error:
                return Reading(
                    None, f"column '{field.getName()}' cannot be read by Spark: {root_cause(error)[1]}"
                )
        return Reading(json.dumps({"type": "struct", "fields": fields}))

    def of_orc(self, schema: Any) -> Reading:
        """Return the columns of a `TypeDescription`."""
        variable = variable_in([str(schema.toString())])
        if variable:  # guard: orc_not_read_by_variables
            return Reading(None, variable.reason)
        try:
            return Reading(self._orc.toCatalystSchema(schema).json())
        except Exception as error:
            return Reading(None, f"{schema.toString()} cannot be read by Spark: {root_cause(error)[1]}")

    def parquet_text(self, struct: str, settings: Mapping[str, str]) -> str:
        """Return, as text, the schema that Spark writes to a Parquet file of these columns."""
        key = (struct, tuple(sorted(settings.items())))
        if key not in self._texts:
            converter = self._parquet.SparkToParquetSchemaConverter(self._conf(settings))
            self._texts[key] = str(converter.convert(self._struct(struct)).toString())
        return self._texts[key]

    def orc_text(self, struct: str) -> str:
        """Return, as text, the schema that Spark writes to an ORC file of these columns."""
        return str(self._orc.getOrcSchemaString(self._struct(struct)))

    def _struct(self, struct: str) -> Any:
        return self._jvm.org.apache.spark.sql.types.DataType.fromJson(struct)

    def _conf(self, settings: Mapping[str, str]) -> Any:
        return self._sessions.get(settings)._jsparkSession.sessionState().conf()
