"""Tables of Iceberg and Paimon with small files, and what their own metadata says of them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FORMATS = "iceberg,paimon"
#: By kind: its format, the DDL behind the columns, and the partitions that are written.
KINDS = {
    "iceberg": ("iceberg", "USING iceberg PARTITIONED BY (k)", ("a", "b")),
    "iceberg_flat": ("iceberg", "USING iceberg", ("a", "b")),
    "iceberg_days": ("iceberg", "USING iceberg PARTITIONED BY (days(ts))", ("a", "b")),
    "paimon": ("paimon", "PARTITIONED BY (k)", ("a", "b")),
    "paimon_flat": ("paimon", "", ("a", "b")),
    "paimon_keyed": (
        "paimon",
        "PARTITIONED BY (k) TBLPROPERTIES ('primary-key'='id,k', 'bucket'='1', 'write-only'='true')",
        ("a", "b"),
    ),
}
WRITES = 6


def table_of(kind: str, database: str) -> str:
    """The name by which a session reads and writes a table of this kind."""
    catalog = "paimon" if KINDS[kind][0] == "paimon" else "spark_catalog"
    return f"{catalog}.{database}.{kind}"


def make(spark: SparkSession, kind: str, database: str) -> str:
    """Create a table, and write a file into each partition several times. Return its name."""
    name = table_of(kind, database)
    # Paimon's own catalog takes no USING.
    spark.sql(f"CREATE TABLE {name} (id BIGINT, v STRING, ts TIMESTAMP, k STRING) {KINDS[kind][1]}")
    for number in range(WRITES):
        append(spark, kind, database, number)
    return name


def append(spark: SparkSession, kind: str, database: str, number: int) -> None:
    """One commit with rows of each partition."""
    values = ", ".join(
        f"({number * 10 + place}, 'v{number}', TIMESTAMP '2026-01-0{place + 1} 12:00:00', '{key}')"
        for place, key in enumerate(KINDS[kind][2])
    )
    spark.sql(f"INSERT INTO {table_of(kind, database)} VALUES {values}")


def rows(spark: SparkSession, kind: str, database: str) -> Counter[str]:
    """All rows, as a reader of the format sees them now."""
    spark.sql(f"REFRESH TABLE {table_of(kind, database)}")
    return Counter(str(row) for row in spark.sql(f"SELECT * FROM {table_of(kind, database)}").collect())


def files(spark: SparkSession, kind: str, database: str) -> int:
    """How many data files the table has now, by the format's own metadata."""
    spark.sql(f"REFRESH TABLE {table_of(kind, database)}")
    if KINDS[kind][0] == "paimon":
        (count,) = spark.sql(f"SELECT count(*) FROM paimon.{database}.`{kind}$files`").first()
    else:
        (count,) = spark.sql(
            f"SELECT count(*) FROM {table_of(kind, database)}.files WHERE content = 0"
        ).first()
    return int(count)
