"""What must not be compacted is refused by a stable code and one sentence, and nothing is touched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from spark_jobs.adapters.spark.joint_rewriter import JointRewriter
from spark_jobs.adapters.spark.rewriter import Rewriter
from spark_jobs.core.messages.errors import LakekeeperError
from tests.harness.fixtures import Database
from tests.spark.toolbox import Jobs, local, many, of_ids, only, tree

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: What is refused is decided by the driver, from the metastore and the footers.
pytestmark = pytest.mark.one_version


@pytest.fixture
def files(spark: SparkSession, database: Database) -> str:
    """A directory of 4 small files."""
    location = database.location("t")
    many(spark, location, "SELECT id FROM range(40)", 4)
    return location


def _create(spark: SparkSession, database: Database, rest: str) -> str:
    spark.sql(f"CREATE EXTERNAL TABLE {database}.t (id BIGINT) {rest}")
    return f"{database}.t"


def _refused(report: dict[str, Any], code: str) -> None:
    table = only(report)
    assert (table["outcome"], table["code"]) == ("refused", code), table
    assert table["reason"]
    assert report["exit_code"] == 1


def _set_property(spark: SparkSession, table: str, key: str, value: str) -> None:
    """Straight in the metastore, as other engines do; Spark's SQL keeps some keys to itself."""
    conf = spark._jvm.org.apache.hadoop.hive.conf.HiveConf()
    conf.set("hive.metastore.uris", spark.conf.get("spark.hadoop.hive.metastore.uris"))
    client = spark._jvm.org.apache.hadoop.hive.metastore.HiveMetaStoreClient(conf)
    database, name = table.split(".")
    entry = client.getTable(database, name)
    entry.putToParameters(key, value)
    client.alter_table(database, name, entry)
    client.close()


@pytest.mark.parametrize(
    ("key", "value", "code"),
    [
        ("table_type", "ICEBERG", "ICEBERG"),
        ("lakekeeper.enabled", "false", "OPTED_OUT"),
        ("lakekeeper.run_id", "r1", "BACKUP"),
    ],
)
def test_by_table_properties(
    spark: SparkSession, jobs: Jobs, database: Database, files: str, key: str, value: str, code: str
) -> None:
    before = tree(database.path)
    table = _create(spark, database, f"STORED AS PARQUET LOCATION '{files}'")
    _set_property(spark, table, key, value)
    for verb in ("analyze", "compact"):
        _refused(jobs(verb, "--table", table), code)
    assert tree(database.path) == before


def test_managed_tables_and_views(spark: SparkSession, jobs: Jobs, database: Database) -> None:
    spark.sql(f"CREATE TABLE {database}.m (id BIGINT) STORED AS PARQUET")
    spark.sql(f"CREATE VIEW {database}.v AS SELECT 1 AS id")
    _refused(jobs("compact", "--table", f"{database}.m"), "MANAGED")
    _refused(jobs("compact", "--table", f"{database}.v"), "VIEW")


def test_formats_that_nobody_here_can_write(
    spark: SparkSession, jobs: Jobs, database: Database, files: str
) -> None:
    table = _create(spark, database, f"STORED AS RCFILE LOCATION '{files}'")
    _refused(jobs("compact", "--table", table), "SERDE")


@pytest.mark.parametrize("file_format", ["parquet", "orc", "avro"])
def test_files_of_another_format_in_a_text_table(
    spark: SparkSession, jobs: Jobs, database: Database, file_format: str
) -> None:
    """Their bytes would pass for lines: the table would be none the worse, and another one over the files ruined."""
    location = database.location("t")
    rows = "SELECT id FROM range(40)"
    if file_format == "avro":
        spark.sql(f"CREATE TABLE {database}.a STORED AS AVRO LOCATION '{location}' AS {rows}")
        spark.sql(f"INSERT INTO {database}.a {rows}")
    else:
        many(spark, location, rows, 4, file_format)
    table = _create(spark, database, f"STORED AS TEXTFILE LOCATION '{location}'")
    before = tree(database.path)
    (unit,) = only(jobs("compact", "--table", table))["units"]
    assert (unit["outcome"], unit["code"]) == ("skipped", "SERDE")
    assert tree(database.path) == before


def test_text_that_begins_like_another_format_is_text(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    folder = database.path / "t"
    folder.mkdir(parents=True)
    for number, line in enumerate(("PAR1", "ORC", "SEQUENCE", "Object")):
        (folder / f"{number}.txt").write_text(f"{line}\n")
    spark.sql(
        f"CREATE EXTERNAL TABLE {database}.t (v STRING) STORED AS TEXTFILE LOCATION '{folder.as_uri()}'"
    )
    (unit,) = only(jobs("compact", "--table", f"{database}.t"))["units"]
    assert (unit["outcome"], unit["reason"]) == ("compacted", None)


def test_hive_buckets(spark: SparkSession, jobs: Jobs, database: Database, files: str) -> None:
    folder = local(files)
    for number, file in enumerate(sorted(folder.glob("part-*"))):
        file.rename(folder / f"{number % 3:06}_0_copy_{number}")
    for checksum in folder.glob(".part-*.crc"):
        checksum.unlink()
    bucketed = f"CLUSTERED BY (id) SORTED BY (id) INTO 3 BUCKETS STORED AS PARQUET LOCATION '{files}'"
    table = _create(spark, database, bucketed)
    _refused(jobs("compact", "--table", table), "BUCKETED")
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('lakekeeper.bucketing'='ignore')")
    report = jobs("compact", "--table", table)
    assert only(report)["units"][0]["outcome"] == "compacted"


def test_spark_buckets_are_refused_whatever_the_property(
    spark: SparkSession, jobs: Jobs, database: Database, files: str
) -> None:
    spark.sql(
        f"CREATE TABLE {database}.t (id BIGINT) USING PARQUET CLUSTERED BY (id) INTO 4 BUCKETS LOCATION '{files}'"
        " TBLPROPERTIES ('lakekeeper.bucketing'='ignore')"
    )
    _refused(jobs("compact", "--table", f"{database}.t"), "BUCKETED")


def test_a_table_made_by_spark_is_compacted_like_one_of_hives(
    spark: SparkSession, jobs: Jobs, database: Database, files: str
) -> None:
    spark.sql(f"CREATE TABLE {database}.t (id BIGINT) USING PARQUET LOCATION '{files}'")
    (unit,) = only(jobs("compact", "--table", f"{database}.t"))["units"]
    assert (unit["outcome"], unit["reason"]) == ("compacted", None)


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        ("HIVE_UNION_SUBDIR_1", "SUBDIRECTORIES"),
        ("_temporary", "ACTIVE_WRITER"),
        (".hive-staging_x", "ACTIVE_WRITER"),
    ],
)
def test_folders_inside_a_table(
    spark: SparkSession, jobs: Jobs, database: Database, files: str, entry: str, code: str
) -> None:
    table = _create(spark, database, f"STORED AS PARQUET LOCATION '{files}'")
    (database.path / "t" / entry).mkdir()
    before = tree(database.path)
    _refused(jobs("compact", "--table", table), code)
    assert tree(database.path) == before


@pytest.mark.parametrize("mark", ["_delta_log", ".hoodie"])
def test_other_table_formats_posing_as_parquet(
    spark: SparkSession, jobs: Jobs, database: Database, files: str, mark: str
) -> None:
    table = _create(spark, database, f"STORED AS PARQUET LOCATION '{files}'")
    (database.path / "t" / mark).mkdir()
    _refused(jobs("compact", "--table", table), {"_delta_log": "DELTA", ".hoodie": "HUDI"}[mark])


def test_leftovers_of_lakekeeper(spark: SparkSession, jobs: Jobs, database: Database, files: str) -> None:
    table = _create(spark, database, f"STORED AS PARQUET LOCATION '{files}'")
    (database.path / "t__old_1772054071").mkdir()
    _refused(jobs("compact", "--table", table), "LEGACY_LEFTOVER")


def test_one_bad_partition_does_not_stop_the_others(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    table = of_ids(spark, database, "mixed", dict.fromkeys("abc", 4))
    (database.path / "mixed" / "k=b" / "nested").mkdir()
    broken = next((database.path / "mixed" / "k=c").glob("part-*"))
    broken.write_bytes(b"PAR1 this is not a parquet file")
    (broken.parent / f".{broken.name}.crc").unlink()

    report = jobs("compact", "--table", table)

    units = {u["unit"]["k"]: (u["outcome"], u["code"]) for u in only(report)["units"]}
    assert units == {
        "a": ("compacted", None),
        "b": ("skipped", "SUBDIRECTORIES"),
        "c": ("skipped", "UNREADABLE"),
    }
    assert (report["outcome"], report["exit_code"]) == ("done", 0)


@pytest.mark.parametrize("refused", [False, True])
def test_on_failure_undo_puts_the_other_units_back(
    spark: SparkSession, jobs: Jobs, database: Database, monkeypatch: pytest.MonkeyPatch, refused: bool
) -> None:
    """A refused unit is no failure: it was not begun, and the others stay compacted."""
    table = of_ids(spark, database, "undone", dict.fromkeys("ab", 4))
    if refused:
        broken = next((database.path / "undone" / "k=b").glob("part-*"))
        broken.write_bytes(b"PAR1 this is not a parquet file")
        (broken.parent / f".{broken.name}.crc").unlink()
    else:
        _fail_writes_of(monkeypatch, "k=b")
    before = tree(database.path / "undone")
    report = jobs("compact", "--table", table, "--on-failure", "undo")
    if refused:
        assert [unit["code"] for unit in only(report)["units"]] == [None, "UNREADABLE"]
        assert (report["outcome"], report["exit_code"]) == ("done", 0)
        return
    assert (report["outcome"], report["exit_code"]) == ("failed", 1)
    assert tree(database.path / "undone") == before


def _fail_writes_of(monkeypatch: pytest.MonkeyPatch, unit: str) -> None:
    """As the cluster would: the job of one unit is lost, also where it is written with others."""
    write = Rewriter.write

    def failing(self: Rewriter, request: Any) -> Any:
        if request.directory.endswith(unit):
            raise LakekeeperError("Spark could not rewrite the unit: its executors are lost")
        return write(self, request)

    def lost(*_: object) -> Any:
        raise RuntimeError("its executors are lost")

    monkeypatch.setattr(JointRewriter, "write", lost)
    monkeypatch.setattr(Rewriter, "write", failing)


def test_a_database_is_worked_through_whatever_its_odd_tables(
    spark: SparkSession, jobs: Jobs, database: Database, files: str
) -> None:
    good = _create(spark, database, f"STORED AS PARQUET LOCATION '{files}'")
    spark.sql(f"CREATE TABLE {database}.a_managed (id BIGINT) STORED AS PARQUET")
    spark.sql(f"CREATE EXTERNAL TABLE {database}.b_text (id BIGINT) STORED AS RCFILE LOCATION '{files}x'")
    report = jobs("compact", "--database", str(database))
    assert {t["table"]: (t["outcome"], t["code"]) for t in report["tables"]} == {
        f"{database}.a_managed": ("refused", "MANAGED"),
        f"{database}.b_text": ("refused", "SERDE"),
        good: ("done", None),
    }
    assert (report["outcome"], report["exit_code"]) == ("done", 0)
    picked = jobs("analyze", "--database", str(database), "--include", "*_text,t", "--exclude", "b_*")
    assert [t["table"] for t in picked["tables"]] == [good]


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--table", "nodots"], "'nodots' is not a table name"),
        (["--database", "no_such_db"], "database 'no_such_db' does not exist"),
        (["--table", "{table}", "--partitions", "[{]"], "is not valid JSON"),
        (["--table", "{table}", "--partitions", '[{"day": "1"}]'], "'day' is not a partition key of"),
        (["--table", "{table}", "--where", "id > 1"], "has no partitions"),
        (["--table", "{table}", "--ratio-threshold", "0"], "a number from 0.001 to 1000000000"),
        (["--table", "{table}", "--deadline", "2026-02-24T05:00:00"], "with its UTC offset"),
        (["--table", "{table}", "--target-file-size", "huge"], "512mb"),
    ],
)
def test_bad_input_is_a_usage_error_that_names_it(
    spark: SparkSession, jobs: Jobs, database: Database, files: str, argv: list[str], message: str
) -> None:
    table = _create(spark, database, f"STORED AS PARQUET LOCATION '{files}'")
    report = jobs("compact", *[word.replace("{table}", table) for word in argv])
    assert (report["outcome"], report["exit_code"]) == ("usage", 2)
    assert message in report["error"]


def test_an_unknown_table_is_named(jobs: Jobs, database: Database) -> None:
    report = jobs("compact", "--table", f"{database}.nope")
    _refused(report, "NOT_FOUND")
    assert f"{database}.nope does not exist" in only(report)["reason"]


def test_unknown_options_name_the_nearest_one(jobs: Jobs) -> None:
    report = jobs("analyze", "--table", "a.b", request={"settings": {"block_size": 64}})
    assert "did you mean 'block_size_mb'" in report["error"]
    other = jobs("analyze", "--table", "a.b", request={"option": {}})
    assert "unknown key 'option'" in other["error"]


def test_a_table_beside_which_nothing_can_be_written_is_refused_before_any_work(
    spark: SparkSession, jobs: Jobs, database: Database, files: str
) -> None:
    """Root may write everywhere, so a file stands where the folder must go."""
    table = _create(spark, database, f"STORED AS PARQUET LOCATION '{files}'")
    (database.path / ".lakekeeper-t").write_text("not a folder")
    before = tree(database.path)
    report = jobs("compact", "--table", table)
    assert report["exit_code"] == 1
    assert ".lakekeeper-t" in only(report)["reason"]
    assert tree(database.path) == before


def test_a_user_without_permission_is_told_so(
    spark: SparkSession, jobs: Jobs, database: Database, files: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(*_: object) -> None:
        raise PermissionError("Permission denied: user=etl, access=WRITE, inode=/db")

    monkeypatch.setattr("spark_jobs.adapters.hadoop.file_system.HadoopFileSystem.mkdirs", denied)
    table = _create(spark, database, f"STORED AS PARQUET LOCATION '{files}'")
    report = jobs("compact", "--table", table)
    _refused(report, "NOT_WRITABLE")
    assert "user=etl" in only(report)["reason"]


@pytest.mark.parametrize(
    ("file_format", "key", "value", "named"),
    [
        ("parquet", "parquet.compression", "LZO", "com.hadoop.compression.lzo.LzoCodec"),
        ("parquet", "parquet.compression", "brotli", "org.apache.hadoop.io.compress.BrotliCodec"),
        (
            "parquet",
            "parquet.compression",
            "org.apache.hadoop.io.compress.SnappyCodec",
            "'org.apache.hadoop.io.compress.SnappyCodec'",
        ),
        ("orc", "orc.compress", "GZIP", "'GZIP'"),
    ],
)
def test_a_declared_codec_that_cannot_be_written_is_named_by_the_analysis(
    spark: SparkSession, jobs: Jobs, database: Database, file_format: str, key: str, value: str, named: str
) -> None:
    location = database.location("t")
    many(spark, location, "SELECT id FROM range(40)", 4, file_format)
    table = _create(spark, database, f"STORED AS {file_format} LOCATION '{location}'")
    _set_property(spark, table, key, value)
    for verb in ("analyze", "plan", "compact"):
        report = jobs(verb, "--table", table)
        found = only(report)
        unit = found["units"][0] if found["units"] else found
        assert unit["code"] == "CODEC", found
        assert key in unit["reason"]
        assert named in unit["reason"]
    assert jobs("compact", "--database", str(database))["exit_code"] == 0
