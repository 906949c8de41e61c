"""A compacted table is the same table: its columns, types, codec and order, or it is left as it was."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.harness.fixtures import Database
from tests.spark.toolbox import Jobs, data_files, many, only, rows, write_files

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SMALL = [f"SELECT {n} AS id, 'a{n}' AS v" for n in range(4)]


def _table(
    spark: SparkSession, database: Database, name: str, columns: str, file_format: str = "parquet"
) -> str:
    location = database.location(name)
    spark.sql(
        f"CREATE EXTERNAL TABLE {database}.{name} ({columns}) STORED AS {file_format} LOCATION '{location}'"
    )
    return f"{database}.{name}"


def _file_schema(spark: SparkSession, folder: Path) -> dict[str, str]:
    frame = spark.read.format("parquet").load(folder.as_uri())
    return {field.name: field.dataType.simpleString() for field in frame.schema}


@pytest.mark.smoke
def test_a_column_that_only_later_files_have_keeps_every_value(
    spark: SparkSession, jobs: Jobs, database: Database, file_format: str
) -> None:
    location = database.location("grown")
    write_files(spark, location, SMALL, file_format)
    # Whoever believes the first file by its name must find one that lacks the column.
    for file in (database.path / "grown").glob("part-*"):
        file.rename(file.with_name(f"a-{file.name}"))
    write_files(
        spark, location, [f"SELECT {n} AS id, 'b{n}' AS v, {n}.5D AS extra" for n in range(4, 8)], file_format
    )
    table = _table(spark, database, "grown", "id INT, v STRING, extra DOUBLE", file_format)
    before = rows(spark, table)
    assert sum("extra=None" not in row for row in before) == 4

    assert only(jobs("compact", "--table", table))["units"][0]["outcome"] == "compacted"

    assert len(data_files(database.path / "grown")) == 1
    assert rows(spark, table) == before


def test_a_column_that_the_metastore_lacks_stays_in_the_files(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    write_files(spark, database.location("hidden"), [f"{query}, 1 AS unknown" for query in SMALL])
    table = _table(spark, database, "hidden", "id INT, v STRING")
    jobs("compact", "--table", table)
    assert _file_schema(spark, database.path / "hidden") == {"id": "int", "v": "string", "unknown": "int"}


def test_columns_in_another_order_or_case_are_the_same_columns(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    location = database.location("shuffled")
    write_files(spark, location, [*SMALL, "SELECT 'z' AS V, 9 AS ID"])
    table = _table(spark, database, "shuffled", "id INT, v STRING")
    before = rows(spark, table)
    assert only(jobs("compact", "--table", table))["units"][0]["outcome"] == "compacted"
    assert rows(spark, table) == before


@pytest.mark.one_version
def test_files_of_conflicting_types_are_refused_with_both_types_named(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    write_files(spark, database.location("conflict"), [*SMALL, "SELECT 'nine' AS id, 'x' AS v"])
    table = _table(spark, database, "conflict", "id INT, v STRING")
    originals = data_files(database.path / "conflict")

    unit = only(jobs("compact", "--table", table))["units"][0]

    assert (unit["outcome"], unit["code"]) == ("skipped", "SCHEMA_CONFLICT")
    assert "int32" in unit["reason"]
    assert "binary" in unit["reason"]
    assert data_files(database.path / "conflict") == originals


@pytest.mark.parametrize(
    ("file_format", "codec"),
    [("parquet", "gzip"), ("parquet", "zstd"), ("parquet", "uncompressed"), ("orc", "zlib"), ("orc", "none")],
)
def test_the_codec_of_the_files_is_kept(
    spark: SparkSession, jobs: Jobs, database: Database, file_format: str, codec: str
) -> None:
    write = spark.sql("SELECT id, 'x' AS v FROM range(100)").repartition(4).write.format(file_format)
    write.option("compression", codec).save(database.location("codec"))
    table = _table(spark, database, "codec", "id BIGINT, v STRING", file_format)
    report = only(jobs("compact", "--table", table))
    assert report["codec"] == codec
    assert _codecs(spark, database.path / "codec", file_format) == {codec.upper()}


@pytest.mark.one_version
def test_a_declared_codec_wins_and_the_difference_is_said(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    write_files(spark, database.location("declared"), SMALL)
    table = _table(spark, database, "declared", "id INT, v STRING")
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('parquet.compression'='GZIP')")
    report = only(jobs("compact", "--table", table))
    assert _codecs(spark, database.path / "declared", "parquet") == {"GZIP"}
    assert report["warnings"][0].startswith("CODEC_DIFFERS: ")
    assert "snappy" in report["warnings"][0]


def _codecs(spark: SparkSession, folder: Path, file_format: str) -> set[str]:
    """By the format's own reader, one file at a time."""
    jvm, conf, found = spark._jvm, spark._jsc.hadoopConfiguration(), set()
    for name in data_files(folder):
        path = jvm.org.apache.hadoop.fs.Path(str(folder / name))
        if file_format == "orc":
            reader = jvm.org.apache.orc.OrcFile.createReader(
                path, jvm.org.apache.orc.OrcFile.readerOptions(conf)
            )
            found.add(reader.getCompressionKind().toString())
        else:
            source = jvm.org.apache.parquet.hadoop.util.HadoopInputFile.fromPath(path, conf)
            reader = jvm.org.apache.parquet.hadoop.ParquetFileReader.open(source)
            found |= {b.getColumns().get(0).getCodec().toString() for b in reader.getFooter().getBlocks()}
        reader.close()
    return found


@pytest.mark.parametrize("kind", ["INT96", "TIMESTAMP_MICROS", "TIMESTAMP_MILLIS"])
@pytest.mark.parametrize("legacy", ["true", "false"])
def test_timestamps_and_decimals_keep_their_encoding(
    spark: SparkSession, jobs: Jobs, database: Database, kind: str, legacy: str
) -> None:
    spark.conf.set("spark.sql.parquet.outputTimestampType", kind)
    spark.conf.set("spark.sql.parquet.writeLegacyFormat", legacy)
    query = (
        "SELECT id, TIMESTAMP'2024-03-31 02:30:00.123' AS t, CAST(1.25 AS DECIMAL(9,2)) AS d FROM range(40)"
    )
    try:
        many(spark, database.location("encoded"), query, 4)
    finally:
        spark.conf.unset("spark.sql.parquet.outputTimestampType")
        spark.conf.unset("spark.sql.parquet.writeLegacyFormat")
    table = _table(spark, database, "encoded", "id BIGINT, t TIMESTAMP, d DECIMAL(9,2)")
    before, physical = rows(spark, table), _physical(spark, database.path / "encoded")
    assert only(jobs("compact", "--table", table))["units"][0]["outcome"] == "compacted"
    assert rows(spark, table) == before
    assert _physical(spark, database.path / "encoded") == physical


def _physical(spark: SparkSession, folder: Path) -> str:
    name = next(iter(data_files(folder)))
    path = spark._jvm.org.apache.hadoop.fs.Path(str(folder / name))
    source = spark._jvm.org.apache.parquet.hadoop.util.HadoopInputFile.fromPath(
        path, spark._jsc.hadoopConfiguration()
    )
    reader = spark._jvm.org.apache.parquet.hadoop.ParquetFileReader.open(source)
    try:
        schema = reader.getFooter().getFileMetaData().getSchema().toString()
    finally:
        reader.close()
    return schema.replace("required ", "optional ")


def test_sort_columns_order_the_rewritten_rows(spark: SparkSession, jobs: Jobs, database: Database) -> None:
    many(spark, database.location("sorted"), "SELECT id, (id * 7919) % 1000 AS v FROM range(1000)", 5)
    table = _table(spark, database, "sorted", "id BIGINT, v BIGINT")
    request = {"settings": {"sort_columns": {table: ["id"]}}, "tables": {table: {"sort_columns": ["v"]}}}
    jobs("compact", "--table", table, request=request)
    (name,) = data_files(database.path / "sorted")
    values = [row.v for row in spark.read.parquet(str(database.path / "sorted" / name)).collect()]
    assert values == sorted(values)


@pytest.mark.one_version
def test_an_unknown_sort_column_is_said_before_anything_is_written(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    write_files(spark, database.location("unsorted"), SMALL)
    table = _table(spark, database, "unsorted", "id INT, v STRING")
    originals = data_files(database.path / "unsorted")
    report = jobs("compact", "--table", table, "--sort-columns", "nope")
    assert (report["outcome"], report["exit_code"]) == ("usage", 2)
    assert "nope" in report["error"]
    assert "id, v" in report["error"]
    assert data_files(database.path / "unsorted") == originals


@pytest.mark.one_version
def test_output_files_come_close_to_the_target_size(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    many(spark, database.location("sized"), "SELECT id, rand(7) AS r, rand(8) AS s FROM range(200000)", 40)
    table = _table(spark, database, "sized", "id BIGINT, r DOUBLE, s DOUBLE")
    before = rows(spark, table)
    report = only(jobs("compact", "--table", table, "--target-file-size", "1mb"))
    unit = report["units"][0]
    assert unit["target_files"] == unit["files_after"] == len(data_files(database.path / "sized")) > 2
    assert rows(spark, table) == before


@pytest.mark.one_version
def test_modes_and_success_markers_are_kept(spark: SparkSession, jobs: Jobs, database: Database) -> None:
    folder = database.path / "modes"
    write_files(spark, database.location("modes"), SMALL)
    table = _table(spark, database, "modes", "id INT, v STRING")
    (folder / "_SUCCESS").write_text("")
    folder.chmod(0o2750)
    for name in data_files(folder):
        (folder / name).chmod(0o640)
    jobs("compact", "--table", table)
    assert (folder.stat().st_mode & 0o777, (folder / "_SUCCESS").exists()) == (0o750, True)
    assert {(folder / name).stat().st_mode & 0o777 for name in data_files(folder)} == {0o640}


@pytest.mark.one_version
def test_statistics_are_computed_only_on_request(spark: SparkSession, jobs: Jobs, database: Database) -> None:
    write_files(spark, database.location("stats"), SMALL)
    table = _table(spark, database, "stats", "id INT, v STRING")
    jobs("compact", "--table", table, "--analyze-stats")
    described = {row.col_name: row.data_type for row in spark.sql(f"DESCRIBE EXTENDED {table}").collect()}
    assert "4 rows" in described["Statistics"]


@pytest.mark.one_version
def test_statistics_of_partitions_are_computed_on_request(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    """Those of the compacted ones, and not of the whole table."""
    for day in (1, 2):
        write_files(spark, f"{database.location('days')}/day={day}", SMALL)
    table = f"{database}.days"
    spark.sql(
        f"CREATE EXTERNAL TABLE {table} (id INT, v STRING) PARTITIONED BY (day INT) STORED AS PARQUET"
        f" LOCATION '{database.location('days')}'"
    )
    spark.sql(f"MSCK REPAIR TABLE {table}")
    jobs("compact", "--table", table, "--where", "day = 1", "--analyze-stats")
    found = [
        {row.col_name: row.data_type for row in spark.sql(f"DESCRIBE EXTENDED {table}{part}").collect()}
        for part in (" PARTITION (day=1)", " PARTITION (day=2)", "")
    ]
    assert "4 rows" in found[0]["Partition Statistics"]
    assert not any("rows" in each.get("Partition Statistics", "") for each in found[1:])
    assert "rows" not in found[2].get("Statistics", "")


def test_empty_files_are_dropped_and_a_unit_of_nothing_else_is_left_alone(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    write_files(spark, database.location("holes"), SMALL)
    (database.path / "holes" / "part-empty.parquet").touch()
    table = _table(spark, database, "holes", "id INT, v STRING")
    report = only(jobs("compact", "--table", table))
    assert (report["units"][0]["files"], report["units"][0]["files_after"], report["rows"]) == (5, 1, 4)
    (database.path / "void").mkdir()
    for name in ("a.parquet", "b.parquet"):
        (database.path / "void" / name).touch()
    void = _table(spark, database, "void", "id INT")
    unit = only(jobs("compact", "--table", void))["units"][0]
    assert (unit["outcome"], unit["code"]) == ("skipped", "EMPTY")
