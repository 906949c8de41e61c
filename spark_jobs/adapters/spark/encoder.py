"""Chooses how to write a unit so that its physical types stay what they are, before anything is written."""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql import SparkSession

from spark_jobs.adapters.spark.spark_types import SparkTypes
from spark_jobs.core.encoding import PARQUET_SETTINGS, Encoding, Engine, calendar_settings
from spark_jobs.core.errors import Refusal
from spark_jobs.core.footers import Leaves, Profile
from spark_jobs.core.formats import AVRO, ORC, PARQUET, SEQUENCE, TEXT
from spark_jobs.core.orc_types import changed_by_spark, local_time, parse_struct
from spark_jobs.core.parquet_types import parse_message
from spark_jobs.core.refusals import RefusalCode
from spark_jobs.core.struct_types import nullable

#: Tasks that ask an executor for its time zone; they are spread over all that there are.
_PROBES = 16


class Encoder:
    """Spark where it writes what it has read; else a copy record by record, or stripe by stripe, where that loses
    nothing."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._types = SparkTypes(spark)
        self._jvm = spark._jvm
        self._zones: frozenset[str] | None = None

    def choose(self, profile: Profile, file_format: str) -> Encoding:
        """Raises Refusal: TYPE where nothing keeps every type, TIMEZONE where a time zone could shift timestamps,
        SCHEMA_CONFLICT where Avro or sequence files have more than one schema."""
        if file_format in (AVRO, SEQUENCE):
            self._check_strict()
            return _by_records(profile)
        if file_format == ORC:
            return self._orc(profile)
        difference = profile.problem
        for encoding, leaves in self._candidates(profile, file_format):
            found = _difference(profile.leaves, leaves)
            if found is None:
                return encoding
            difference = difference or found
        obstacle = self._cannot_copy(profile, file_format)
        if obstacle is None:
            dates = calendar_settings(profile.calendar, profile.int96_calendar, profile.zone)
            return Encoding(Engine.COPY, dates)
        raise Refusal(RefusalCode.TYPE, f"{difference}; {obstacle}")

    def _check_strict(self) -> None:
        """These formats do not count their rows: what a lenient reader left out, nobody would miss."""
        for name in ("spark.files.ignoreCorruptFiles", "spark.files.ignoreMissingFiles"):
            if self._spark.sparkContext.getConf().get(name, "false") == "true":
                raise Refusal(
                    RefusalCode.LENIENT,
                    f"{name} is true: files that cannot be read would be left out silently",
                )

    def _orc(self, profile: Profile) -> Encoding:
        """By Spark what it wrote itself, and what it cannot change; else stripe by stripe, where they fit together."""
        obstacle = self._not_by_spark(profile)
        if obstacle is None:
            return Encoding()
        if profile.mergeable:
            return Encoding(Engine.MERGE)
        raise Refusal(
            RefusalCode[obstacle.code],
            f"{obstacle.reason}; and their stripes cannot be put together, since the files differ in schema,"
            " compression or writer",
        )

    def _not_by_spark(self, profile: Profile) -> Refusal | None:
        if profile.struct is None:
            return Refusal(RefusalCode.TYPE, profile.problem or "Spark cannot read them")
        difference = _difference(profile.leaves, parse_struct(self._types.orc_text(profile.struct)))
        if difference:
            return Refusal(RefusalCode.TYPE, difference)
        changed = [name for name, kind in profile.leaves.items() if changed_by_spark(kind)]
        if changed and not profile.by_spark:  # guard: values_that_spark_changes
            return Refusal(RefusalCode.TYPE, f"column '{changed[0]}' is one whose values Spark could change")
        return self._moving_zone(profile) if any(map(local_time, profile.leaves.values())) else None

    def _moving_zone(self, profile: Profile) -> Refusal | None:
        """ORC's readers and writers take a local time from one zone to another: an hour that one of them skips, or has
        twice, comes out as another one."""
        moving = sorted(zone for zone in profile.zones | self._java_zones() if not self._fixed(zone))
        # guard: moving_zone
        return (
            Refusal(RefusalCode.TIMEZONE, f"local times in ORC can be shifted by {moving[0]}")
            if moving
            else None
        )

    def _java_zones(self) -> frozenset[str]:
        """Asked of the executors; a zone without such hours does no harm."""
        if self._zones is None:
            probe = self._spark.range(0, _PROBES, 1, _PROBES).selectExpr(
                "reflect('java.time.ZoneId', 'systemDefault') AS zone"
            )
            self._zones = frozenset(row.zone for row in probe.distinct().collect())
        return self._zones

    def _fixed(self, zone: str) -> bool:
        """Has the zone always had one offset from UTC?"""
        found = self._jvm.java.util.TimeZone.getTimeZone(zone).toZoneId()
        return bool(found.getRules().isFixedOffset())

    def _candidates(self, profile: Profile, file_format: str) -> Iterator[tuple[Encoding, Leaves]]:
        """What Spark would write, setting by setting; as it is by itself first."""
        if file_format == TEXT:
            yield Encoding(), profile.leaves
        if profile.struct is None or file_format == TEXT:
            return
        dates = calendar_settings(profile.calendar, profile.int96_calendar, profile.zone)
        for exact in (False, True):
            struct = profile.struct if exact else nullable(profile.struct)
            for settings in PARQUET_SETTINGS:
                leaves = parse_message(self._types.parquet_text(struct, settings))
                yield Encoding(Engine.SPARK, {**dates, **settings}, exact), leaves

    def _cannot_copy(self, profile: Profile, file_format: str) -> str | None:
        """A copy has one schema, to the letter, and none of the notes that writers leave in footers."""
        if len(profile.schemas) != 1:
            return "record by record it cannot be copied either, since the files differ in their schemas"
        if profile.meant:
            return (
                "record by record it cannot be copied either, since Spark or Hive noted how dates are meant"
            )
        if file_format == PARQUET and not self._is_text(profile.schemas[0]):
            return "record by record it cannot be copied either, since a column has an odd name"
        return None

    def _is_text(self, schema: str) -> bool:
        """The writer takes its schema as text; not every name survives that."""
        try:
            parsed = self._jvm.org.apache.parquet.schema.MessageTypeParser.parseMessageType(schema)
        except Exception:
            return False
        return str(parsed.toString()) == schema


def _by_records(profile: Profile) -> Encoding:
    if len(profile.schemas) != 1:
        raise Refusal(RefusalCode.SCHEMA_CONFLICT, f"its files have {len(profile.schemas)} different schemas")
    return Encoding(Engine.COPY)


def _difference(wanted: Leaves, leaves: Leaves) -> str | None:
    """The first column that would become another one."""
    for path in sorted(wanted.keys() | leaves.keys()):
        was, now = wanted.get(path, "absent"), leaves.get(path, "absent")
        if was != now:
            return f"column '{path}' is {was}, and Spark would write it as {now}"
    return None
