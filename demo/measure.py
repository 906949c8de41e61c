"""Measure the demo's tables as a reader sees them: files, rows, contents, query times, entries in the metastore.

The provider's own report is not used. This process lists the files; Spark and the metastore return the rest:

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

# Properties that the metastore or ANALYZE writes; they are not part of the table's declaration.
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
class QueryResults:
    """What Spark and the metastore return for one table.

    Attributes:
        planning: the seconds of a query until its plan is complete, which lists the files.
        scan: the seconds of the same query from then on.
        backups: the checksums of the table's backup tables.
    """

    rows: int
    checksum: str
    planning: float
    scan: float
    catalog: dict[str, Any]
    backups: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Measurement:
    """One table at one time."""

    files: int
    bytes: int
    queries: QueryResults


def list_files(folder: Path) -> tuple[int, int]:
    """Return the number and the bytes of the files that a reader opens: none that are hidden or in a hidden folder."""
    count = size = 0
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(HIDDEN)]
        visible = [Path(parent, name) for name in names if not name.startswith(HIDDEN)]
        count += len(visible)
        size += sum(path.stat().st_size for path in visible)
    return count, size


def combine(warehouse: Path, results: Path) -> dict[str, Measurement]:
    """List the files, and read the other results from the file that `main` wrote."""
    queries = {name: QueryResults(**found) for name, found in json.loads(results.read_text()).items()}
    return {
        table.name: Measurement(*list_files(warehouse / DATABASE / table.name), queries[table.name])
        for table in TABLES
    }


def query(spark: SparkSession, table: DemoTable) -> QueryResults:
    rows, checksum = contents(spark, table.full_name)
    planning, scan = query_seconds(spark, table)
    return QueryResults(rows, checksum, planning, scan, catalog(spark, table), backups(spark, table))


def contents(spark: SparkSession, name: str) -> tuple[int, str]:
    """Return the number of rows, and a checksum of all values that does not depend on the order of the rows."""
    hashes = "sum(cast(xxhash64(*) AS DECIMAL(38, 0))), bit_xor(xxhash64(*))"
    rows, total, folded = spark.sql(f"SELECT count(*), {hashes} FROM {name}").collect()[0]
    return rows, f"{total}/{folded}"


def backups(spark: SparkSession, table: DemoTable) -> list[str]:
    """Return the checksums of the tables whose property names this table as their source."""
    names = [f"{DATABASE}.{row.tableName}" for row in spark.sql(f"SHOW TABLES IN {DATABASE}").collect()]
    return [contents(spark, name)[1] for name in names if _source(spark, name) == table.full_name]


def _source(spark: SparkSession, name: str) -> str | None:
    properties = {row.key: row.value for row in spark.sql(f"SHOW TBLPROPERTIES {name}").collect()}
    return properties.get("lakekeeper.source_table")


def repair(spark: SparkSession) -> None:
    """Run MSCK REPAIR TABLE, as the property `discover.partitions` does on some clusters."""
    for table in TABLES:
        if table.keys:
            spark.sql(f"MSCK REPAIR TABLE {table.full_name}")


def query_seconds(spark: SparkSession, table: DemoTable) -> tuple[float, float]:
    """Return the medians of planning and scan over a few runs; each lists the files, as a session's first query."""
    planning, scan = zip(*(_time_query(spark, table) for _ in range(RUNS)), strict=True)
    return statistics.median(planning), statistics.median(scan)


def _time_query(spark: SparkSession, table: DemoTable) -> tuple[float, float]:
    spark.catalog.refreshTable(table.full_name)
    start = time.perf_counter()
    frame = spark.sql(f"SELECT event_type, count(*), sum(amount) FROM {table.full_name} GROUP BY 1")
    frame._jdf.queryExecution().executedPlan()
    planned = time.perf_counter()
    frame.collect()
    return planned - start, time.perf_counter() - planned


def catalog(spark: SparkSession, table: DemoTable) -> dict[str, Any]:
    """Return locations and properties, by the metastore's own client."""
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
    _time_query(spark, TABLES[0])  # the first query of a driver takes longer
    arguments.out.write_text(
        json.dumps({table.name: asdict(query(spark, table)) for table in TABLES}, indent=1)
    )
    spark.stop()


if __name__ == "__main__":
    main()
