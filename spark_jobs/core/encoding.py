"""How a unit is written again: by which engine, with which settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum


class Engine(Enum):
    """Who writes: Spark through its own types, Hadoop's readers and writers record by record without any, or ORC's own
    merge, which moves whole stripes and looks at no value."""

    SPARK = "spark"
    COPY = "copy"
    MERGE = "merge"


class Calendar(Enum):
    """How days before 1582-10-15, and instants before 1900, are counted in files; the values are Spark's modes."""

    PROLEPTIC = "CORRECTED"
    HYBRID = "LEGACY"
    UNKNOWN = "EXCEPTION"  # guard: unknown_calendar


@dataclass(frozen=True)
class Encoding:
    """`settings` are Spark's (`spark.sql.…`). `exact`: what may be null is as the files say; Spark by itself takes all
    that it reads for nullable, which makes other lists of it in the legacy format."""

    engine: Engine = Engine.SPARK
    settings: Mapping[str, str] = field(default_factory=dict)
    exact: bool = False


#: How Spark can write timestamps and nested types to Parquet, the usual ways first.
PARQUET_SETTINGS = tuple(  # guard: legacy_decimals
    {
        "spark.sql.parquet.outputTimestampType": timestamps,
        "spark.sql.parquet.writeLegacyFormat": legacy,
    }
    for legacy in ("false", "true")
    for timestamps in ("TIMESTAMP_MICROS", "INT96", "TIMESTAMP_MILLIS")
)


def calendar_settings(calendar: Calendar, int96: Calendar, zone: str | None) -> dict[str, str]:
    """How Spark must read and write ancient dates so that each stays the number that it is in the file.

    Where the calendar is not known Spark fails on the first value for which it matters.
    """
    modes = {
        "spark.sql.parquet.datetimeRebaseMode": calendar.value,
        "spark.sql.parquet.int96RebaseMode": int96.value,
    }
    found = {f"{key}In{way}": mode for key, mode in modes.items() for way in ("Read", "Write")}
    return {**found, **({"spark.sql.session.timeZone": zone} if zone else {})}
