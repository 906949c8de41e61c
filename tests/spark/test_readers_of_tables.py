"""Tables whose readers are told, by the table or by the cluster, which files, columns and lines they read.

A rewrite changes the names, times and columns of files. Where readers go by these, it would change what they read.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.harness.fixtures import Database
from tests.harness.sampling import sampled
from tests.spark.toolbox import Jobs, cluster_settings, data_files, many, only, rows, write_files

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Nothing of this depends on the version.
pytestmark = pytest.mark.one_version

FILTERS = [
    "pathGlobFilter 'good*'",
    "modifiedBefore '2020-01-01T00:00:00'",
    "modifiedAfter '2020-01-01T00:00:00'",
]


@pytest.mark.parametrize("option", sampled(FILTERS, FILTERS[0]))
@pytest.mark.parametrize("file_format", sampled(["parquet", "orc"], "parquet"))
def test_a_table_whose_readers_leave_out_files_is_refused(
    spark: SparkSession, jobs: Jobs, database: Database, file_format: str, option: str
) -> None:
    folder = database.path / "t"
    many(spark, folder.as_uri(), "SELECT id FROM range(100)", 4, file_format)
    for number, name in enumerate(sorted(data_files(folder))):
        (folder / name).rename(folder / f"{'good' if number % 2 else 'bad'}{name}")
    spark.sql(
        f"CREATE TABLE {database}.t (id BIGINT) USING {file_format} OPTIONS ({option}) LOCATION '{folder.as_uri()}'"
    )
    before = rows(spark, f"{database}.t")
    table = only(jobs("compact", "--table", f"{database}.t"))
    assert (table["outcome"], table["code"]) == ("refused", "FILE_FILTER"), table
    assert option.split()[0] in table["reason"]
    assert rows(spark, f"{database}.t") == before


def _by_hive(spark: SparkSession, table: str) -> Counter[str]:
    """The rows as Hive's own readers find them."""
    names = [f"spark.sql.hive.convertMetastore{name}" for name in ("Parquet", "Orc")]
    for name in names:
        spark.conf.set(name, "false")
    try:
        return rows(spark, table)
    finally:
        for name in names:
            spark.conf.unset(name)


_POSITIONS = {"parquet": "parquet.column.index.access", "orc": "orc.force.positional.evolution"}


@pytest.mark.parametrize("file_format", sampled(list(_POSITIONS), "parquet"))
@pytest.mark.parametrize("where", sampled(["cluster", "table"], "cluster"))
def test_columns_by_position_are_noticed_wherever_they_are_set(
    spark: SparkSession, jobs: Jobs, database: Database, file_format: str, where: str
) -> None:
    """Files with other columns at a position are not united: not by `lakekeeper.readers` either, and all are hashed."""
    folder, key = database.location("t"), _POSITIONS[file_format]
    queries = ["SELECT id, id + 1 AS a FROM range(9)", "SELECT id, id + 2 AS b FROM range(9)"]
    write_files(spark, folder, queries * 2, file_format)
    properties = {"lakekeeper.readers": "by-name", **({key: " true "} if where == "table" else {})}
    listed = ", ".join(f"'{name}'='{value}'" for name, value in properties.items())
    spark.sql(
        f"CREATE EXTERNAL TABLE {database}.t (id BIGINT, a BIGINT) STORED AS {file_format} LOCATION '{folder}'"
        f" TBLPROPERTIES ({listed})"
    )
    with cluster_settings(spark, {key: "true"} if where == "cluster" else {}):
        before = _by_hive(spark, f"{database}.t")
        table = only(jobs("compact", "--table", f"{database}.t", "--verify", "hash"))
        assert _by_hive(spark, f"{database}.t") == before
    (unit,) = table["units"]
    assert (unit["outcome"], unit["code"]) == ("skipped", "POSITIONAL"), unit


def test_text_whose_rows_end_elsewhere_on_the_cluster_is_refused(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    """A line feed at the end of each file would be one more byte of a row."""
    folder = _texts(database, {str(number): b"a,b,c" for number in range(4)})
    spark.sql(
        f"CREATE EXTERNAL TABLE {database}.t (a STRING) STORED AS TEXTFILE LOCATION '{folder.as_uri()}'"
    )
    with cluster_settings(spark, {"textinputformat.record.delimiter": ","}):
        before = rows(spark, f"{database}.t")
        table = only(jobs("compact", "--table", f"{database}.t"))
        assert rows(spark, f"{database}.t") == before
    assert (table["outcome"], table["code"]) == ("refused", "ENCODING"), table
    assert "textinputformat.record.delimiter" in table["reason"]


def test_text_with_codecs_of_its_own_is_refused(spark: SparkSession, jobs: Jobs, database: Database) -> None:
    """Its readers take a file of another codec for plain text."""
    folder = _texts(database, {f"{number}.gz": b"no gzip\n" for number in range(4)})
    codec = "org.apache.hadoop.io.compress.PassthroughCodec"
    spark.sql(
        f"CREATE EXTERNAL TABLE {database}.t (a STRING) STORED AS TEXTFILE LOCATION '{folder.as_uri()}'"
        f" TBLPROPERTIES ('io.compression.codecs'='{codec}')"
    )
    table = only(jobs("compact", "--table", f"{database}.t"))
    assert (table["outcome"], table["code"]) == ("refused", "CODEC"), table
    assert codec in table["reason"]


def test_a_codec_without_its_native_library_is_named(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    folder = _texts(
        database, {f"{number}.zst": b"(\xb5/\xfd\x04\x00\x01\x00\x00\x99\xe9\xd8Q" for number in range(4)}
    )
    spark.sql(
        f"CREATE EXTERNAL TABLE {database}.t (a STRING) STORED AS TEXTFILE LOCATION '{folder.as_uri()}'"
    )
    for verb in ("analyze", "compact"):
        (unit,) = only(jobs(verb, "--table", f"{database}.t"))["units"]
        assert (unit["outcome"], unit["code"]) == ("skipped", "CODEC"), unit
        assert ".zst" in unit["reason"]


def _texts(database: Database, files: dict[str, bytes]) -> Path:
    folder = database.path / "t"
    folder.mkdir(parents=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


def test_a_cluster_that_encrypts_columns_of_orc_files_does_not_encrypt_those_in_plain_text(
    spark: SparkSession, jobs: Jobs, database: Database, tmp_path: Path
) -> None:
    jvm, conf = spark._jvm, spark._jsc.hadoopConfiguration()
    folder, keys = database.path / "t", f"jceks://file{tmp_path}/keys.jceks"
    many(spark, folder.as_uri(), "SELECT id, concat('v', id) AS v FROM range(100)", 4, "orc")
    spark.sql(
        f"CREATE EXTERNAL TABLE {database}.t (id BIGINT, v STRING) STORED AS orc LOCATION '{folder.as_uri()}'"
    )
    with cluster_settings(
        spark, {"hadoop.security.key.provider.path": keys, "orc.encrypt": "pii:v", "orc.mask": "nullify:v"}
    ):
        provider = jvm.org.apache.hadoop.crypto.key.KeyProviderFactory.getProviders(conf).get(0)
        options = jvm.org.apache.hadoop.crypto.key.KeyProvider.options(conf)
        options.setBitLength(128)
        provider.createKey("pii", options)
        provider.flush()
        (unit,) = only(jobs("compact", "--table", f"{database}.t"))["units"]
    assert unit["outcome"] == "compacted", unit
    (name,) = data_files(folder)
    orc = jvm.org.apache.orc.OrcFile
    with cluster_settings(spark, {"hadoop.security.key.provider.path": ""}):
        reader = orc.createReader(
            jvm.org.apache.hadoop.fs.Path(f"{folder.as_uri()}/{name}"), orc.readerOptions(conf)
        )
        assert len(reader.getColumnEncryptionKeys()) == 0


_DAYS = "SELECT id, date'1500-01-01' + cast(id AS INT) * 1000 AS d FROM range(100)"


@pytest.mark.parametrize("verify", sampled(["count", "hash"], "count"))
@pytest.mark.parametrize("written", sampled(["before", "with it"], "before"))
def test_a_calendar_that_the_cluster_sets_for_orc_changes_no_day(
    spark: SparkSession, jobs: Jobs, database: Database, written: str, verify: str
) -> None:
    folder, calendar = database.location("t"), {"orc.proleptic.gregorian": "true"}
    with cluster_settings(spark, calendar if written == "with it" else {}):
        many(spark, folder, _DAYS, 4, "orc")
    spark.sql(f"CREATE EXTERNAL TABLE {database}.t (id BIGINT, d DATE) STORED AS orc LOCATION '{folder}'")

    def seen() -> list[Counter[str]]:
        """The rows as readers with and without the setting see them."""
        found = [rows(spark, f"{database}.t")]
        with cluster_settings(spark, calendar):
            return [*found, rows(spark, f"{database}.t")]

    before = seen()
    with cluster_settings(spark, calendar):
        (unit,) = only(jobs("compact", "--table", f"{database}.t", "--verify", verify))["units"]
    assert unit["outcome"] == "compacted", unit
    assert seen() == before
    assert _proleptic(spark, database) == (written == "with it")


def _proleptic(spark: SparkSession, database: Database) -> bool:
    """Whether the file of the table says that its days are of the proleptic calendar."""
    jvm: Any = spark._jvm
    orc = jvm.org.apache.orc.OrcFile
    (name,) = data_files(database.path / "t")
    path = jvm.org.apache.hadoop.fs.Path(f"file:{database.path}/t/{name}")
    reader = orc.createReader(path, orc.readerOptions(spark._jsc.hadoopConfiguration()))
    return bool(reader.writerUsedProlepticGregorian())


def test_values_that_are_read_otherwise_than_written_are_named_where_only_values_are_compared(
    spark: SparkSession, jobs: Jobs, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As by a setting of the cluster: what was read is what was written, and is not what the originals hold."""
    from pyspark.sql import functions as F

    from spark_jobs.adapters.spark.rewriter import Rewriter

    folder, honest = database.location("t"), Rewriter._inputs
    many(spark, folder, "SELECT id, id AS a FROM range(100)", 4)
    spark.sql(
        f"CREATE EXTERNAL TABLE {database}.t (id BIGINT, a BIGINT) STORED AS parquet LOCATION '{folder}'"
    )
    monkeypatch.setattr(
        Rewriter,
        "_inputs",
        lambda self, request: honest(self, request).withColumn("a", F.when(F.col("a") > 50, F.col("a"))),
    )
    table = only(jobs("compact", "--table", f"{database}.t", "--verify", "hash"))
    assert [unit["outcome"] for unit in table["units"]] == ["compacted"], table
    (warning,) = [each for each in table["warnings"] if "STATISTICS_DIFFER" in each]
    assert "column 'a': values that are not null 100 in the originals, and 49 in" in warning
