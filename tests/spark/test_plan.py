"""A plan of real tables: what it lists is what a compaction of it does, by the engine that it names."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.harness.fixtures import Database, fresh_database
from tests.spark.toolbox import Jobs, many, rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.one_version

ROOT = Path(__file__).resolve().parents[2]
FILES = {"few": 3, "many": 12, "some": 6}


@pytest.fixture(scope="module")
def database(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    with fresh_database(spark, tmp_path_factory.mktemp("planned")) as database:
        for name, files in FILES.items():
            location = database.location(name)
            for day in (1, 2):
                many(spark, f"{location}/day={day}", f"SELECT id FROM range({files * 10 * day})", files)
            spark.sql(
                f"CREATE EXTERNAL TABLE {database}.{name} (id BIGINT) PARTITIONED BY (day INT)"
                f" STORED AS PARQUET LOCATION '{location}'"
            )
            spark.sql(f"MSCK REPAIR TABLE {database}.{name}")
        texts = database.location("texts")
        many(spark, texts, "SELECT cast(id AS STRING) FROM range(40)", 4, "text")
        spark.sql(
            f"CREATE EXTERNAL TABLE {database}.texts (line STRING) STORED AS TEXTFILE LOCATION '{texts}'"
        )
        yield database


@pytest.fixture(scope="module")
def planned(
    spark_environ: dict[str, str], database: Database, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, dict[str, Any]]:
    """By the script, as a person runs it."""
    path = tmp_path_factory.mktemp("plan") / "plan.json"
    words = ["--database", str(database), "--max-units", "5", "--order", "files-desc", "--report", str(path)]
    script = str(ROOT / "spark_jobs" / "plan.py")
    done = subprocess.run(
        ["spark-submit", script, *words],
        env=spark_environ,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return path, json.loads(path.read_text())


def units(report: dict[str, Any], outcome: str) -> list[tuple[str, str | None]]:
    return [
        (table["table"].split(".")[1], unit["unit"].get("day"))
        for table in report["tables"]
        for unit in table["units"]
        if unit["outcome"] == outcome
    ]


def test_the_plan_changes_nothing_and_names_units_engines_and_what_does_not_fit(
    planned: tuple[Path, dict[str, Any]], database: Database
) -> None:
    _, plan = planned
    assert (len(units(plan, "flagged")), len(units(plan, "deferred"))) == (5, 2)
    engines = {unit["engine"] for table in plan["tables"] for unit in table["units"]}
    assert engines == {"spark"}
    assert not list(Path(database.location("many").removeprefix("file:")).glob(".lakekeeper*"))


def test_a_compaction_of_the_plan_does_exactly_that_in_its_order(
    spark: SparkSession, planned: tuple[Path, dict[str, Any]], database: Database, tmp_path: Path
) -> None:
    path, plan = planned
    before = {name: rows(spark, f"{database}.{name}") for name in (*FILES, "texts")}
    report = Jobs(spark, tmp_path)("compact", "--plan", str(path))
    assert units(report, "compacted") == units(plan, "flagged")
    assert not [text for table in report["tables"] for text in table["warnings"] if "PLAN_CHANGED" in text]
    assert {name: rows(spark, f"{database}.{name}") for name in (*FILES, "texts")} == before
