"""The scripts as people and operators run them: through a real spark-submit."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from demo.services.spark_config import LOG4J
from tests.harness.fixtures import Database, fresh_database
from tests.spark.toolbox import many, rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parents[2]


def _submit(
    environ: dict[str, str], *words: str, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["spark-submit", *words],
        env=environ,
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


Submitted = tuple[subprocess.CompletedProcess[str], Path]


@pytest.fixture(scope="module")
def partitioned(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with fresh_database(spark, tmp_path_factory.mktemp("partitioned")) as database:
        location = database.location("p")
        for day in (1, 2):
            many(spark, f"{location}/day={day}", "SELECT id FROM range(50)", 5)
        spark.sql(
            f"CREATE EXTERNAL TABLE {database}.p (id BIGINT) PARTITIONED BY (day INT)"
            f" STORED AS PARQUET LOCATION '{location}'"
        )
        spark.sql(f"MSCK REPAIR TABLE {database}.p")
        yield f"{database}.p"


@pytest.fixture(scope="module")
def before(spark: SparkSession, partitioned: str) -> Counter[str]:
    return rows(spark, partitioned)


@pytest.fixture(scope="module")
def submitted(
    spark_environ: dict[str, str],
    partitioned: str,
    before: Counter[str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Submitted:
    """As the operators submit it: the script alone in some folder, the package in a zip, as on a YARN node. And no
    executor would find a Python."""
    folder = tmp_path_factory.mktemp("submitted")
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "spark_jobs", folder / "src" / "spark_jobs", ignore=ignored)
    bundle = shutil.make_archive(str(folder / "jobs"), "zip", folder / "src")
    script = shutil.copy(ROOT / "spark_jobs" / "compact.py", folder / "compact.py")
    target = folder / "report.json"
    words = [
        "--table",
        partitioned,
        "--where",
        "day > 1",
        "--sort-columns",
        "id",
        "--report",
        target.as_uri(),
    ]
    environ = {**spark_environ, "PYSPARK_PYTHON": "/no/such/python"}
    chatty = f"spark.driver.extraJavaOptions=-Dlog4j2.configurationFile={_chatty_logging(folder)}"
    return _submit(environ, "--conf", chatty, "--py-files", bundle, str(script), *words, cwd=folder), target


def _chatty_logging(folder: Path) -> Path:
    """Write a configuration of the log as clusters have it: Spark and Java say at INFO what they do."""
    file = folder / "log4j2.properties"
    file.write_text(LOG4J.replace("rootLogger.level = warn", "rootLogger.level = info"))
    return file


@pytest.mark.one_version
def test_spark_and_java_do_not_stand_between_the_lines_of_the_job(submitted: Submitted) -> None:
    done, _ = submitted
    assert " INFO SparkContext: " in done.stderr
    assert " INFO DAGScheduler: " not in done.stderr
    assert " INFO TaskSetManager: " not in done.stderr


def test_no_python_is_needed_on_the_executors(submitted: Submitted) -> None:
    """A cluster's Python may be another version than the driver's, or be absent."""
    done, _ = submitted
    assert done.returncode == 0, done.stdout[-3000:]
    report = json.loads(done.stdout.strip().splitlines()[-1].partition(" ")[2])
    assert [(u["unit"], u["outcome"]) for u in report["tables"][0]["units"]] == [({"day": "2"}, "compacted")]


def test_from_a_bundle_as_the_operators_submit_it(
    spark: SparkSession, submitted: Submitted, partitioned: str, before: Counter[str]
) -> None:
    done, target = submitted
    assert done.returncode == 0, done.stderr[-3000:]
    report = json.loads(target.read_text())
    assert (report["outcome"], report["tables"][0]["after"]["files"]) == ("done", 1)
    word, _, text = done.stdout.strip().splitlines()[-1].partition(" ")
    assert (word, json.loads(text)["tables"][0]["run_id"]) == ("LAKEKEEPER_REPORT", report["run_id"])
    assert "5 -> 1 files" in done.stdout
    assert rows(spark, partitioned) == before


@pytest.fixture
def table(spark: SparkSession, database: Database) -> str:
    many(spark, database.location("t"), "SELECT id FROM range(50)", 5)
    spark.sql(
        f"CREATE EXTERNAL TABLE {database}.t (id BIGINT) STORED AS PARQUET LOCATION '{database.location('t')}'"
    )
    return f"{database}.t"


@pytest.mark.one_version
def test_from_a_checkout_and_its_exit_codes(
    spark_environ: dict[str, str], table: str, tmp_path: Path
) -> None:
    script = str(ROOT / "spark_jobs" / "analyze.py")
    config = tmp_path / "lakekeeper.json"
    config.write_text('{"block_size_mb": 64}')
    healthy = _submit(spark_environ, script, "--table", table, "--config-file", str(config))
    assert healthy.returncode == 0, healthy.stderr[-3000:]
    unit = json.loads(healthy.stdout.strip().splitlines()[-1].partition(" ")[2])["tables"][0]["units"][0]
    assert (unit["outcome"], unit["threshold"]) == ("flagged", 64 * 1024 * 1024 // 10)

    missing = _submit(spark_environ, script, "--table", f"{table}_nope")
    assert missing.returncode == 1
    assert "does not exist in the metastore" in missing.stdout


def test_a_wrong_command_line_ends_at_once_with_a_report(
    spark_environ: dict[str, str], tmp_path: Path
) -> None:
    target = tmp_path / "report.json"
    words = ["--table", "nodots.", "--report", str(target), "--where", "a", "--partitions", "[]"]
    done = _submit(spark_environ, str(ROOT / "spark_jobs" / "compact.py"), *words)
    assert done.returncode == 2
    assert "error: argument --partitions: not allowed with argument --where; see --help" in done.stdout
    assert "Traceback" not in done.stdout
