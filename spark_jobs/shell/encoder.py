"""Chooses how to write a unit so that its physical types stay what they are, before anything is written."""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql import SparkSession

from spark_jobs.core.eligibility import AVRO, ORC, PARQUET, SEQUENCE, TEXT
from spark_jobs.core.encoding import PARQUET_SETTINGS, Encoding, Engine, calendar_settings
from spark_jobs.core.errors import Refusal
from spark_jobs.core.footers import Leaves, Profile
from spark_jobs.core.orc_types import parse_struct
from spark_jobs.core.parquet_types import parse_message
from spark_jobs.core.struct_types import nullable
from spark_jobs.shell.spark_types import SparkTypes

#: Tasks that ask an executor for its time zone; they are spread over all that there are.
_PROBES = 16


class Encoder:
    """Spark where it writes what it has read; else a copy record by record, where that loses nothing."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._types = SparkTypes(spark)
        self._jvm = spark._jvm
        self._zones: set[str] | None = None

    def choose(self, profile: Profile, file_format: str) -> Encoding:
        """Raises Refusal: TYPE where neither keeps every type, TIMEZONE where Java's zone could shift timestamps,
        SCHEMA_CONFLICT where Avro or sequence files have more than one schema."""
        if file_format in (AVRO, SEQUENCE):
            return _by_records(profile)
        if file_format == ORC and any(_local_time(kind) for kind in profile.leaves.values()):
            self._check_zone()
        difference = profile.problem
        for encoding, leaves in self._candidates(profile, file_format):
            found = _difference(profile.leaves, leaves)
            if found is None:
                return encoding
            difference = difference or found
        obstacle = self._cannot_copy(profile, file_format)
        if obstacle is None:
            return Encoding(Engine.COPY)
        raise Refusal("TYPE", f"{difference}; {obstacle}")

    def _check_zone(self) -> None:
        """ORC's readers and writers take a local time through Java's zone: an hour that this zone skips, or has twice,
        comes out as another one. Asked of the executors; a zone without such hours does no harm."""
        if self._zones is None:
            probe = self._spark.range(0, _PROBES, 1, _PROBES).selectExpr(
                "reflect('java.time.ZoneId', 'systemDefault') AS zone"
            )
            self._zones = {row.zone for row in probe.distinct().collect()}
        moving = sorted(zone for zone in self._zones if not self._fixed(zone))
        if moving:
            raise Refusal(
                "TIMEZONE",
                f"ORC timestamps can be shifted where Java runs in {moving[0]}; give it -Duser.timezone=UTC"
                " (spark.driver.extraJavaOptions, spark.executor.extraJavaOptions)",
            )

    def _fixed(self, zone: str) -> bool:
        """Has the zone had one offset from UTC, month by month?"""
        months = "explode(sequence(DATE'1850-01-01', DATE'2037-12-01', INTERVAL 1 MONTH)) AS day"
        frame = self._spark.sql(f"SELECT {months}").selectExpr("CAST(day AS TIMESTAMP) AS t")
        offset = f"unix_timestamp(to_utc_timestamp(t, '{zone}')) - unix_timestamp(t)"
        return bool(frame.selectExpr(f"{offset} AS offset").distinct().count() == 1)

    def _candidates(self, profile: Profile, file_format: str) -> Iterator[tuple[Encoding, Leaves]]:
        """What Spark would write, setting by setting; as it is by itself first."""
        if file_format == TEXT:
            yield Encoding(), profile.leaves
        if profile.struct is None or file_format == TEXT:
            return
        if file_format == ORC:
            yield Encoding(), parse_struct(self._types.orc_text(profile.struct))
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
        raise Refusal("SCHEMA_CONFLICT", f"its files have {len(profile.schemas)} different schemas")
    return Encoding(Engine.COPY)


def _local_time(kind: str) -> bool:
    """Is there a timestamp in an ORC type that is not an instant?"""
    return "timestamp" in kind.replace("timestamp with local time zone", "")


def _difference(wanted: Leaves, leaves: Leaves) -> str | None:
    """The first column that would become another one."""
    for path in sorted(wanted.keys() | leaves.keys()):
        was, now = wanted.get(path, "absent"), leaves.get(path, "absent")
        if was != now:
            return f"column '{path}' is {was}, and Spark would write it as {now}"
    return None
