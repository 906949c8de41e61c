"""How files are laid out inside: row groups, stripes and Bloom filters stay, or are what the table declares."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.orc
import pyarrow.parquet
import pytest

from spark_jobs.core.formats.footers import Footer, profile
from spark_jobs.core.formats.writer_options import writer_options
from spark_jobs.protocol.measuring.namenode_calls import NameNodeCalls
from tests.harness.fixtures import Database
from tests.spark.toolbox import Jobs, data_files, listed, only

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Row groups and stripes are the formats' libraries' affair, by options that the driver chooses.
pytestmark = pytest.mark.one_version

ROWS = 40_000


def _write(spark: SparkSession, folder: str, file_format: str, **options: Any) -> None:
    frame = spark.range(ROWS).selectExpr("id", "uuid() AS u", "concat('v', id % 7) AS v").repartition(4)
    frame.write.format(file_format).options(**{k.replace("__", "#"): v for k, v in options.items()}).save(
        folder
    )


def _compacted(
    spark: SparkSession, jobs: Jobs, database: Database, file_format: str, properties: str = "", *argv: str
) -> Path:
    table, folder = f"{database}.t", database.path / "t"
    spark.sql(
        f"CREATE EXTERNAL TABLE {table} (id BIGINT, u STRING, v STRING) STORED AS {file_format}"
        f" LOCATION '{database.location('t')}' {properties}"
    )
    assert [u["outcome"] for u in only(jobs("compact", "--table", table, *argv))["units"]] == ["compacted"]
    (name,) = data_files(folder)
    return folder / name


def test_row_groups_are_as_large_as_they_were(spark: SparkSession, jobs: Jobs, database: Database) -> None:
    """Readers split by them; one file of 128 MB with a single row group would be read by one task."""
    rows, folder = 1_300_000, database.path / "t"
    folder.mkdir(parents=True)
    for number in range(2):
        noise = pyarrow.py_buffer(os.urandom(8 * 2 * rows))
        ids = pyarrow.Array.from_buffers(pyarrow.int64(), 2 * rows, [None, noise])
        table = pyarrow.table({"id": ids})
        pyarrow.parquet.write_table(table, folder / f"part-{number}", row_group_size=rows)
    before = [pyarrow.parquet.ParquetFile(path) for path in folder.glob("part-*")]
    largest = max(f.metadata.row_group(n).total_byte_size for f in before for n in range(f.num_row_groups))
    after = pyarrow.parquet.ParquetFile(
        _compacted(spark, jobs, database, "parquet", "", "--block-size", "256")
    )
    sizes = [after.metadata.row_group(n).total_byte_size for n in range(after.num_row_groups)]
    assert len(sizes) >= 4
    assert max(sizes) < 2 * largest


def test_a_declared_row_group_size_wins(spark: SparkSession, jobs: Jobs, database: Database) -> None:
    _write(spark, database.location("t"), "parquet")
    declared = "TBLPROPERTIES ('parquet.block.size'='65536')"
    assert (
        pyarrow.parquet.ParquetFile(_compacted(spark, jobs, database, "parquet", declared)).num_row_groups > 4
    )


def test_bloom_filters_are_kept(spark: SparkSession, jobs: Jobs, database: Database) -> None:
    bloom = {"parquet.bloom.filter.enabled__u": "true", "parquet.bloom.filter.expected.ndv__u": ROWS}
    _write(spark, database.location("t"), "parquet", **bloom)
    path = _compacted(spark, jobs, database, "parquet")
    assert _blooms(spark, path) == {"u"}


def _blooms(spark: SparkSession, path: Path) -> frozenset[str]:
    from spark_jobs.adapters.spark.formats.parquet import ParquetFormat

    ((footer,),) = ParquetFormat(spark, NameNodeCalls()).read([listed(path.parent)])
    return footer.blooms


def test_stripes_are_as_the_table_declares(spark: SparkSession, jobs: Jobs, database: Database) -> None:
    _write(spark, database.location("t"), "orc")
    declared = "TBLPROPERTIES ('orc.stripe.size'='65536', 'orc.bloom.filter.columns'='u')"
    assert pyarrow.orc.ORCFile(_compacted(spark, jobs, database, "orc", declared)).nstripes > 1


@pytest.mark.parametrize(
    ("footers", "properties", "expected"),
    [
        ([Footer("a", 8, {}, {}, {}, row_group=9 << 20)], {}, {"parquet.block.size": str(9 << 20)}),
        # So small, it is no more than how small files were joined.
        ([Footer("a", 8, {}, {}, {}, row_group=64)], {}, {}),
        (
            [Footer("a", 8, {}, {}, {}, row_group=9 << 20)],
            {"parquet.block.size": "65536"},
            {"parquet.block.size": "65536"},
        ),
        ([Footer("a", 8, {}, {}, {}, blooms=frozenset({"u"})), Footer("b", 1, {}, {}, {})], {}, {}),
        ([Footer("a", 8, {}, {}, {})], {"parquet.compression": "gzip", "owner": "etl"}, {}),
    ],
)
def test_what_files_show_gives_way_to_what_the_table_declares(
    footers: list[Footer], properties: dict[str, str], expected: dict[str, str]
) -> None:
    assert writer_options(profile(footers, None, "parquet"), "parquet", properties, 2) == expected
