"""Time queries of a table in a session that has not read it yet: planning, a full scan, and a search for one value.

spark-submit query.py --table DB.T --out FIGURES.json
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

from pyspark.sql import SparkSession

parser = argparse.ArgumentParser()
parser.add_argument("--table", required=True)
parser.add_argument("--out", type=Path, required=True)
asked = parser.parse_args()

spark = SparkSession.builder.appName("query").enableHiveSupport().getOrCreate()
# The first query of a driver takes longer, whatever it reads.
spark.sql("SELECT id % 7 AS k, sum(id) FROM range(1000) GROUP BY 1").collect()
figures: dict[str, float] = {}


def timed(name: str, text: str) -> None:
    """Plan a query, then run it; planning lists the files if the session has not done so yet."""
    started = time.perf_counter()
    frame = spark.sql(text)
    frame._jdf.queryExecution().executedPlan()
    planned = time.perf_counter()
    frame.collect()
    figures.setdefault("planning", round(planned - started, 2))
    figures[name] = round(time.perf_counter() - planned, 2)


timed(
    "full_scan",
    "SELECT event_type, count(*), max(user_id), sum(amount), avg(score), max(event_time), max(session)"
    f" FROM {asked.table} GROUP BY 1",
)
timed("point_query", f"SELECT * FROM {asked.table} WHERE id = 4242")
asked.out.write_text(json.dumps(figures))
spark.stop()
