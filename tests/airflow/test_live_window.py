"""The shipped maintenance DAG on a running Airflow, with real jobs, in windows of two minutes that are too short."""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Collection, Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from tests.airflow.conftest import ROOT
from tests.airflow.live_server import LiveAirflow, LiveRun
from tests.airflow.support import run_on_spark

pytestmark = [pytest.mark.live, pytest.mark.full]

DAG = "lakekeeper_maintenance"
PARTITIONS, FILES = 400, 8
#: Rows of each partition: so many that one takes about a second, also where nothing else runs.
ROWS = 180_000
#: Partitions that get their files after the first night, and have more to gain than all others.
LATER, FILES_OF_LATER = (1000, 1001), 40
#: As many as are left after the first night, times the number that it has compacted. The second night starts with
#: warm caches and a learnt pace, and has done up to 1.5 times as much as the first: it must not end the work.
LEFT = 1.9
#: One partition after the other, each sorted and read twice. Without it, an idle machine does all of them in one night.
SLOWLY = "parallelism: 1\nverify: hash\nsort_columns: {night.events: [text]}\n"
#: The most nights that the work may take, also where the processors become slower meanwhile.
NIGHTS = 6
MAKE_TABLE = f"""
import shutil, sys
from pyspark.sql import SparkSession
spark = SparkSession.builder.enableHiveSupport().getOrCreate()
place = sys.argv[1]
rows = spark.range(0, {ROWS}, 1, {FILES}).selectExpr("id", "substr(uuid(), 1, 12) AS text")
rows.write.parquet(place + "/p=0")
for p in range(1, {PARTITIONS}):
    shutil.copytree(place + "/p=0", f"{{place}}/p={{p}}")
spark.sql("CREATE DATABASE night")
spark.sql(f"CREATE EXTERNAL TABLE night.events (id BIGINT, text STRING) PARTITIONED BY (p INT) "
          f"STORED AS PARQUET LOCATION 'file://{{place}}'")
spark.sql("MSCK REPAIR TABLE night.events")
for p in {LATER}:
    spark.sql(f"ALTER TABLE night.events ADD PARTITION (p={{p}})")
"""
DROP_PARTITIONS = """
import sys
from pyspark.sql import SparkSession
spark = SparkSession.builder.enableHiveSupport().getOrCreate()
spark.sql("ALTER TABLE night.events DROP " + ", ".join(f"PARTITION (p={p})" for p in sys.argv[1:]))
"""


@pytest.fixture(scope="module")
def events(spark_environ, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("night")
    run_on_spark(spark_environ, folder / "make_table.py", MAKE_TABLE, folder / "events")
    return folder / "events"


def drop(environ: dict[str, str], events: Path, partitions: Collection[int]) -> None:
    """Drop partitions, as a retention job does: from the metastore, and then their files."""
    run_on_spark(environ, events.parent / "drop.py", DROP_PARTITIONS, *partitions)
    for p in partitions:
        shutil.rmtree(events / f"p={p}")


@pytest.fixture(scope="module")
def airflow(spark_environ, events, tmp_path_factory) -> Iterator[LiveAirflow]:
    real = {name: value for name, value in spark_environ.items() if not name.startswith("AIRFLOW")}
    home = tmp_path_factory.mktemp("window") / "home"
    with LiveAirflow(home, ROOT / "example_dags", {DAG}, real) as running:
        running.unpause(DAG)
        yield running


def files(events: Path) -> dict[int, int]:
    """The number of files of each partition."""
    partitions = (*range(PARTITIONS), *LATER)
    return {p: len(list((events / f"p={p}").glob("*.parquet"))) for p in partitions}


def write_later(events: Path, waiting: int) -> None:
    """After the first night there are partitions that gain more by a compaction than those that still wait."""
    source = min((events / f"p={waiting}").glob("*.parquet"))
    for p in LATER:
        for number in range(FILES_OF_LATER):
            shutil.copyfile(source, events / f"p={p}" / f"part-{number:05}.parquet")


def night(airflow: LiveAirflow, config: Path) -> tuple[datetime, dict[str, Any], int]:
    """Run the DAG in a window that opens now.

    Returns:
        When it closes, the summary of the compaction, and the number of units that its log calls deferred.
    """
    time.sleep(60 - time.time() % 60)  # windows know whole minutes
    opens = datetime.now(timezone.utc)
    closes = (opens + timedelta(minutes=2)).replace(second=0, microsecond=0)
    window = {"window_start": f"{opens:%H:%M}", "window_end": f"{closes:%H:%M}"}
    run: LiveRun = airflow.trigger(DAG, tables=["night.events"], config_file=str(config), **window)
    assert run.end(after=closes) == "success", run.states()
    task = f"{run.path}/taskInstances/compact"
    found = airflow.call("GET", f"{task}/xcomEntries/return_value?map_index=0")
    text = json.dumps(airflow.call("GET", f"{task}/logs/1?map_index=0&full_content=true"))
    left = re.search(r"(\d+) units? deferred", text)
    return closes, found["value"], int(left[1]) if left else 0


def test_what_does_not_fit_into_the_window_is_deferred_and_goes_first_in_the_next_one(
    airflow, events, spark_environ, tmp_path
):
    config = tmp_path / "lakekeeper.yaml"
    config.write_text(SLOWLY)
    compacted: list[set[int]] = []
    waiting = set(range(PARTITIONS))
    while waiting:
        assert len(compacted) < NIGHTS
        before = files(events)
        closes, summary, deferred = night(airflow, config)
        assert datetime.fromisoformat(summary["ended"].replace("Z", "+00:00")) <= closes
        after = files(events)
        done = {p for p, number in after.items() if number == 1 < before[p]}
        assert done, summary
        assert deferred == sum(number > 1 for number in after.values())
        # What was written since the first night waits until all that was deferred is done.
        assert done <= waiting or waiting <= done
        waiting -= done
        compacted.append(done)
        print(f"a window of two minutes: {len(done)} compacted, {len(waiting)} deferred")
        if len(compacted) == 1:
            too_many = sorted(waiting)[int(LEFT * len(done)) :]
            assert too_many, "the table is too small for the speed of this machine: raise PARTITIONS"
            drop(spark_environ, events, too_many)
            waiting -= set(too_many)
            write_later(events, max(waiting))
    assert len(compacted) >= 3
    # Each unit once: one directory of originals for each.
    originals = [path.name for path in events.glob(".lakekeeper/*/__originals_*/p=*")]
    assert len(originals) == len(set(originals))
    assert set(originals) == {f"p={p}" for done in compacted for p in done}
