"""The engine and the settings with which a unit is rewritten."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum


class Engine(Enum):
    """The engine that rewrites files.

    SPARK converts values to Spark's types. COPY copies records, or whole blocks of them, without
    a conversion. MERGE is ORC's own merge, which copies whole stripes and decodes no value. ARROW is pyarrow in Spark's
    Python workers; such an encoding also has the settings with which Spark writes the same files.
    """

    SPARK = "spark"
    COPY = "copy"
    MERGE = "merge"
    ARROW = "arrow"


class Calendar(Enum):
    """The calendar of days before 1582-10-15, and of timestamps before 1900, in files. Values are modes of Spark."""

    PROLEPTIC = "CORRECTED"
    HYBRID = "LEGACY"
    UNKNOWN = "EXCEPTION"  # guard: unknown_calendar


@dataclass(frozen=True)
class Encoding:
    """An engine with its settings.

    Attributes:
        settings: settings of Spark (`spark.sql.…`).
        exact: columns are nullable exactly where the files say so. By default Spark treats all columns that it reads as
            nullable, and then writes a different list structure in the legacy format.
    """

    engine: Engine = Engine.SPARK
    settings: Mapping[str, str] = field(default_factory=dict)
    exact: bool = False


#: The settings for timestamps and nested types in Parquet, the usual ones first.
PARQUET_SETTINGS = tuple(  # guard: legacy_decimals
    {"spark.sql.parquet.outputTimestampType": timestamps, "spark.sql.parquet.writeLegacyFormat": legacy}
    for legacy in ("false", "true")
    for timestamps in ("TIMESTAMP_MICROS", "INT96", "TIMESTAMP_MILLIS")
)


def calendar_settings(calendar: Calendar, int96: Calendar, zone: str | None) -> dict[str, str]:
    """Return the settings of Spark that keep the stored number of each old date and timestamp.

    If the calendar is not known, Spark fails on the first value for which it matters.

    Args:
        int96: the calendar of INT96 timestamps.
        zone: the time zone of the session; None for the default.
    """
    modes = {
        "spark.sql.parquet.datetimeRebaseMode": calendar.value,
        "spark.sql.parquet.int96RebaseMode": int96.value,
    }
    settings = {f"{key}In{way}": mode for key, mode in modes.items() for way in ("Read", "Write")}
    return {**settings, **({"spark.sql.session.timeZone": zone} if zone else {})}
