"""Spark 3.5 and a Hive Metastore 4.0.1: the documented error without settings, and jobs with the documented ones."""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from demo.services import paths
from demo.services.metastore import Metastore
from demo.services.spark_config import spark_environ
from tests.contract.doc_blocks import ROOT
from tests.engines.metastore4 import PAGE, documented_settings, spark_settings
from tests.harness import sockets
from tests.soak.drivers import Driver
from tests.soak.tables import add_file, read

pytestmark = pytest.mark.full

TABLE = "hive4.events"
DAYS, FILES, ROWS = 2, 4, 10
LISTEN = "0A"
LIMIT = 600
#: In the words of the page, and of the row that one finds with the error in hand.
_ERROR = re.compile(r"`(Invalid method name: '\w+')`")


def error_on(page: str) -> str:
    (error,) = set(_ERROR.findall((ROOT / page).read_text()))
    return str(error)


@pytest.fixture(scope="module")
def units(hive4_environ: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Path]]:
    """The directories of a partitioned table of small files."""
    folder = tmp_path_factory.mktemp("hive4")
    places = [folder / "events" / f"day={day}" for day in range(DAYS)]
    for number in range(DAYS * FILES):
        add_file(places[number % DAYS], folder, range(number * ROWS, (number + 1) * ROWS))
    driver = Driver(folder / "driver", hive4_environ)
    try:
        driver.ready().sql(
            "CREATE DATABASE hive4",
            f"CREATE EXTERNAL TABLE {TABLE} (id BIGINT, payload STRING) PARTITIONED BY (day STRING) STORED AS PARQUET"
            f" LOCATION '{(folder / 'events').as_uri()}'",
            f"MSCK REPAIR TABLE {TABLE}",
        )
        yield places
    finally:
        driver.close()


@pytest.fixture(scope="module")
def bare_environ(metastore4: Metastore, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a `spark-submit` that knows where the metastore is, and no more."""
    return spark_environ(paths.DEFAULT_SPARK, metastore4.uri, tmp_path_factory.mktemp("bare"))


def submit(
    verb: str, environ: Mapping[str, str], settings: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run a shipped script, with each setting as a `--conf`."""
    conf = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    command = ["spark-submit", *conf, str(ROOT / "spark_jobs" / f"{verb}.py"), "--table", TABLE]
    return subprocess.run(command, env=environ, capture_output=True, text=True, timeout=LIMIT)


def table_of(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """Return the table's part of the report of a job that has succeeded."""
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    word, _, text = done.stdout.strip().splitlines()[-1].partition(" ")
    assert word == "LAKEKEEPER_REPORT"
    return dict(json.loads(text)["tables"][0])


def outcomes(table: dict[str, Any]) -> list[str]:
    return [unit["outcome"] for unit in table["units"]]


def test_without_settings_the_job_ends_with_the_error_of_the_pages(
    units: list[Path], bare_environ: dict[str, str]
) -> None:
    done = submit("analyze", bare_environ, {})
    assert done.returncode != 0
    assert error_on(PAGE) in done.stdout + done.stderr
    assert error_on("docs/guides/troubleshooting.md") == error_on(PAGE)


def test_with_the_documented_settings_a_table_is_analyzed_compacted_and_rolled_back(
    units: list[Path], bare_environ: dict[str, str]
) -> None:
    settings = spark_settings()
    assert settings.keys() == documented_settings().keys()
    before = [read(place) for place in units]

    assert outcomes(table_of(submit("analyze", bare_environ, settings))) == ["flagged"] * DAYS
    compacted = table_of(submit("compact", bare_environ, settings))

    assert (outcomes(compacted), compacted["warnings"]) == (["compacted"] * DAYS, [])
    assert compacted["backup_table"]
    assert [len(list(place.glob("*.parquet"))) for place in units] == [1] * DAYS
    assert [read(place) for place in units] == before
    assert outcomes(table_of(submit("rollback", bare_environ, settings))) == ["restored"] * DAYS
    assert [len(list(place.glob("*.parquet"))) for place in units] == [FILES] * DAYS
    assert [read(place) for place in units] == before
    assert sum(before, Counter()).total() == DAYS * FILES * ROWS


@pytest.mark.skipif(not Path("/proc/net/tcp6").exists(), reason="reads the kernel's list of sockets")
def test_the_metastore_listens_on_this_machine_only(metastore4: Metastore) -> None:
    port = f":{metastore4.port:04X}"
    listening = [row[1] for row in sockets.rows() if row[3] == LISTEN and row[1].endswith(port)]
    assert listening
    assert all("0100007F" in address for address in listening)
