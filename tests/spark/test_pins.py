"""Settings that are pinned have their values where data is read and written, whatever the cluster has for them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from spark_jobs.adapters.spark.copying import Copier
from spark_jobs.adapters.spark.formats.orc import OrcFormat
from spark_jobs.adapters.spark.requests import write_options
from spark_jobs.adapters.spark.sessions import Sessions, statement_session
from tests.harness.fixtures import Database
from tests.spark.toolbox import Jobs, cluster_settings, data_files, many, only, rows, spark_defaults

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.one_version

_COMMITTER = "org.apache.hadoop.mapreduce.lib.output.FileOutputCommitter"
#: Spark 4 takes a class only if it can be loaded.
_OTHER_COMMITTER = "org.apache.hadoop.mapreduce.lib.output.PartialFileOutputCommitter"
_PROTOCOL = "org.apache.spark.sql.execution.datasources.SQLHadoopMapReduceCommitProtocol"
#: Spark's settings by name: the value of a cluster, and the one by which data is read and written.
SESSIONS = {
    "spark.sql.files.ignoreCorruptFiles": ("true", "false"),
    "spark.sql.files.ignoreMissingFiles": ("true", "false"),
    "spark.sql.files.maxRecordsPerFile": ("1", "0"),
    "spark.sql.parquet.datetimeRebaseModeInRead": ("LEGACY", "EXCEPTION"),
    "spark.sql.parquet.datetimeRebaseModeInWrite": ("LEGACY", "EXCEPTION"),
    "spark.sql.parquet.int96RebaseModeInRead": ("LEGACY", "EXCEPTION"),
    "spark.sql.parquet.int96RebaseModeInWrite": ("LEGACY", "EXCEPTION"),
    "spark.sql.parquet.int96AsTimestamp": ("false", "true"),
    "spark.sql.parquet.int96TimestampConversion": ("true", "false"),
    "spark.sql.parquet.inferTimestampNTZ.enabled": ("false", "true"),
    "spark.sql.parquet.binaryAsString": ("true", "false"),
    "spark.sql.parquet.fieldId.read.enabled": ("true", "false"),
    "spark.sql.parquet.mergeSchema": ("true", "false"),
    "spark.sql.orc.impl": ("hive", "native"),
    "spark.sql.orc.mergeSchema": ("true", "false"),
    "orc.skip.corrupt.data": ("true", "false"),
    "orc.max.file.length": ("1", "9223372036854775807"),
    "orc.use.zerocopy": ("true", "false"),
    "spark.sql.sources.useV1SourceList": ("csv", "avro,csv,json,kafka,orc,parquet,text"),
    "spark.sql.adaptive.enabled": ("true", "false"),
    "spark.sql.session.timeZone": ("America/New_York", "UTC"),
    "spark.sql.caseSensitive": ("true", "false"),
    "spark.sql.ansi.enabled": ("true", "false"),
    "spark.sql.sources.commitProtocolClass": (
        "org.apache.spark.internal.io.HadoopMapReduceCommitProtocol",
        _PROTOCOL,
    ),
    "spark.sql.sources.outputCommitterClass": (_OTHER_COMMITTER, _COMMITTER),
    "spark.sql.parquet.output.committer.class": (
        _OTHER_COMMITTER,
        "org.apache.parquet.hadoop.ParquetOutputCommitter",
    ),
}
#: The same for SQL text.
STATEMENTS = {"spark.sql.variable.substitute": ("true", "false"), "spark.sql.ansi.enabled": ("true", "false")}
#: The same for Hadoop's settings while files are written.
WRITING = {
    "mapreduce.fileoutputcommitter.algorithm.version": ("2", "1"),
    "mapreduce.outputcommitter.factory.class": (
        "com.example.Factory",
        "org.apache.hadoop.mapreduce.lib.output.FileOutputCommitterFactory",
    ),
    "mapreduce.fileoutputcommitter.marksuccessfuljobs": ("true", "false"),
    "mapreduce.output.basename": ("_hidden", "part"),
    "mapreduce.fileoutputcommitter.cleanup.skipped": ("true", "false"),
    "parquet.summary.metadata.level": ("ALL", "NONE"),
    "parquet.encryption.footer.key": ("k2", ""),
    "parquet.encryption.column.keys": ("k1:v", ""),
    "parquet.encryption.uniform.key": ("k3", ""),
}
#: The same for ORC's.
PLAIN = {
    "orc.encrypt": ("pii:v", ""),
    "orc.mask": ("nullify:v", ""),
    "orc.proleptic.gregorian": ("true", "false"),
}
#: Hadoop's settings by which files, rows or columns would be left out while records are copied.
FILTERS = (
    "mapreduce.input.pathFilter.class",
    "parquet.read.filter",
    "parquet.private.read.filter.predicate",
    "parquet.read.schema",
)
#: Hadoop's settings while records are copied.
COPYING = {
    "io.skip.checksum.errors": ("true", "false"),
    "parquet.read.bad.record.threshold": ("1", "0"),
    "parquet.metadata.read.parallelism": ("0", "5"),
    "orc.skip.corrupt.data": ("true", "false"),
    "orc.max.file.length": ("1", "9223372036854775807"),
    "orc.use.zerocopy": ("true", "false"),
    "io.file.buffer.size": ("0", "65536"),
}


@pytest.mark.parametrize("name", SESSIONS)
def test_data_is_read_and_written_by_the_pinned_setting(spark: SparkSession, name: str) -> None:
    others, pinned = SESSIONS[name]
    with spark_defaults(spark, {name: others}):
        assert spark.newSession().conf.get(name) == others
        assert Sessions(spark).get().conf.get(name) == pinned


@pytest.mark.parametrize("name", STATEMENTS)
def test_sql_text_is_read_by_the_pinned_setting(spark: SparkSession, name: str) -> None:
    """Spark 4 has others by default."""
    others, pinned = STATEMENTS[name]
    with spark_defaults(spark, {name: others}):
        assert spark.newSession().conf.get(name) == others
        assert statement_session(spark).conf.get(name) == pinned


def _writing(spark: SparkSession, options: Mapping[str, str]) -> Any:
    """The configuration by which Spark writes with these options."""
    given: Any = spark._jvm.PythonUtils.toScalaMap(dict(options))
    return spark._jsparkSession.sessionState().newHadoopConfWithOptions(given)


@pytest.mark.parametrize("name", WRITING)
def test_files_are_written_by_the_pinned_setting(spark: SparkSession, name: str) -> None:
    others, pinned = WRITING[name]
    request = SimpleNamespace(options={}, profile=SimpleNamespace(codec="none"), replication=None)
    with cluster_settings(spark, {name: others}):
        assert _writing(spark, write_options(request, SimpleNamespace(options={}))).get(name) == pinned


def _copying(spark: SparkSession) -> Any:
    """The configuration by which records are read; nothing is read yet."""
    lib = "org.apache.hadoop.mapreduce.lib.input.TextInputFormat"
    form = SimpleNamespace(record_settings=lambda _: {})
    classes = (lib, "org.apache.hadoop.io.LongWritable", "org.apache.hadoop.io.Text")
    return Copier(spark, {"text": form}).pairs(SimpleNamespace(file_format="text"), ["file:/f"], *classes)[1]


@pytest.mark.parametrize("name", FILTERS)
def test_no_filter_of_the_cluster_is_asked_while_records_are_copied(spark: SparkSession, name: str) -> None:
    with cluster_settings(spark, {name: "com.example.Filter"}):
        assert _copying(spark).get(name) is None


@pytest.mark.parametrize("name", COPYING)
def test_records_are_copied_by_the_pinned_setting(spark: SparkSession, name: str) -> None:
    others, pinned = COPYING[name]
    with cluster_settings(spark, {name: others}):
        assert _copying(spark).get(name) == pinned


@pytest.mark.parametrize("name", PLAIN)
def test_orc_files_are_written_by_the_pinned_setting(spark: SparkSession, name: str) -> None:
    others, pinned = PLAIN[name]
    request = SimpleNamespace(options={}, profile=SimpleNamespace(codec="none"), replication=None)
    with cluster_settings(spark, {name: others}):
        assert _writing(spark, write_options(request, OrcFormat)).get(name) == pinned


#: Values of a cluster for all settings that say how rows of a sound file become those of another one.
_ALL = {name: others for name, (others, _) in SESSIONS.items() if "ignore" not in name}


@pytest.mark.parametrize("stored", ["PARQUET", "ORC", pytest.param("TEXTFILE", marks=pytest.mark.full)])
def test_with_all_of_them_in_the_cluster_a_table_is_compacted_with_the_same_rows(
    spark: SparkSession, jobs: Jobs, database: Database, stored: str
) -> None:
    table, folder = f"{database}.t", database.location("t")
    columns = "CAST(id AS STRING) AS v"
    if stored != "TEXTFILE":
        columns += ", TIMESTAMP '2024-03-10 02:30:00' AS t, CAST('b' AS BINARY) AS b, ARRAY(id, NULL) AS l"
    many(
        spark,
        folder,
        f"SELECT {columns} FROM range(40)",
        4,
        "text" if stored == "TEXTFILE" else stored.lower(),
    )
    declared = "v STRING" if stored == "TEXTFILE" else "v STRING, t TIMESTAMP, b BINARY, l ARRAY<BIGINT>"
    spark.sql(f"CREATE EXTERNAL TABLE {table} ({declared}) STORED AS {stored} LOCATION '{folder}'")
    before = rows(spark, table)
    with spark_defaults(spark, _ALL):
        report = only(jobs("compact", "--table", table))
    assert [unit["outcome"] for unit in report["units"]] == ["compacted"], report
    assert len(data_files(Path(f"{database.path}/t"))) == 1
    assert rows(spark, table) == before


def test_the_path_of_a_file_is_no_pattern_while_records_are_copied(
    spark: SparkSession, tmp_path: Path
) -> None:
    for name, rows_of in (("a,{b}[c]*", 3), ("a", 5), ("{b}[c]x", 7)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "f").write_text("x\n" * rows_of)
    form = SimpleNamespace(record_settings=lambda _: {})
    records, _ = Copier(spark, {"text": form}).pairs(
        SimpleNamespace(file_format="text"),
        [f"file:{tmp_path}/a,{{b}}[c]*/f"],
        "org.apache.hadoop.mapreduce.lib.input.TextInputFormat",
        "org.apache.hadoop.io.LongWritable",
        "org.apache.hadoop.io.Text",
    )
    assert records.count() == 3
