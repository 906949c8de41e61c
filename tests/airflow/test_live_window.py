"""The shipped maintenance DAG on a running Airflow, with real jobs, in windows of two minutes that are too short."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from tests.airflow.conftest import ROOT
from tests.airflow.live_server import LiveAirflow, LiveRun
from tests.airflow.support import wait_for

pytestmark = [pytest.mark.live, pytest.mark.full]

DAG = "lakekeeper_maintenance"
PARTITIONS = 130
FILES = 8
#: The most nights that the work may take.
NIGHTS = 5
MAKE_TABLE = f"""
import sys
from pyspark.sql import SparkSession
spark = SparkSession.builder.enableHiveSupport().getOrCreate()
place = sys.argv[1]
rows = spark.range(0, 40000, 1, {FILES}).selectExpr("id", "uuid() AS text")
rows = rows.selectExpr("*", "explode(sequence(0, {PARTITIONS - 1})) AS p")
rows.write.partitionBy("p").parquet(place)
spark.sql("CREATE DATABASE night")
spark.sql(f"CREATE EXTERNAL TABLE night.events (id BIGINT, text STRING) PARTITIONED BY (p INT) "
          f"STORED AS PARQUET LOCATION 'file://{{place}}'")
spark.sql("MSCK REPAIR TABLE night.events")
"""


@pytest.fixture(scope="module")
def events(spark_environ, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("night")
    script = folder / "make_table.py"
    script.write_text(MAKE_TABLE)
    command = ["spark-submit", "--master", "local[2]", str(script), str(folder / "events")]
    done = subprocess.run(command, env=spark_environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return folder / "events"


@pytest.fixture(scope="module")
def airflow(spark_environ, events, tmp_path_factory) -> Iterator[LiveAirflow]:
    real = {name: value for name, value in spark_environ.items() if not name.startswith("AIRFLOW")}
    home = tmp_path_factory.mktemp("window") / "home"
    with LiveAirflow(home, ROOT / "example_dags", {DAG}, real) as running:
        running.unpause(DAG)
        _end_scheduled_run(running)
        yield running


def _end_scheduled_run(airflow: LiveAirflow) -> None:
    """End the run of the schedule that an unpaused DAG gets at once: it would wait for its window before all others."""
    wait_for("the run of the schedule", lambda: airflow.runs_of(DAG, ""))
    for run in airflow.runs_of(DAG, ""):
        airflow.call("PATCH", run.path, {"state": "failed"})


def files(events: Path) -> dict[int, int]:
    """The number of files of each partition."""
    return {p: len(list((events / f"p={p}").glob("*.parquet"))) for p in range(PARTITIONS)}


def night(airflow: LiveAirflow, config: Path) -> tuple[datetime, dict[str, Any]]:
    """Run the DAG in a window that opens now; return when it closes, and the summary of the compaction."""
    time.sleep(60 - time.time() % 60)  # windows know whole minutes
    opens = datetime.now(timezone.utc)
    closes = (opens + timedelta(minutes=2)).replace(second=0, microsecond=0)
    window = {"window_start": f"{opens:%H:%M}", "window_end": f"{closes:%H:%M}"}
    run: LiveRun = airflow.trigger(DAG, tables=["night.events"], config_file=str(config), **window)
    assert run.end(after=closes) == "success", run.states()
    found = airflow.call("GET", f"{run.path}/taskInstances/compact/xcomEntries/return_value?map_index=0")
    return closes, found["value"]


def test_what_does_not_fit_into_the_window_is_deferred_and_goes_first_in_the_next_one(
    airflow, events, tmp_path
):
    config = tmp_path / "lakekeeper.yaml"
    config.write_text("parallelism: 1\nverify: hash\n")  # one partition after the other, each read twice
    compacted: list[set[int]] = []
    waiting = set(range(PARTITIONS))
    while waiting:
        assert len(compacted) < NIGHTS
        before = files(events)
        closes, summary = night(airflow, config)
        assert datetime.fromisoformat(summary["ended"].replace("Z", "+00:00")) <= closes
        done = {p for p, number in files(events).items() if number == 1 < before[p]}
        assert done, summary
        assert done <= waiting
        compacted.append(done)
        waiting -= done
        [table] = summary["tables"]
        assert table["after"]["files"] == sum(files(events).values())
        print(f"a window of two minutes: {len(done)} compacted, {len(waiting)} deferred")
    assert len(compacted) >= 2
    # Each unit once: one directory of originals for each.
    originals = [path.name for path in events.glob(".lakekeeper/*/__old_*/p=*")]
    assert sorted(originals) == sorted(f"p={p}" for p in range(PARTITIONS))
