"""ORC: written by Spark if Spark wrote it, else merged stripe by stripe by ORC's own merge."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import SparkSession

from spark_jobs.adapters.hadoop.content_errors import content_errors
from spark_jobs.adapters.hadoop.java_errors import is_java_error, root_cause
from spark_jobs.adapters.spark.formats.headers import refuse_missing_class
from spark_jobs.adapters.spark.formats.orc_stripes import OrcStripes
from spark_jobs.adapters.spark.formats.spark_format import SparkFormat, changed_type, with_reading
from spark_jobs.adapters.spark.spark_types import SparkTypes
from spark_jobs.core.formats.encoding import Encoding, Engine
from spark_jobs.core.formats.footers import Footer, Profile
from spark_jobs.core.formats.hadoop_values import variable_in
from spark_jobs.core.formats.orc_statistics import OrcColumn, bounded_by_nan, file_statistics, may_hold_nan
from spark_jobs.core.formats.orc_types import (
    changed_by_spark,
    check_fields,
    has_days,
    local_time,
    parse_struct,
)
from spark_jobs.core.formats.stripes import Stripes
from spark_jobs.core.messages.errors import Refusal, Unreadable
from spark_jobs.core.messages.refusals import RefusalCode
from spark_jobs.core.values.model import name_of
from spark_jobs.protocol.measuring.namenode_calls import NameNodeCalls

#: The number of tasks that ask an executor for its time zone. They are spread over all executors.
_PROBES = 16
#: Settings of a cluster by which ORC's readers and writers change values.
_PINNED = {  # guard: orc_pinned
    # What was readable without a key stays so: without it, readers would get masked values.
    "orc.encrypt": "",
    "orc.mask": "",
    # Spark counts the days of the hybrid calendar, and ORC would note, or convert to, the other one.
    "orc.proleptic.gregorian": "false",
}
#: In the name of a class that belongs to the cluster, not to a codec.
_HADOOP = "org.apache.hadoop."
#: A struct without fields, in the text of a type.
_NO_FIELDS = "struct<>"
#: The classes of values in statistics that are serialized as text.
_AS_TEXT = (
    "org.apache.hadoop.hive.common.type.HiveDecimal",
    "java.util.Date",
    "java.time.chrono.ChronoLocalDate",
)


class OrcFormat(SparkFormat):
    """ORC, with footers by ORC's own reader."""

    options = _PINNED

    def __init__(self, spark: SparkSession, calls: NameNodeCalls) -> None:
        super().__init__(spark, calls)
        self._types = SparkTypes(spark)
        self._executor_zones: frozenset[str] | None = None
        self._mapper = _statistics_mapper(self._jvm)
        self._stripes = OrcStripes(self._jvm)
        self._latin = self._jvm.java.nio.charset.StandardCharsets.ISO_8859_1
        self._columns: dict[str, list[OrcColumn]] = {}

    def _read_one(self, file: str) -> Footer:
        orc = self._jvm.org.apache.orc.OrcFile
        path = self._jvm.org.apache.hadoop.fs.Path(file)
        with content_errors(f"cannot read the footer of {file}", file):
            try:
                reader = orc.createReader(path, orc.readerOptions(self._conf))
            except Exception as error:
                if is_java_error(error) and _HADOOP not in root_cause(error)[1]:
                    refuse_missing_class(path, error)
                raise
            try:
                if len(reader.getColumnEncryptionKeys()):
                    # Without the key, ORC reads masked values, and a rewrite would keep only these.
                    raise Refusal(RefusalCode.ENCRYPTED, f"{name_of(file)} holds encrypted columns")
                schema = reader.getSchema()
                return with_reading(self._footer(file, reader, schema), self._types.of_orc(schema))
            finally:
                reader.close()

    def _footer(self, file: str, reader: Any, kind: Any) -> Footer:
        codec, schema = str(reader.getCompressionKind().toString()), str(kind.toString())
        version, rows = str(reader.getWriterVersion().toString()), int(reader.getNumberOfRows())
        stripes = self._rows_of_stripes(reader)
        if sum(stripes) != rows:  # guard: rows_of_stripes
            raise Unreadable(
                file, f"it is damaged: its footer has {rows} rows, and its stripes {sum(stripes)}"
            )
        stride = int(reader.getRowIndexStride())
        obstacle, bare = self._stripes.obstacle(reader, kind, schema, stride, len(stripes))
        proleptic = bool(reader.writerUsedProlepticGregorian())
        keys = json.loads(self._mapper.writeValueAsString(reader.getMetadataKeys()))
        columns = self._columns_of(kind, schema)
        statistics = self._in_json(reader.getStatistics())
        writer = {str(key): str(self._latin.decode(reader.getMetadataValue(key)).toString()) for key in keys}
        common = (
            schema,
            codec,
            stride,
            reader.getFileVersion().toString(),
            version,
            proleptic,
            sorted(writer.items()),
        )
        return Footer(
            name_of(file),
            rows,
            {codec: reader.getContentLength()},
            parse_struct(schema),
            writer,
            schema,
            stripes=Stripes(repr(common), obstacle, bare, proleptic),
            zones=_zones(reader) if local_time(schema) else frozenset(),
            statistics=file_statistics(columns, statistics, rows, version),
            bounded_by_nan=self._bounded_by_nan(reader, columns, statistics),
        )

    def _rows_of_stripes(self, reader: Any) -> list[int]:
        """Return the number of rows of each stripe: readers do not ask the footer."""
        stripes = json.loads(self._mapper.writeValueAsString(reader.getStripes()))
        return [int(stripe["numberOfRows"]) for stripe in stripes]

    def _columns_of(self, kind: Any, schema: str) -> list[OrcColumn]:
        if schema not in self._columns:
            self._columns[schema] = _columns(kind)
        return self._columns[schema]

    def _in_json(self, statistics: Any) -> Sequence[Mapping[str, Any]]:
        """Return statistics of the footer, which is read already, by one call to the JVM."""
        try:
            return list(json.loads(self._mapper.writeValueAsString(statistics)))
        except Exception as error:
            if not is_java_error(error):
                raise
            return []  # they cannot be serialized: nothing is compared

    def _bounded_by_nan(
        self, reader: Any, columns: Sequence[OrcColumn], statistics: Sequence[Mapping[str, Any]]
    ) -> frozenset[str]:
        """Return the columns that have NaN as their bounds in a stripe. Files without NaNs cost no call to the JVM."""
        if not may_hold_nan(columns, statistics):
            return frozenset()
        stripes = self._in_json(reader.getStripeStatistics())
        return bounded_by_nan(columns, [stripe["columnStatistics"] for stripe in stripes])

    def encoding(self, profile: Profile) -> Encoding:
        """Return Spark as the engine if it changes neither types nor values.

        Else the stripes are merged, if the files allow it.
        """
        obstacle = self._not_by_spark(profile)
        if obstacle is None:
            return Encoding()
        if profile.stripes and not profile.stripes.obstacle:
            return Encoding(Engine.MERGE)
        raise Refusal(
            RefusalCode[obstacle.code],
            f"{obstacle.reason}; and their stripes cannot be merged, because"
            f" {profile.stripes.obstacle if profile.stripes else 'nothing is known of them'}",
        )

    def _not_by_spark(self, profile: Profile) -> Refusal | None:
        """Return why Spark cannot write the files without a change of types or values; None if it can."""
        variable = variable_in(profile.schemas)
        if variable:  # guard: orc_names_without_variables
            return variable
        if profile.struct is None:
            return Refusal(RefusalCode.TYPE, profile.problem or "Spark cannot read them")
        types = self._types.orc_text(profile.struct)
        if _NO_FIELDS in types:
            return Refusal(RefusalCode.TYPE, "a struct has no fields, and Spark writes none without")
        difference = changed_type(profile.leaves, parse_struct(types))
        if difference:
            return Refusal(RefusalCode.TYPE, difference)
        changed = [name for name, kind in profile.leaves.items() if changed_by_spark(kind)]
        if changed and not profile.by_spark:  # guard: values_that_spark_changes
            return Refusal(
                RefusalCode.TYPE, f"column '{changed[0]}' has a type of which Spark may change values"
            )
        days = [name for name, kind in profile.leaves.items() if has_days(kind)]
        if days and profile.stripes and profile.stripes.proleptic:  # guard: calendar_of_orc
            return Refusal(
                RefusalCode.CALENDAR,
                f"the days of column '{days[0]}' are of the proleptic calendar, which Spark does not write in ORC",
            )
        return self._moving_zone(profile) if any(map(local_time, profile.leaves.values())) else None

    def _moving_zone(self, profile: Profile) -> Refusal | None:
        """Return a refusal if a time zone with clock changes takes part in reading or writing; or None.

        ORC's readers and writers convert local times between zones. A local time that one of the zones skips or has
        twice becomes another one.
        """
        moving = sorted(zone for zone in profile.zones | self._java_zones() if not self._fixed(zone))
        # guard: moving_zone
        return (
            Refusal(
                RefusalCode.TIMEZONE, f"local times in ORC may change by the clock changes of {moving[0]}"
            )
            if moving
            else None
        )

    def _java_zones(self) -> frozenset[str]:
        """Return the time zones of the executors."""
        if self._executor_zones is None:
            probe = self._spark.range(0, _PROBES, 1, _PROBES).selectExpr(
                "reflect('java.time.ZoneId', 'systemDefault') AS zone"
            )
            self._executor_zones = frozenset(row.zone for row in probe.distinct().collect())
        return self._executor_zones

    def _fixed(self, zone: str) -> bool:
        """Tell whether the zone has always had the same offset from UTC."""
        zone_id = self._jvm.java.util.TimeZone.getTimeZone(zone).toZoneId()
        return bool(zone_id.getRules().isFixedOffset())


def _zones(reader: Any) -> frozenset[str]:
    """Return the time zones in which the stripes were written."""
    rows = reader.rows()
    try:
        return frozenset(
            str(rows.readStripeFooter(stripe).getWriterTimezone()) for stripe in reader.getStripes()
        )
    finally:
        rows.close()


def _columns(schema: Any) -> list[OrcColumn]:
    """Return all columns below the root, in the order of their ids; there are few schemas among thousands of files.

    Raises:
        Refusal: SCHEMA_CONFLICT if two fields of a struct differ only in case: Spark would read one of them twice.
    """
    kinds = [schema.findSubtype(number) for number in range(1, int(schema.getMaximumId()) + 1)]
    for kind in kinds:
        if str(kind.getCategory().getName()) == "struct":
            check_fields([str(name) for name in kind.getFieldNames()], str(kind.getFullFieldName()))
    return [
        OrcColumn(str(kind.getFullFieldName()).lower(), str(kind.getCategory().getName())) for kind in kinds
    ]


def _statistics_mapper(jvm: Any) -> Any:
    databind = jvm.com.fasterxml.jackson.databind
    mapper = databind.ObjectMapper()
    mapper.disable(databind.SerializationFeature.FAIL_ON_EMPTY_BEANS)
    module = databind.module.SimpleModule()
    for name in _AS_TEXT:
        module.addSerializer(jvm.java.lang.Class.forName(name), databind.ser.std.ToStringSerializer.instance)
    return mapper.registerModule(module)
