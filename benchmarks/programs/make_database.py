"""Write the files of a database of many tables and register them.

spark-submit make_database.py NAME --root FOLDER
"""

from __future__ import annotations

import argparse
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pyspark.sql import SparkSession

from benchmarks.datasets import DATABASES, SCHEMA, Database
from benchmarks.programs.make_table import models_of

#: The metastore takes some tens of milliseconds for a table, most of them in its database.
AT_ONCE = 8


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("database", choices=DATABASES)
    parser.add_argument("--root", type=Path, required=True, help="the folder of the tables")
    asked = parser.parse_args()
    spark = SparkSession.builder.appName("tables of the benchmarks").enableHiveSupport().getOrCreate()
    make(spark, DATABASES[asked.database], asked.root)
    spark.stop()


def make(spark: SparkSession, database: Database, root: Path) -> None:
    staged = root.with_name(f"{root.name}.models")
    models = models_of(spark, staged, database.files, rows=10)
    shutil.rmtree(root, ignore_errors=True)
    spark.sql(f"DROP DATABASE IF EXISTS {database.name} CASCADE")
    spark.sql(f"CREATE DATABASE {database.name}")

    def table(name: str) -> None:
        folder = root / name
        folder.mkdir(parents=True)
        for number, model in enumerate(models):
            os.link(model, folder / f"part-{number:05}-c000.snappy.parquet")
        spark.sql(
            f"CREATE EXTERNAL TABLE {database.name}.{name} ({SCHEMA}) STORED AS PARQUET"
            f" LOCATION '{folder.as_uri()}'"
        )

    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(table, database.names))
    shutil.rmtree(staged)


if __name__ == "__main__":
    main()
