"""Columns that Spark and Hive's SerDes write, as SQL on a number `id`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FILES, ROWS = 4, 20

COMMON = {
    "boolean": "id % 2 = 0",
    "tinyint": "CAST(id AS TINYINT)",
    "smallint": "CAST(id AS SMALLINT)",
    "int": "CAST(id AS INT)",
    "bigint": "id * 1000000007",
    "float": "CAST(id / 3 AS FLOAT)",
    "double": "IF(id % 3 = 0, -0.0D, IF(id % 3 = 1, DOUBLE('NaN'), id / 3))",
    "string": "concat('é', id, '\\n')",
    "binary": "CAST(concat('b', id) AS BINARY)",
    "date": "date_add(DATE'2024-02-29', CAST(id AS INT))",
    "timestamp": "TIMESTAMP'2024-03-31 02:30:00.123456' + make_interval(0, 0, 0, CAST(id AS INT), 1, 0, 0)",
    "decimal 9": "CAST(id / 4 AS DECIMAL(9,2))",
    "decimal 18": "CAST(id / 4 AS DECIMAL(18,4))",
    "decimal 38": "CAST(id / 4 AS DECIMAL(38,10))",
    "array": "CASE id % 4 WHEN 0 THEN array(id, NULL) WHEN 1 THEN array() WHEN 2 THEN array(NULL) END",
    "map": "CASE id % 3 WHEN 0 THEN map('a', id) WHEN 1 THEN map() END",
    "struct": "IF(id % 5 = 0, NULL, named_struct('a', id, 'B', IF(id % 2 = 0, NULL, 'x')))",
    "nested": "array(named_struct('m', map('k', array(id)), 'd', CAST(id / 4 AS DECIMAL(9,2))))",
}
PARQUET_MODES = {
    "default": {},
    "legacy": {"spark.sql.parquet.writeLegacyFormat": "true"},
    "int96": {"spark.sql.parquet.outputTimestampType": "INT96"},
    "micros": {"spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS"},
    "millis": {"spark.sql.parquet.outputTimestampType": "TIMESTAMP_MILLIS"},
}
#: Dates before 1582 are written the way that this mode says; each other mode would fail.
ANCIENT = {
    mode: {
        "spark.sql.parquet.datetimeRebaseModeInWrite": mode.upper(),
        "spark.sql.parquet.int96RebaseModeInWrite": mode.upper(),
    }
    for mode in ("corrected", "legacy")
}
ANCIENT_COLUMNS = {
    "ancient date": "date_add(DATE'1500-01-01', CAST(id AS INT))",
    "ancient timestamp": "TIMESTAMP'1500-01-01 00:00:00'",
    "ancient timestamp 1895": "TIMESTAMP'1895-01-01 00:00:00'",
}
ALL_TYPES = "named_struct(" + ", ".join(f"'{name}', {sql}" for name, sql in COMMON.items()) + ")"

HIVE = {
    "int": ("INT", "CAST(id AS INT)"),
    "string": ("STRING", "concat('v', id)"),
    "char": ("CHAR(5)", "CAST(concat('c', id) AS CHAR(5))"),
    "varchar": ("VARCHAR(9)", "CAST(concat('v', id) AS VARCHAR(9))"),
    "decimal": ("DECIMAL(9,2)", "CAST(id / 4 AS DECIMAL(9,2))"),
    "timestamp": ("TIMESTAMP", "TIMESTAMP'2024-03-31 02:30:00.123456'"),
    "date": ("DATE", "DATE'2024-02-29'"),
    "array": ("ARRAY<INT>", "array(CAST(id AS INT), 7)"),
    "map": ("MAP<STRING,INT>", "map('a', CAST(id AS INT))"),
    "struct": ("STRUCT<a:INT,b:STRING>", "named_struct('a', CAST(id AS INT), 'b', 'x')"),
}


#: folder, SQL, file format, settings
Job = tuple[str, str, str, dict[str, str]]

#: What is compiled for a query of 20 rows costs more than it saves; files come out of the same writers without it.
INTERPRETED = {"spark.sql.codegen.wholeStage": "false"}


def write(spark: SparkSession, jobs: Iterable[Job]) -> None:
    """Four files for each, every file by a task of its own; equal settings share a session."""
    sessions: dict[str, SparkSession] = {}
    for folder, sql, file_format, settings in jobs:
        key = repr(sorted(settings.items()))
        if key not in sessions:
            sessions[key] = _session(spark, {"spark.sql.session.timeZone": "UTC", **settings})
        frame = sessions[key].sql(f"SELECT id, {sql} AS v FROM range(0, {ROWS}, 1, {FILES})")
        frame.write.mode("append").option("mapreduce.fileoutputcommitter.marksuccessfuljobs", "false").format(
            file_format
        ).save(folder)


def _session(spark: SparkSession, settings: dict[str, str]) -> SparkSession:
    session = spark.newSession()
    for key, value in {**INTERPRETED, **settings}.items():
        session.conf.set(key, value)
    return session


#: table, folder, column, file format
HiveJob = tuple[str, str, str, str]


def write_by_hive(spark: SparkSession, jobs: Iterable[HiveJob]) -> None:
    """Through Hive's own SerDes and output formats: four tasks, and one file of each."""
    kept = {f"spark.sql.hive.{key}": "false" for key in ("convertMetastoreParquet", "convertMetastoreOrc")}
    session = _session(spark, kept)
    for table, folder, column, file_format in jobs:
        kind, sql = HIVE[column]
        session.sql(
            f"CREATE EXTERNAL TABLE {table} (id BIGINT, v {kind}) STORED AS {file_format} LOCATION '{folder}'"
        )
        session.sql(f"INSERT INTO {table} SELECT id, {sql} FROM range(0, {ROWS}, 1, {FILES})")
