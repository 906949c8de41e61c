"""The operators with the real jobs: a real spark-submit, on a table in a real Hive Metastore."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakekeeper_provider.operators import xcom
from lakekeeper_provider.operators.analyze import AnalyzeOperator
from lakekeeper_provider.operators.compact import CompactOperator
from lakekeeper_provider.operators.rollback import RollbackOperator
from lakekeeper_provider.sensors.small_files import SmallFilesSensor
from tests.airflow.conftest import connection
from tests.airflow.support import context, run_on_spark

pytestmark = pytest.mark.live

MAKE_TABLE = """
import sys
from pyspark.sql import SparkSession
spark = SparkSession.builder.enableHiveSupport().getOrCreate()
place = sys.argv[1]
spark.range(0, 400, 1, 20).selectExpr("id", "cast(id % 2 as string) as d").write.partitionBy("d").parquet(place)
spark.sql("CREATE DATABASE shop")
spark.sql(f"CREATE EXTERNAL TABLE shop.events (id BIGINT) PARTITIONED BY (d STRING) "
          f"STORED AS PARQUET LOCATION 'file://{place}'")
spark.sql("MSCK REPAIR TABLE shop.events")
spark.sql("CREATE TABLE shop.managed (id BIGINT) STORED AS PARQUET")
"""


@pytest.fixture(scope="module")
def events(spark_environ, tmp_path_factory) -> Path:
    """The folder of an external table with two partitions of twenty files."""
    folder = tmp_path_factory.mktemp("shop")
    place = folder / "events"
    run_on_spark(spark_environ, folder / "make_table.py", MAKE_TABLE, place)
    return place


@pytest.fixture
def real_spark(spark_environ, monkeypatch) -> None:
    for name, value in spark_environ.items():
        if not name.startswith("AIRFLOW"):
            monkeypatch.setenv(name, value)
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", connection())


def files(table: Path) -> list[int]:
    return [len(list((table / f"d={value}").glob("*.parquet"))) for value in "01"]


def test_analyze_compact_and_roll_back(events, real_spark):
    """A table that is refused does not keep the other one from being compacted."""
    tables = ["shop.events", "shop.managed"]
    analysis = AnalyzeOperator(task_id="analyze", tables=tables, on_refused="skip").execute(context())
    table, managed = analysis["tables"]
    assert (managed["outcome"], managed["code"]) == ("refused", "MANAGED")
    assert sorted(unit["d"] for unit in table["flagged"]) == ["0", "1"]
    assert table["before"]["files"] == 40

    now = context()
    compaction = CompactOperator(task_id="compact", analysis=analysis).execute(now)
    [table] = compaction["tables"]
    assert (table["outcome"], table["rows"]) == ("done", 400)
    assert (table["before"]["files"], table["after"]["files"]) == (40, 2)
    assert files(events) == [1, 1]

    watching = SmallFilesSensor(task_id="watch", table="shop.events")
    assert not watching.poke(context()).is_done

    undone = RollbackOperator(task_id="rollback", compaction=compaction).execute(context())
    assert undone["outcome"] == "done"
    assert files(events) == [20, 20]
    found = watching.poke(context())
    assert found.is_done
    assert xcom.flagged_units([found.xcom_value], context()["ti"]) == {
        "shop.events": [{"d": "0"}, {"d": "1"}]
    }
