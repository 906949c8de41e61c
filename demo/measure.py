"""What a reader sees of the demo's tables: files, rows, contents, query times, the metastore's entries.

None of it comes from the provider's own report. The files are listed here; the rest is asked of Spark:

    python -m demo.measure --out FILE [--repair]      in a Spark environment
"""

from __future__ import annotations

import json
import os
import statistics
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from demo.tables import DATABASE, TABLES, DemoTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RUNS = 3
HIDDEN = (".", "_")

# Rewritten by the metastore or by ANALYZE, and no part of how the table was declared.
STATISTICS = (
    "COLUMN_STATS_ACCURATE",
    "numFiles",
    "numRows",
    "rawDataSize",
    "totalSize",
    "transient_lastDdlTime",
    "spark.sql.statistics.",
)


@dataclass(frozen=True)
class Asked:
    """The answers of Spark and of the metastore about one table."""

    rows: int
    checksum: str
    seconds: float
    catalog: dict[str, Any]
    backups: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Measured:
    """One table at one moment."""

    files: int
    bytes: int
    asked: Asked


def list_files(folder: Path) -> tuple[int, int]:
    """Count and bytes of what a reader would open: nothing hidden, nothing below a hidden folder."""
    count = size = 0
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(HIDDEN)]
        visible = [Path(parent, name) for name in names if not name.startswith(HIDDEN)]
        count += len(visible)
        size += sum(path.stat().st_size for path in visible)
    return count, size


def combine(warehouse: Path, answers: Path) -> dict[str, Measured]:
    """The listing of now, with what Spark wrote to its file."""
    asked = {name: Asked(**found) for name, found in json.loads(answers.read_text()).items()}
    return {
        table.name: Measured(*list_files(warehouse / DATABASE / table.name), asked[table.name])
        for table in TABLES
    }


def ask(spark: SparkSession, table: DemoTable) -> Asked:
    rows, checksum = contents(spark, table.full_name)
    return Asked(rows, checksum, query_seconds(spark, table), catalog(spark, table), backups(spark, table))


def contents(spark: SparkSession, name: str) -> tuple[int, str]:
    """Rows, and a checksum over every value in which their order does not show."""
    hashes = "sum(cast(xxhash64(*) AS DECIMAL(38, 0))), bit_xor(xxhash64(*))"
    rows, total, folded = spark.sql(f"SELECT count(*), {hashes} FROM {name}").collect()[0]
    return rows, f"{total}/{folded}"


def backups(spark: SparkSession, table: DemoTable) -> list[str]:
    """The checksums of the tables that say they hold this table's originals."""
    names = [f"{DATABASE}.{row.tableName}" for row in spark.sql(f"SHOW TABLES IN {DATABASE}").collect()]
    return [contents(spark, name)[1] for name in names if _source(spark, name) == table.full_name]


def _source(spark: SparkSession, name: str) -> str | None:
    properties = {row.key: row.value for row in spark.sql(f"SHOW TBLPROPERTIES {name}").collect()}
    return properties.get("lakekeeper.source_table")


def repair(spark: SparkSession) -> None:
    """What `discover.partitions` does by itself on some clusters: whatever looks like a partition becomes one."""
    for table in TABLES:
        if table.keys:
            spark.sql(f"MSCK REPAIR TABLE {table.full_name}")


def query_seconds(spark: SparkSession, table: DemoTable) -> float:
    """The median of a few runs. Each lists the files anew, as the first query of a session would."""
    return statistics.median(_query(spark, table) for _ in range(RUNS))


def _query(spark: SparkSession, table: DemoTable) -> float:
    spark.catalog.refreshTable(table.full_name)
    begun = time.perf_counter()
    spark.sql(f"SELECT event_type, count(*), sum(amount) FROM {table.full_name} GROUP BY 1").collect()
    return time.perf_counter() - begun


def catalog(spark: SparkSession, table: DemoTable) -> dict[str, Any]:
    """Locations and properties, straight from the metastore."""
    client = _metastore_client(spark)
    entry = client.getTable(DATABASE, table.name)
    partitions = client.listPartitions(DATABASE, table.name, -1) if table.keys else []
    return {
        "location": entry.getSd().getLocation(),
        "kind": entry.getTableType(),
        "properties": _declared(dict(entry.getParameters())),
        "partitions": {"/".join(part.getValues()): part.getSd().getLocation() for part in partitions},
    }


def _metastore_client(spark: SparkSession) -> Any:
    jvm = spark._jvm
    assert jvm is not None
    conf = jvm.org.apache.hadoop.hive.conf.HiveConf()
    conf.set("hive.metastore.uris", spark.conf.get("spark.hadoop.hive.metastore.uris"))
    return jvm.org.apache.hadoop.hive.metastore.HiveMetaStoreClient(conf)


def _declared(properties: dict[str, str]) -> dict[str, str]:
    return {key: value for key, value in sorted(properties.items()) if not key.startswith(STATISTICS)}


def main() -> None:
    import argparse

    from pyspark.sql import SparkSession

    parser = argparse.ArgumentParser(description="Measure the demo's tables.")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--repair", action="store_true", help="MSCK REPAIR TABLE first")
    arguments = parser.parse_args()
    spark = SparkSession.builder.appName("demo measure").enableHiveSupport().getOrCreate()
    if arguments.repair:
        repair(spark)
    _query(spark, TABLES[0])  # the first query of a driver pays for its start
    arguments.out.write_text(
        json.dumps({table.name: asdict(ask(spark, table)) for table in TABLES}, indent=1)
    )
    spark.stop()


if __name__ == "__main__":
    main()
