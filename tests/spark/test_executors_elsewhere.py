"""The footers that executors read: no setting of a user, and no locale of an executor, changes what is found."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from demo.services import paths
from spark_jobs.adapters.spark.formats import driver_footers, parquet_footers
from spark_jobs.adapters.spark.formats.parquet_footers import ParquetFooters
from spark_jobs.adapters.spark.spark_types import SparkTypes
from spark_jobs.protocol.measuring.namenode_calls import NameNodeCalls
from tests.spark.test_executor_footers import COLUMNS, assert_the_same, written
from tests.spark.toolbox import changed, listed, spark_defaults

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.one_version, pytest.mark.full]

#: What users set in a session or for a cluster.
SETTINGS = {
    "spark.sql.retainGroupColumns": "false",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.storeAssignmentPolicy": "STRICT",
    "spark.sql.caseSensitive": "true",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.session.timeZone": "Asia/Kathmandu",
    "spark.sql.mapKeyDedupPolicy": "LAST_WIN",
    "spark.sql.jsonGenerator.ignoreNullFields": "false",
    "spark.sql.json.enablePartialResults": "true",
    "spark.sql.columnNameOfCorruptRecord": "schema",
    "spark.sql.legacy.sizeOfNull": "true",
    "spark.sql.legacy.setopsPrecedence.enabled": "true",
    "spark.sql.parser.escapedStringLiterals": "true",
    "spark.sql.optimizer.nestedSchemaPruning.enabled": "false",
    "spark.sql.execution.useObjectHashAggregateExec": "false",
    "spark.sql.decimalOperations.allowPrecisionLoss": "false",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
}
#: And what is the default of another version.
OPPOSITE = {
    "spark.sql.ansi.enabled": "false",
    "spark.sql.legacy.sizeOfNull": "false",
    "spark.sql.json.enablePartialResults": "false",
    "spark.sql.caseSensitive": "false",
}


@pytest.mark.parametrize("chosen", [*SETTINGS, "all", "opposite"])
def test_no_setting_of_a_user_changes_what_the_executors_find(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chosen: str
) -> None:
    for name in ("integers", "decimals", "floats", "moments", "nulls", "names"):
        written(spark, tmp_path / name, COLUMNS[name])
    directories = [listed(path) for path in sorted(tmp_path.iterdir())]
    expected = ParquetFooters(spark, SparkTypes(spark), NameNodeCalls()).read(directories)
    settings = {"all": SETTINGS, "opposite": OPPOSITE}.get(chosen) or {chosen: SETTINGS[chosen]}
    monkeypatch.setattr(parquet_footers, "has_executors", lambda _: True)
    monkeypatch.setattr(parquet_footers, "_WORTH_A_JOB", 1)
    with (
        spark_defaults(spark, settings),
        changed(lambda name: spark.conf.get(name, None), spark.conf.set, spark.conf.unset, settings),
    ):
        types = SparkTypes(spark)
        monkeypatch.setattr(driver_footers.DriverFooters, "_read_batch", None)
        found = ParquetFooters(spark, types, NameNodeCalls()).read(directories)
    assert_the_same(directories, found, expected)


#: By name: the options of the executors' JVM and of their number.
ELSEWHERE = {
    "as the driver": {},
    "in Turkish": {"spark.executor.extraJavaOptions": "-Duser.language=tr -Duser.country=TR"},
    "in Arabic": {"spark.executor.extraJavaOptions": "-Duser.language=ar -Duser.country=EG"},
    "in Persian": {"spark.executor.extraJavaOptions": "-Duser.language=fa -Duser.country=IR"},
    "nowhere": {"spark.executor.cores": "4"},
}


@pytest.mark.parametrize("where", ELSEWHERE)
def test_executors_that_are_other_processes(spark: SparkSession, tmp_path: Path, where: str) -> None:
    """Their locale may be another one; and where none can be had, the driver reads.

    In Turkish, the names of types have another lower case, so that the driver reads files with an `I` in one.
    """
    for name, columns in COLUMNS.items():
        written(spark, tmp_path / "data" / name, columns)
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "tests.spark.footers_session",
            tmp_path / "data",
            json.dumps(ELSEWHERE[where]),
        ],
        cwd=paths.ROOT,
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    (shown,) = [line for line in done.stdout.splitlines() if line.startswith('{"same"')]
    found = json.loads(shown)
    assert (found["same"], found["active"]) == (True, []), done.stderr[-3000:]
    if where != "in Turkish":
        assert found["by_driver"] == (len(COLUMNS) * 4 if where == "nowhere" else 0), done.stderr[-3000:]
