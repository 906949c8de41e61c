"""Text tables of SerDes that Spark does not have: their lines are the same bytes, whoever reads them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.harness.fixtures import Database
from tests.spark.metastore_client import recreate
from tests.spark.toolbox import Jobs, data_files, only

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def _lines(folder: Path) -> Counter[bytes]:
    """Return all lines; each file ends with a line feed."""
    return Counter(
        line for name in data_files(folder) for line in (folder / name).read_bytes().split(b"\n")[:-1]
    )


def _table(spark: SparkSession, database: Database, serde: str) -> str:
    folder = database.path / "t"
    folder.mkdir(parents=True)
    for number in range(4):
        (folder / f"{number}.json").write_bytes(b'{"id": %d}\n\xff||\xe9\x01\r\n\n' % number)
    spark.sql(
        f"CREATE EXTERNAL TABLE {database}.t (id BIGINT) STORED AS TEXTFILE LOCATION '{database.location('t')}'"
    )
    table = f"{database}.t"
    recreate(spark, table, lambda entry: entry.getSd().getSerdeInfo().setSerializationLib(serde))
    return table


@pytest.mark.parametrize(
    "serde",
    [
        "org.apache.hadoop.hive.serde2.MultiDelimitSerDe",
        "org.apache.hadoop.hive.contrib.serde2.MultiDelimitSerDe",
        "org.openx.data.jsonserde.JsonSerDe",
        "org.apache.hadoop.hive.contrib.serde2.RegexSerDe",
        "org.apache.hcatalog.data.JsonSerDe",
    ],
)
@pytest.mark.one_version
def test_their_lines_are_kept_and_the_missing_class_is_a_warning(
    spark: SparkSession, jobs: Jobs, database: Database, serde: str
) -> None:
    table = _table(spark, database, serde)
    before = _lines(database.path / "t")
    assert only(jobs("analyze", "--table", table))["units"][0]["outcome"] == "flagged"
    report = jobs("compact", "--table", table)
    found = only(report)
    assert (found["units"][0]["outcome"], found["units"][0]["reason"]) == ("compacted", None)
    assert (report["outcome"], report["exit_code"]) == ("done", 0)
    assert {text.partition(":")[0] for text in found["warnings"]} <= {"BACKUP_TABLE_NOT_UPDATED"}
    assert _lines(database.path / "t") == before
    report = jobs("rollback", "--table", table)
    assert (report["outcome"], report["exit_code"]) == ("done", 0)
    assert len(data_files(database.path / "t")) == 4


@pytest.mark.one_version
def test_a_serde_of_which_nothing_is_known_is_named(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    found = only(jobs("analyze", "--table", _table(spark, database, "com.corp.OurSerDe")))
    assert (found["outcome"], found["code"]) == ("refused", "SERDE")
    assert "the SerDe com.corp.OurSerDe" in found["reason"]
