"""The test files of Apache Parquet, by many writers: compacted without a false alarm, or left as they are."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet
import pytest

from tests.fidelity import reading
from tests.harness.fixtures import Database, fresh_database
from tests.spark.toolbox import Jobs, by_arrow, only

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Two copies of each file, as one unit.
COPIES = 2
FILES = sorted((Path(__file__).parent / "parquet_testing").glob("*.parquet"))
#: Why a unit is not compacted, by the name of its file: a code, or words of the reason of UNREADABLE.
REFUSED = {
    "alltypes_dictionary": "UNKNOWN_INT96_WRITER",
    "alltypes_plain": "UNKNOWN_INT96_WRITER",
    "alltypes_plain.snappy": "UNKNOWN_INT96_WRITER",
}
WRONG_CHECKSUMS = ("datapage_v1-corrupt-checksum", "rle-dict-uncompressed-corrupt-checksum")
UNREADABLE = {
    **dict.fromkeys(WRONG_CHECKSUMS, "CRC checksum verification failed"),
    "nation.dict-malformed": "Reached the end of stream with 7 bytes left to read",
    "non_hadoop_lz4_compressed": "ArrayIndexOutOfBoundsException",
}
#: Before Spark 4: other words of the same file, and an encoding that it does not read.
UNREADABLE_BEFORE = {"nation.dict-malformed": "EOFException", "byte_stream_split.zstd": "BYTE_STREAM_SPLIT"}
#: Types that no Spark knows, or whose parameters no writer of Spark's keeps.
UNKNOWN_TYPES = ("crs-arbitrary-value", "unknown-logical-type")
#: Types that were added to Parquet after the release that Spark 3.5 has.
NEW_TYPES = (
    "byte_stream_split_extended.gzip",
    "crs-",
    "float16_",
    "floating_orders_nan_count",
    "geography-",
    "geospatial",
    "shredded_variant",
)


#: What Arrow reads, and Spark does not: an encoding that Spark 3.5 does not know, a dictionary with bytes behind it.
READ_BY_ARROW = ("byte_stream_split.zstd", "nation.dict-malformed")


def _expected(name: str, spark_version: str) -> tuple[str, str | None, str]:
    """Outcome, code, and words of the reason."""
    old = spark_version < "4"
    if by_arrow() and name in READ_BY_ARROW:
        return "compacted", None, ""
    unreadable = {**UNREADABLE, **(UNREADABLE_BEFORE if old else {})}
    if name in unreadable:
        return "skipped", "UNREADABLE", unreadable[name]
    if name in REFUSED:
        return "skipped", REFUSED[name], ""
    if name.startswith((*UNKNOWN_TYPES, *(NEW_TYPES if old else ()))):
        return "skipped", "TYPE", ""
    return "compacted", None, ""


def _by_version(file: Path) -> bool:
    return file.stem.startswith((*UNREADABLE_BEFORE, *UNKNOWN_TYPES, *NEW_TYPES))


@pytest.fixture(scope="module")
def units(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[dict[str, tuple[dict[str, Any], Path]]]:
    """What became of each unit that is asked for, and its directory, by the name of the file."""
    folder = tmp_path_factory.mktemp("public")
    items = [item for item in request.session.items if getattr(item, "callspec", None)]
    files = [item.callspec.params["file"] for item in items if "file" in item.callspec.params]
    with fresh_database(spark, folder) as database:
        found = {unit["unit"]["file"]: unit for unit in _compact(spark, folder, database, files)}
        yield {name: (unit, _directory(database, name)) for name, unit in found.items()}


def _compact(spark: SparkSession, folder: Path, database: Database, files: Sequence[Path]) -> Any:
    """The units of a compaction. The metastore's columns do not matter: what is kept is what the files hold."""
    for file in files:
        directory = _directory(database, file.stem)
        directory.mkdir(parents=True)
        for copy in range(COPIES):
            shutil.copy(file, directory / f"{copy}.parquet")
    spark.sql(
        f"CREATE EXTERNAL TABLE {database}.t (v STRING) PARTITIONED BY (file STRING) STORED AS PARQUET"
        f" LOCATION '{database.location('t')}'"
    )
    spark.sql(f"MSCK REPAIR TABLE {database}.t")
    return only(Jobs(spark, folder)("compact", "--table", f"{database}.t"))["units"]


def _directory(database: Database, name: str) -> Path:
    return database.path / f"t/file={name}"


def _rows(spark: SparkSession, *folders: Sequence[Path]) -> list[Counter[str]]:
    """The rows of some lists of files by pyarrow, or by Spark where pyarrow cannot read one of them."""
    try:
        return [Counter(repr(row) for file in files for row in reading.table(file)) for files in folders]
    except (pa.ArrowException, OverflowError):
        return [_rows_by_spark(spark, files) for files in folders]


def _rows_by_spark(spark: SparkSession, files: Sequence[Path]) -> Counter[str]:
    found = spark.read.parquet(*(f"file:{file}" for file in files))
    return Counter(row[0] for row in found.selectExpr("CAST(struct(*) AS STRING)").collect())


PARAMETERS = [
    pytest.param(file, id=file.stem, marks=() if _by_version(file) else (pytest.mark.one_version,))
    for file in FILES
]


@pytest.mark.parametrize("file", PARAMETERS)
def test_every_row_is_kept(
    spark: SparkSession, units: dict[str, tuple[dict[str, Any], Path]], file: Path
) -> None:
    unit, directory = units[file.stem]
    outcome, code, words = _expected(file.stem, spark.version)
    assert (unit["outcome"], unit["code"]) == (outcome, code), unit
    assert words in (unit["reason"] or "")
    assert code != "UNREADABLE" or ".parquet cannot be read: " in unit["reason"]
    kept = reading.data(directory)
    assert len(kept) == (1 if outcome == "compacted" else COPIES)
    before, after = _rows(spark, [file], kept)
    assert after == Counter({row: count * COPIES for row, count in before.items()})


@pytest.mark.one_version
def test_a_page_with_a_wrong_checksum_keeps_the_unit_as_it_is(
    spark: SparkSession, tmp_path: Path, database: Database
) -> None:
    """Its bytes are not those that were written; a rewrite would give them a right checksum."""
    files = [file for file in FILES if file.stem in WRONG_CHECKSUMS]
    files.append(_damaged_times(tmp_path / "copied.parquet"))
    units = _compact(spark, tmp_path, database, files)
    assert [unit["code"] for unit in units] == ["UNREADABLE"] * len(files), units
    assert all("CRC checksum verification failed" in unit["reason"] for unit in units)
    kept = [(_directory(database, file.stem) / "1.parquet").read_bytes() for file in files]
    assert kept == [file.read_bytes() for file in files]


def _damaged_times(file: Path) -> Path:
    """A file that is copied record by record, because Spark has no type for it, with another last value."""
    times = pa.table({"v": pa.array(range(9), pa.time64("us"))})
    pyarrow.parquet.write_table(
        times, file, compression="none", use_dictionary=False, write_page_checksum=True
    )
    chunk = pyarrow.parquet.ParquetFile(file).metadata.row_group(0).column(0)
    content = bytearray(file.read_bytes())
    content[chunk.data_page_offset + chunk.total_compressed_size - 8] ^= 1
    file.write_bytes(content)
    return file
