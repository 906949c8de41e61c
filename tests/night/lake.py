"""A database with tables of Hive, Iceberg and Paimon, and what the metadata of each format says of its own table."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.airflow.support import run_on_spark

DATABASE = "lake"
HIVE = ("orders", "clicks", "visits")
ICEBERG = ("carts", "returns")
PAIMON = ("events", "customers")
TABLES = (*HIVE, *ICEBERG, *PAIMON)

_SESSION = """
import json, sys
from pathlib import Path
from pyspark.sql import SparkSession
spark = SparkSession.builder.enableHiveSupport().getOrCreate()
"""
#: The folder of the Hive tables is the first word.
MAKE = f"""{_SESSION}
place = Path(sys.argv[1])
spark.sql("CREATE DATABASE {DATABASE} LOCATION '" + (place / "db").as_uri() + "'")
for name, stored, files in (("orders", "PARQUET", 12), ("clicks", "ORC", 10), ("visits", "TEXTFILE", 8)):
    where = (place / name).as_uri()
    spark.sql(f"CREATE EXTERNAL TABLE {DATABASE}.{{name}} (id BIGINT, v STRING) PARTITIONED BY (k STRING)"
              f" STORED AS {{stored}} LOCATION '{{where}}'")
    for key in "ab":
        rows = spark.range(0, 240, 1, files).selectExpr("id", "cast(id as string) AS v")
        rows.createOrReplaceTempView("rows")
        spark.sql(f"INSERT INTO {DATABASE}.{{name}} PARTITION (k='{{key}}') SELECT * FROM rows")
for name in {ICEBERG}:
    spark.sql(f"CREATE TABLE {DATABASE}.{{name}} (id BIGINT, v STRING, k STRING) USING iceberg PARTITIONED BY (k)")
keyed = "TBLPROPERTIES ('primary-key'='id,k', 'bucket'='1', 'write-only'='true')"
spark.sql("CREATE TABLE paimon.{DATABASE}.events (id BIGINT, v STRING, k STRING) PARTITIONED BY (k)")
spark.sql(f"CREATE TABLE paimon.{DATABASE}.customers (id BIGINT, v STRING, k STRING) PARTITIONED BY (k) {{keyed}}")
"""
#: A commit with a row of each partition, to the tables that are named.
APPEND = f"""{_SESSION}
spark.sql("SET hive.exec.dynamic.partition.mode=nonstrict")
for name in sys.argv[2:]:
    table = ("paimon." if name in {PAIMON} else "") + "{DATABASE}." + name
    for number in range(int(sys.argv[1])):
        rows = ", ".join(f"({{number}}, 'v{{number}}', '{{key}}')" for key in "ab")
        spark.sql(f"INSERT INTO {{table}} VALUES {{rows}}")
"""
#: Files by the metadata of Iceberg and Paimon, and the rows of all tables.
MEASURE = f"""{_SESSION}
found = {{}}
for name in {TABLES}:
    table = ("paimon." if name in {PAIMON} else "") + "{DATABASE}." + name
    files = None
    if name in {ICEBERG}:
        files = spark.sql(f"SELECT count(*) FROM {{table}}.files WHERE content = 0").first()[0]
    if name in {PAIMON}:
        files = spark.sql(f"SELECT count(*) FROM paimon.{DATABASE}.`{{name}}$files`").first()[0]
    rows = sorted(str(tuple(row)) for row in spark.sql(f"SELECT id, v, k FROM {{table}}").collect())
    found[name] = {{"files": files, "rows": rows}}
Path(sys.argv[1]).write_text(json.dumps(found))
"""


class Lake:
    """The database, seen by a Spark of its own that has all formats.

    Args:
        environ: of that Spark's processes
        folder: of the Hive tables, and of scripts
    """

    def __init__(self, environ: Mapping[str, str], folder: Path) -> None:
        self._environ, self._folder = dict(environ), folder

    def make(self) -> Lake:
        """Create the tables, with small files in each."""
        self._run(MAKE, self._folder)
        self.append(6, *ICEBERG, *PAIMON)
        return self

    def append(self, commits: int, *names: str) -> None:
        """Write so many commits of one row for each partition."""
        self._run(APPEND, commits, *names)

    def measure(self) -> dict[str, dict[str, Any]]:
        """Return files and rows by table; the files of Hive tables are those of their directories."""
        result = self._folder / "measured.json"
        self._run(MEASURE, result)
        found: dict[str, dict[str, Any]] = json.loads(result.read_text())
        for name in HIVE:
            found[name]["files"] = len(list((self._folder / name).glob("k=*/[!._]*")))
        return found

    def _run(self, text: str, *words: object) -> None:
        run_on_spark(self._environ, self._folder / "script.py", text, *words)
