"""Rewrite directories as a user would by hand: no check, no journal, no backup, no metastore.

    spark-submit bare.py --units UNITS.json --schema "id BIGINT, ..." --threads 8

UNITS.json has a list of {"in": directory, "out": directory, "files": number of files to write}.
"""

from __future__ import annotations

import argparse
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

parser = argparse.ArgumentParser()
parser.add_argument("--units", type=Path, required=True)
parser.add_argument("--schema", required=True)
parser.add_argument("--threads", type=int, default=1)
asked = parser.parse_args()

spark = SparkSession.builder.appName("bare").getOrCreate()


def rewrite(unit: dict[str, Any]) -> None:
    rows = spark.read.schema(asked.schema).parquet(unit["in"])
    rows.coalesce(unit["files"]).write.parquet(unit["out"])


units = json.loads(asked.units.read_text())
if asked.threads == 1:
    for unit in units:
        rewrite(unit)
else:
    with ThreadPoolExecutor(asked.threads) as pool:
        list(pool.map(rewrite, units))
spark.stop()
