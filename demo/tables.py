"""Create the demo's three tables, with the same contents each time: external, Parquet, many small files.

    python -m demo.tables --warehouse FOLDER      in a Spark environment, with the variables of spark_config

Each is written by one Spark job without a shuffle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

DATABASE = "demo"
DATES = ("2026-02-23", "2026-02-24", "2026-02-25")
FIRST_SECOND = 1771804800  # 2026-02-23T00:00:00Z
REFS = ("A", "B", "C")
EVENTS = ("view", "click", "cart", "purchase", "refund")

COLUMNS = {
    "id": "BIGINT",
    "user_id": "STRING",
    "event_type": "STRING",
    "amount": "DECIMAL(10,2)",
    "event_time": "TIMESTAMP",
    "payload": "STRING",
}


@dataclass(frozen=True)
class DemoTable:
    """A table before its compaction; `units` are the values of its keys, by partition."""

    name: str
    rows: int
    files: int
    keys: tuple[str, ...] = ()
    units: tuple[tuple[str, ...], ...] = ((),)

    @property
    def full_name(self) -> str:
        return f"{DATABASE}.{self.name}"

    @property
    def files_after(self) -> int:
        return len(self.units)


TABLES = (
    DemoTable("lakekeeper_flat", rows=300_000, files=500),
    DemoTable("lakekeeper_events", rows=300_000, files=600, keys=("date",), units=tuple((d,) for d in DATES)),
    DemoTable(
        "lakekeeper_events_2p",
        rows=450_000,
        files=900,
        keys=("date", "ref"),
        units=tuple((d, r) for d in DATES for r in REFS),
    ),
)


def create_all(spark: SparkSession, warehouse: Path) -> None:
    spark.sql(f"DROP DATABASE IF EXISTS {DATABASE} CASCADE")
    spark.sql(f"CREATE DATABASE {DATABASE} LOCATION '{(warehouse / DATABASE).as_uri()}'")
    for table in TABLES:
        create(spark, table, (warehouse / DATABASE / table.name).as_uri())
        print(f"{table.full_name}: {table.rows:,} rows in {table.files} files", flush=True)


def create(spark: SparkSession, table: DemoTable, location: str) -> None:
    """Create one table. Spark splits a range evenly: two tasks write each unit, with a limit of rows for each file."""
    numbers = spark.range(0, table.rows, 1, numPartitions=2 * len(table.units))
    writer = _columns(numbers, table).write.mode("overwrite")
    writer.options(compression="snappy", maxRecordsPerFile=table.rows // table.files)
    writer.partitionBy(*table.keys).parquet(location)
    spark.sql(ddl(table, location))
    if table.keys:
        spark.sql(f"MSCK REPAIR TABLE {table.full_name}")


def ddl(table: DemoTable, location: str) -> str:
    columns = ", ".join(f"`{name}` {kind}" for name, kind in COLUMNS.items())
    keys = ", ".join(f"`{key}` STRING" for key in table.keys)
    partitioned = f"PARTITIONED BY ({keys}) " if keys else ""
    return (
        f"CREATE EXTERNAL TABLE {table.full_name} ({columns}) {partitioned}STORED AS PARQUET "
        f"LOCATION '{location}' TBLPROPERTIES ('parquet.compression'='SNAPPY', 'owner.team'='web-analytics')"
    )


def _columns(numbers: DataFrame, table: DemoTable) -> DataFrame:
    unit = f"id div {table.rows // len(table.units)}"
    kind = f"pmod(xxhash64(id, 'type'), {len(EVENTS)})"
    return numbers.selectExpr(
        "id",
        "concat('user-', lpad(cast(pmod(xxhash64(id, 'user'), 5000) as string), 5, '0')) AS user_id",
        f"{_pick(EVENTS, kind)} AS event_type",
        "cast(pmod(xxhash64(id, 'amount'), 50000) / 100 as decimal(10,2)) AS amount",
        # From seconds since the epoch, so that the values do not depend on a time zone.
        f"timestamp_seconds({FIRST_SECOND} + id * {len(DATES) * 86400} div {table.rows}) AS event_time",
        "concat('{\"session\":\"', substr(sha2(cast(id as string), 256), 1, 16), '\"}') AS payload",
        *(f"{_pick(values, unit)} AS `{key}`" for key, values in _partitions(table)),
    )


def _partitions(table: DemoTable) -> list[tuple[str, tuple[str, ...]]]:
    """Return each key with its values in all units."""
    return [(key, tuple(unit[position] for unit in table.units)) for position, key in enumerate(table.keys)]


def _pick(values: Sequence[str], index: str) -> str:
    """Return the SQL expression that selects one of the values."""
    listed = ", ".join(f"'{value}'" for value in values)
    return f"element_at(array({listed}), cast({index} as int) + 1)"


def main() -> None:
    import argparse

    from pyspark.sql import SparkSession

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--warehouse", type=Path, required=True)
    warehouse: Path = parser.parse_args().warehouse
    spark = (
        SparkSession.builder.appName("demo tables")
        # No _SUCCESS files: the tables contain data files only.
        .config("spark.hadoop.mapreduce.fileoutputcommitter.marksuccessfuljobs", "false")
        .enableHiveSupport()
        .getOrCreate()
    )
    create_all(spark, warehouse.resolve())
    spark.stop()


if __name__ == "__main__":
    main()
