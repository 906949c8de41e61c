"""Text of a table in a Hadoop configuration: no setting of the cluster comes out where a name or a value was."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.harness.fixtures import Database
from tests.hostile.corpus import HADOOP_PROPERTY
from tests.spark.toolbox import Jobs, cluster_settings, literal, many, only, tree

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SECRET = "s3cr3t-of-the-job"

#: A column, or a field of one, with a name that Hadoop's configuration would replace.
NAMED_BY_VARIABLE = {
    "column": "'1' AS `${fs.s3a.secret.key}`",
    "field": "array(named_struct('a', id, '${fs.s3a.secret.key}', '1')) AS s",
}


@pytest.fixture
def secret(spark: SparkSession) -> Iterator[str]:
    """The value of a setting of Hadoop."""
    with cluster_settings(spark, {HADOOP_PROPERTY: SECRET}):
        yield SECRET


@pytest.mark.one_version
@pytest.mark.parametrize("name", ["parquet.block.size", "parquet.page.size", "parquet.bloom.filter.fpp"])
def test_no_secret_of_the_configuration_is_in_a_report(
    secret: str, plain: SparkSession, jobs: Jobs, database: Database, name: str
) -> None:
    location = database.location("t")
    many(plain, location, "SELECT id FROM range(60)", 6)
    table = f"{database}.t"
    plain.sql(
        f"CREATE EXTERNAL TABLE {table} (id BIGINT) STORED AS PARQUET LOCATION '{location}'"
        f" TBLPROPERTIES ('{name}'='${{fs.s3a.secret.key}}')"
    )
    analysis = jobs("analyze", "--table", table)
    report = jobs("compact", "--table", table)
    assert [unit["outcome"] for unit in only(report)["units"]] == ["compacted"]
    for found in (analysis, report):
        (warning,) = only(found)["warnings"]
        assert warning.startswith("LAYOUT_PROPERTY_IGNORED: ")
        assert name in warning
        assert secret not in json.dumps(found)


@pytest.mark.one_version
@pytest.mark.parametrize(
    "file_format", ["PARQUET", *(pytest.param(name, marks=pytest.mark.full) for name in ("TEXTFILE", "AVRO"))]
)
def test_a_path_that_hadoop_would_expand_is_refused(
    secret: str, plain: SparkSession, jobs: Jobs, database: Database, file_format: str
) -> None:
    """The classes that write files get their directory by a configuration, which replaces variables in it."""
    folder = database.path / "t ${fs.s3a.secret.key}"
    plain.sql(
        f"CREATE TABLE {database}.source (id BIGINT) STORED AS {file_format}"
        f" LOCATION '{database.location('source')}'"
    )
    for number in range(6):
        plain.sql(f"INSERT INTO {database}.source VALUES ({number})")
    (database.path / "source").rename(folder)
    before = tree(database.path)
    table = f"{database}.t"
    plain.sql(
        f"CREATE EXTERNAL TABLE {table} (id BIGINT) STORED AS {file_format} LOCATION {literal(str(folder))}"
    )
    plain.sql(
        f"CREATE EXTERNAL TABLE {table}p (id BIGINT) PARTITIONED BY (p INT) STORED AS {file_format}"
        f" LOCATION '{database.location('p')}'"
    )
    plain.sql(f"ALTER TABLE {table}p ADD PARTITION (p=1) LOCATION {literal(str(folder))}")
    whole, parts = jobs("compact", "--table", table), jobs("compact", "--table", f"{table}p")
    assert (only(whole)["outcome"], only(whole)["code"]) == ("refused", "VARIABLE")
    assert [(unit["outcome"], unit["code"]) for unit in only(parts)["units"]] == [("skipped", "VARIABLE")]
    assert secret not in json.dumps([whole, parts])
    assert tree(database.path) == before


@pytest.mark.one_version
def test_a_file_whose_name_hadoop_would_expand_is_refused(
    secret: str, plain: SparkSession, jobs: Jobs, database: Database
) -> None:
    folder = database.path / "t"
    folder.mkdir(parents=True)
    for number in range(6):
        (folder / f"{number} ${{fs.s3a.secret.key}}.txt").write_text("row\n")
    table = f"{database}.t"
    plain.sql(f"CREATE EXTERNAL TABLE {table} (v STRING) STORED AS TEXTFILE LOCATION '{folder}'")
    for verb in ("analyze", "compact"):
        report = jobs(verb, "--table", table)
        (unit,) = only(report)["units"]
        assert (unit["outcome"], unit["code"]) == ("skipped", "VARIABLE")
        assert secret not in json.dumps(report)


@pytest.mark.parametrize("columns", NAMED_BY_VARIABLE.values(), ids=list(NAMED_BY_VARIABLE))
def test_columns_of_parquet_with_a_name_that_hadoop_would_replace(
    spark: SparkSession, plain: SparkSession, jobs: Jobs, database: Database, columns: str
) -> None:
    """Spark hands schemas to its writers by a configuration: a secret would be in the files, where a name was."""
    table = named_by_variable(plain, database, "parquet", columns)
    before = tree(database.path)
    with cluster_settings(spark, {HADOOP_PROPERTY: SECRET}):
        found = [jobs("analyze", "--table", table), jobs("compact", "--table", table)]
    assert [only(report)["units"][0]["code"] for report in found] == ["VARIABLE", "VARIABLE"]
    assert "${fs.s3a.secret.key}" in only(found[1])["units"][0]["reason"]
    assert SECRET not in json.dumps(found)
    assert tree(database.path) == before


@pytest.mark.parametrize("verify", [pytest.param("count", marks=pytest.mark.full), "hash"])
@pytest.mark.parametrize("columns", NAMED_BY_VARIABLE.values(), ids=list(NAMED_BY_VARIABLE))
def test_columns_of_orc_with_a_name_that_hadoop_would_replace(
    spark: SparkSession, plain: SparkSession, jobs: Jobs, database: Database, columns: str, verify: str
) -> None:
    """Spark's readers of ORC get them by a configuration too, and would read nulls. A merge of stripes needs none."""
    table = named_by_variable(plain, database, "orc", columns)
    before = sorted(map(str, plain.read.orc(database.location("t")).collect()))
    with cluster_settings(spark, {HADOOP_PROPERTY: SECRET}):
        report = jobs("compact", "--table", table, "--verify", verify)
    assert [unit["outcome"] for unit in only(report)["units"]] == ["compacted"]
    assert sorted(map(str, plain.read.orc(database.location("t")).collect())) == before
    assert SECRET not in json.dumps(report)
    assert not [path for path in database.path.rglob("*.orc") if SECRET.encode() in path.read_bytes()]


def named_by_variable(session: SparkSession, database: Database, file_format: str, columns: str) -> str:
    """Return a table of six files with such columns."""
    location = database.location("t")
    many(session, location, f"SELECT id, {columns} FROM range(60)", 6, file_format)
    session.sql(
        f"CREATE EXTERNAL TABLE {database}.t (id BIGINT) STORED AS {file_format} LOCATION '{location}'"
    )
    return f"{database}.t"
