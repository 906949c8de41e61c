"""The example on each operator's page, run as it stands, with real jobs on real tables.

Only what would take the test a night is another value: the window is open all day, and the sensor waits for less.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lakekeeper_provider.operators.rollback import RollbackOperator
from tests.airflow.support import context, dags_in, dags_of, run_on_spark
from tests.airflow.test_dags import run
from tests.airflow.test_docs import DAGS
from tests.airflow.test_real_spark import real_spark  # noqa: F401 - a fixture

pytestmark = [pytest.mark.live, pytest.mark.full]

MAKE_TABLES = """
import sys
from pyspark.sql import SparkSession
spark = SparkSession.builder.enableHiveSupport().getOrCreate()
spark.sql("DROP DATABASE IF EXISTS sales CASCADE")
spark.sql("CREATE DATABASE sales")
for name in ("events", "orders"):
    place = f"{sys.argv[1]}/{name}"
    rows = spark.range(0, 400, 1, 20).selectExpr("id", "cast(id % 2 as string) as d")
    rows.write.partitionBy("d").parquet(place)
    spark.sql(f"CREATE EXTERNAL TABLE sales.{name} (id BIGINT) PARTITIONED BY (d STRING) "
              f"STORED AS PARQUET LOCATION 'file://{place}'")
    spark.sql(f"MSCK REPAIR TABLE sales.{name}")
"""
SHORTER = {'"22:00"': '"00:00"', '"05:00"': '"24:00"', "trigger_small_files=10000": "trigger_small_files=10"}
#: The configuration of a cluster has a trash; Hadoop's default has none, and the doctor says so.
CORE_SITE = (
    "<configuration><property><name>fs.trash.interval</name><value>1440</value></property></configuration>"
)
#: The states of the tasks after each example, in the order in which they are run.
STATES: dict[str, dict[str, str]] = {
    "analyze": {"analyze": "success"},
    "history": {"history": "success"},
    "check": {"check": "success"},
    "doctor": {"doctor": "success"},
    "small-files-sensor": {"wait": "success", "compact": "success"},
    "maintenance-window-sensor": {"wait": "success", "compact": "success"},
    "compact": {"analyze": "success", "compact": "success"},
    "rollback": {"compact": "success", "record": "success", "rollback": "skipped"},
    "record": {"compact": "success", "record": "success", "rollback": "skipped"},
    "cleanup": {"cleanup": "success"},
}


@pytest.fixture(scope="module")
def tables(spark_environ: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sales")
    run_on_spark(spark_environ, folder / "make_tables.py", MAKE_TABLES, folder)
    return folder


@pytest.fixture
def cluster(real_spark: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    """A real spark-submit with the configuration of a cluster."""
    (tmp_path / "core-site.xml").write_text(CORE_SITE)
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path))


def files(tables: Path) -> dict[str, int]:
    return {name: len(list((tables / name).glob("d=*/*.parquet"))) for name in ("events", "orders")}


def test_each_page_has_an_example_here() -> None:
    pages = {block.page for block in DAGS if block.page.startswith("docs/operators/")}
    assert pages == {f"docs/operators/{name}.md" for name in STATES}


@pytest.mark.parametrize("name", STATES)
def test_an_example_runs(
    airflow_db: Path, tables: Path, cluster: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (block,) = (block for block in DAGS if block.page == f"docs/operators/{name}.md")
    source = block.text
    for written, shorter in SHORTER.items():
        source = source.replace(written, shorter)
    (dag,) = dags_in(dags_of(source, tmp_path / f"example_{name}", monkeypatch)).dags.values()
    before: Any = files(tables)
    state, states, _ = run(dag)
    assert {task: set(found) for task, found in states.items()} == {
        task: {expected} for task, expected in STATES[name].items()
    }
    assert state == "success"
    if "compact" in STATES[name]:
        assert files(tables)["events"] == 2
        # The next example finds the tables as this one has found them.
        operator = RollbackOperator(task_id="rollback", database="sales")
        assert operator.execute(context())["outcome"] == "done"
    assert files(tables) == before
