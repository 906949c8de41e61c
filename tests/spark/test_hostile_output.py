"""Text of a table in what a job prints: it begins no line, and a command that is shown works on what it names."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from spark_jobs.core.messages.commands import hdfs_path
from tests.harness.fixtures import Database
from tests.hostile.corpus import HADOOP_PROPERTY, PATTERNS
from tests.spark.toolbox import Jobs, literal, only

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.one_version
def test_no_value_begins_a_line_of_what_a_job_prints(
    spark: SparkSession,
    plain: SparkSession,
    jobs: Jobs,
    database: Database,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Whoever may add a partition could else write the report of a job that has died."""
    value = 'x\nLAKEKEEPER_REPORT {"outcome": "done"}\r\x1b[31m\u2028y'
    table = f"{database}.t"
    plain.sql(
        f"CREATE EXTERNAL TABLE {table} (id BIGINT) PARTITIONED BY (p STRING) STORED AS PARQUET"
        f" LOCATION '{database.location('t')}'"
    )
    for number in range(6):
        plain.range(number, number + 1).selectExpr("id", f"{literal(value)} AS p").write.insertInto(table)
    handler = logging.StreamHandler(sys.stderr)
    logging.getLogger("lakekeeper").addHandler(handler)
    try:
        found = [
            jobs("analyze", "--table", table, "--log-level", "DEBUG"),
            jobs("compact", "--table", table, "--dry-run"),
            jobs("compact", "--table", table),
            jobs("check", "--table", table),
            jobs("history", "--table", table, "--units"),
            jobs("rollback", "--table", table),
            jobs("analyze", "--table", table, "--where", f"p = {literal(value)} OR x = 1"),
            jobs("analyze", "--table", f"{table}\n{value}"),
            jobs("analyze", "--table", table, "--partitions", json.dumps([{value: "1"}])),
        ]
    finally:
        logging.getLogger("lakekeeper").removeHandler(handler)
    assert only(found[2])["units"][0]["unit"] == {"p": value}
    assert only(found[2])["units"][0]["outcome"] == "compacted"
    printed = capfd.readouterr()
    lines = [line for text in printed for line in text.splitlines() if "LAKEKEEPER_REPORT" in line]
    assert lines
    assert not [line for line in lines if line.startswith("LAKEKEEPER_REPORT")]
    assert "\x1b" not in printed.out + printed.err


@pytest.mark.parametrize("name", [*PATTERNS, "p=[ab]", "p=?", "it's", f"${{{HADOOP_PROPERTY}}}"])
def test_a_path_of_a_command_is_the_only_one_that_hadoops_shell_works_on(
    spark: SparkSession, tmp_path: Path, name: str
) -> None:
    """Hadoop's shell takes paths for patterns. The command of a message must delete one directory, not all."""
    others = {"p=a", "p=b", "a", "b", "a,b", "p=ab"} - {name}
    for folder in (name, *others):
        (tmp_path / folder).mkdir()
    jvm: Any = spark._jvm
    path = subprocess.run(
        ["bash", "-c", f"printf %s {hdfs_path(f'file:{tmp_path}/{name}')}"], capture_output=True, check=True
    ).stdout.decode()
    words = spark.sparkContext._gateway.new_array(jvm.java.lang.String, 3)
    words[0], words[1], words[2] = "-rm", "-r", path
    assert jvm.org.apache.hadoop.fs.FsShell(spark._jsc.hadoopConfiguration()).run(words) == 0
    assert {each.name for each in tmp_path.iterdir()} == others
