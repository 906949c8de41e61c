"""Units with a file that cannot be read: refused by a code, each night anew only while nobody has read them.

Two nights in a database with other tables. The analysis decides what the beginning or the end of a file shows. What
only reading finds, the compaction decides once: until the files of the unit change, no analysis flags it again.
"""

from __future__ import annotations

import gzip
import os
import random
import struct
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.harness.fixtures import Database
from tests.spark.toolbox import Jobs, data_files, many

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Files of other writers, and directories, are no longer new.
AGED = time.time() - 3 * 86_400
FILES = 4
_INSERTED = {"AVRO": "id BIGINT, v STRING", "SEQUENCEFILE": "id BIGINT, v STRING"}


def _cut(content: bytes) -> bytes:
    return content[: len(content) * 2 // 3]


def _pages(content: bytes) -> bytes:
    """Most of the values are gone; beginning and end are whole."""
    end = len(content) * 3 // 4
    return content[:4] + b"\xff" * (end - 4) + content[end:]


def _doubled(content: bytes) -> bytes:
    """The second header is in the place of a block."""
    return content + content


def _beginning(content: bytes) -> bytes:
    return b"\xee" * 40 + content[40:]


def _record_length(content: bytes) -> bytes:
    """The second record of a sequence file says that it has 2 GB."""
    value = b"org.apache.hadoop.io.Text"
    first = content.index(value) + len(value) + 2 + 4 + 16  # two flags, no metadata, a sync marker
    (length,) = struct.unpack(">i", content[first : first + 4])
    second = first + 8 + length
    return content[:second] + struct.pack(">ii", 2**31 - 1, 2**31 - 11) + content[second + 8 :]


def _block_length(content: bytes) -> bytes:
    """The first block of an Avro file says that it has 2 GB."""
    at = content.index(content[-16:]) + 16
    for _ in range(2):
        begin = at
        while content[at] & 0x80:
            at += 1
        at += 1
    return content[:begin] + bytes([0xF0, 0xFF, 0xFF, 0xFF, 0x0F]) + content[at:]


def _readme(_: bytes) -> bytes:
    return b"These files are those of the shop.\n" * 9


#: By format, what becomes of one file, and whether the analysis sees it.
DAMAGE: list[tuple[str, Callable[[bytes], bytes], bool]] = [
    ("PARQUET", _cut, True),
    ("PARQUET", _readme, True),
    ("PARQUET", _pages, False),
    ("ORC", _cut, True),
    ("ORC", _readme, True),
    ("ORC", _pages, False),
    ("AVRO", _cut, True),
    ("AVRO", _beginning, True),
    ("AVRO", _doubled, False),
    ("AVRO", _block_length, False),
    ("SEQUENCEFILE", _beginning, True),
    ("SEQUENCEFILE", _cut, False),
    ("SEQUENCEFILE", _record_length, False),
    ("TEXTFILE", _beginning, True),
    ("TEXTFILE", _cut, False),
]
#: One of each format, seen by the analysis or only by reading.
_OFTEN = (
    "parquet_cut",
    "parquet_pages",
    "orc_pages",
    "avro_doubled",
    "sequencefile_record_length",
    "textfile_cut",
)


def _fill(spark: SparkSession, folder: Path, stored: str, table: str) -> None:
    """Four small files in a directory: of text, packed by gzip."""
    folder.mkdir(parents=True, exist_ok=True)
    if stored == "TEXTFILE":
        for number in range(FILES):
            lines = "".join(f"{number}{n}\x01{random.Random(n).randbytes(40).hex()}\n" for n in range(60))
            (folder / f"{number}.gz").write_bytes(gzip.compress(lines.encode()))
    elif stored in _INSERTED:
        spark.sql(
            f"CREATE EXTERNAL TABLE {table} ({_INSERTED[stored]}) STORED AS {stored} LOCATION 'file:{folder}'"
        )
        for _ in range(FILES):
            spark.sql(f"INSERT INTO {table} SELECT /*+ COALESCE(1) */ id, uuid() FROM range(200)")
        spark.sql(f"DROP TABLE {table}")
    else:
        many(spark, f"file:{folder}", "SELECT id, uuid() AS v FROM range(800)", FILES, stored.lower())


def age(*folders: Path) -> None:
    """Nobody has written there for days."""
    for folder in folders:
        for path in [*folder.iterdir(), folder]:
            os.utime(path, (AGED, AGED))


def damage(folder: Path, change: Callable[[bytes], bytes]) -> Path:
    """Damage the last file of a directory, as HDFS would have it: its checksums are those of its bytes."""
    file = folder / max(data_files(folder))
    file.write_bytes(change(file.read_bytes()))
    for checksums in folder.glob(".*.crc"):
        checksums.unlink()
    return file


def partitioned(spark: SparkSession, table: str, stored: str, root: Path, *keys: str) -> None:
    for key in keys:
        _fill(spark, root / f"p={key}", stored, f"{table}_{key}")
    spark.sql(
        f"CREATE EXTERNAL TABLE {table} (id BIGINT, v STRING) PARTITIONED BY (p STRING) STORED AS {stored}"
        f" LOCATION 'file:{root}'"
    )
    spark.sql(f"MSCK REPAIR TABLE {table}")


def flat(spark: SparkSession, table: str, stored: str, folder: Path) -> None:
    _fill(spark, folder, stored, f"{table}_files")
    spark.sql(
        f"CREATE EXTERNAL TABLE {table} (id BIGINT, v STRING) STORED AS {stored} LOCATION 'file:{folder}'"
    )


def found(report: dict[str, Any]) -> dict[str, tuple[str, str | None]]:
    """Outcome and code of each unit by its directory; of a table that is refused as a whole, its own."""
    units: dict[str, tuple[str, str | None]] = {}
    for table in report["tables"]:
        name = table["table"].rpartition(".")[2]
        if table["outcome"] == "refused":
            units[name] = ("refused", table["code"])
        for unit in table["units"]:
            units["/".join([name, *unit["unit"].values()])] = (unit["outcome"], unit["code"])
    return units


def reasons(report: dict[str, Any], code: str) -> list[str]:
    parts = [part for table in report["tables"] for part in [table, *table["units"]]]
    return [part["reason"] for part in parts if part["code"] == code]


class Nights:
    """The nightly jobs of a database: an analysis, and a compaction of what it has flagged."""

    def __init__(self, jobs: Jobs, database: Database, *argv: str) -> None:
        self._jobs = jobs
        self._argv = ["--database", str(database), "--min-input-files", "2", *argv]

    def analyze(self) -> dict[str, Any]:
        report = self._jobs("analyze", *self._argv)
        assert report["exit_code"] == 0, report
        return report

    def compact(self, analysis: dict[str, Any]) -> dict[str, Any]:
        units = {
            table["table"]: flagged
            for table in analysis["tables"]
            if (flagged := [unit["unit"] for unit in table["units"] if unit["outcome"] == "flagged"])
        }
        report = self._jobs("compact", *self._argv, request={"units": units})
        assert report["exit_code"] == 0, report
        return report


@pytest.mark.one_version
@pytest.mark.parametrize(
    ("stored", "change", "foreseen"),
    [
        pytest.param(*case, id=name, marks=() if name in _OFTEN else pytest.mark.full)
        for case in DAMAGE
        for name in [f"{case[0].lower()}{case[1].__name__}"]
    ],
)
def test_two_nights(
    spark: SparkSession,
    jobs: Jobs,
    database: Database,
    stored: str,
    change: Callable[[bytes], bytes],
    foreseen: bool,
) -> None:
    root, alone = database.path / "parts", database.path / "alone"
    partitioned(spark, f"{database}.parts", stored, root, "bad", "good")
    flat(spark, f"{database}.alone", stored, alone)
    flat(spark, f"{database}.healthy", "PARQUET", database.path / "healthy")
    damaged = [damage(root / "p=bad", change), damage(alone, change)]
    age(root / "p=bad", root / "p=good", alone)
    before = [data_files(file.parent) for file in damaged]
    nights = Nights(jobs, database)

    first = nights.analyze()
    assert found(first)["parts/bad"] == (("skipped", "UNREADABLE") if foreseen else ("flagged", None))
    night = nights.compact(first)
    units = {**found(first), **found(night)}
    assert units["parts/bad"] == ("skipped", "UNREADABLE"), reasons(night, "UNREADABLE")
    assert units["alone"] == ("skipped", "UNREADABLE")
    assert (units["parts/good"][0], units["healthy"][0]) == ("compacted", "compacted")
    for text in reasons(first if foreseen else night, "UNREADABLE"):
        assert damaged[0].name in text or damaged[1].name in text
        assert "hdfs dfs -mv" in text
    assert [data_files(file.parent) for file in damaged] == before

    second = nights.analyze()
    assert found(second)["parts/bad"] == ("skipped", "UNREADABLE")
    assert found(second)["alone"] == ("skipped", "UNREADABLE")
    assert not [unit for unit, (outcome, _) in found(second).items() if outcome == "flagged"]

    for file in damaged:
        file.rename(file.with_name(f"_{file.name}"))
    third = nights.analyze()
    assert found(third)["parts/bad"] == found(third)["alone"] == ("flagged", None)
    last = found(nights.compact(third))
    assert last["parts/bad"] == last["alone"] == ("compacted", None)
    assert [len(data_files(file.parent)) for file in damaged] == [1, 1]


@pytest.mark.one_version
def test_two_nights_of_dates_of_two_calendars(spark: SparkSession, jobs: Jobs, database: Database) -> None:
    """Only the dates themselves tell whether the calendars matter."""
    root = database.path / "parts"
    for key, day in (("bad", "1500-01-01"), ("good", "2020-01-01")):
        for calendar in ("LEGACY", "CORRECTED"):
            spark.conf.set("spark.sql.parquet.datetimeRebaseModeInWrite", calendar)
            try:
                many(spark, f"file:{root}/p={key}", f"SELECT id, DATE'{day}' AS d FROM range(40)", 2)
            finally:
                spark.conf.unset("spark.sql.parquet.datetimeRebaseModeInWrite")
    spark.sql(
        f"CREATE EXTERNAL TABLE {database}.parts (id BIGINT, d DATE) PARTITIONED BY (p STRING) STORED AS PARQUET"
        f" LOCATION 'file:{root}'"
    )
    spark.sql(f"MSCK REPAIR TABLE {database}.parts")
    age(root / "p=bad", root / "p=good")
    nights = Nights(jobs, database)
    night = found(nights.compact(nights.analyze()))
    assert night == {"parts/bad": ("skipped", "CALENDAR"), "parts/good": ("compacted", None)}
    assert found(nights.analyze())["parts/bad"] == ("skipped", "CALENDAR")


@pytest.mark.one_version
@pytest.mark.parametrize("stored", ["PARQUET", "ORC"])
def test_two_nights_of_nans_that_the_writer_would_change(
    spark: SparkSession, jobs: Jobs, database: Database, stored: str
) -> None:
    import pyarrow as pa
    import pyarrow.orc
    import pyarrow.parquet

    folder, table = database.path / "t", f"{database}.t"
    folder.mkdir(parents=True)
    for number in range(FILES):
        bits = pa.py_buffer(struct.pack("<Q", 0x7FF00000000007A2))  # a missing value in R
        values = pa.table(
            {"v": pa.ListArray.from_arrays([0, 1], pa.Array.from_buffers(pa.float64(), 1, [None, bits]))}
        )
        write = pyarrow.parquet.write_table if stored == "PARQUET" else pyarrow.orc.write_table
        write(values, folder / f"{number}.{stored.lower()}")
    spark.sql(
        f"CREATE EXTERNAL TABLE {table} (v ARRAY<DOUBLE>) STORED AS {stored} LOCATION 'file:{folder}'"
        " TBLPROPERTIES ('lakekeeper.verify'='hash')"
    )
    age(folder)
    nights = Nights(jobs, database)
    night = found(nights.compact(nights.analyze()))
    assert night == {"t": ("skipped", "NAN")}
    assert found(nights.analyze()) == {"t": ("skipped", "NAN")}
    spark.sql(f"ALTER TABLE {table} UNSET TBLPROPERTIES ('lakekeeper.verify')")
    analysis = nights.analyze()
    assert found(analysis) == {"t": ("flagged", None)}
    assert found(nights.compact(analysis)) == {"t": ("compacted", None)}


@pytest.mark.one_version
def test_two_nights_of_a_partition_that_is_a_symbolic_link(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    """A relative one: renamed, it would lead nowhere, and the unit would be `quarantined`."""
    root = database.path / "parts"
    partitioned(spark, f"{database}.parts", "PARQUET", root, "linked", "good")
    (root / "p=linked").rename(database.path / "elsewhere")
    (root / "p=linked").symlink_to("../elsewhere")
    flat(spark, f"{database}.healthy", "PARQUET", database.path / "healthy")
    before, nights = data_files(database.path / "elsewhere"), Nights(jobs, database)
    first = nights.analyze()
    assert found(first)["parts/linked"] == ("skipped", "SYMLINK")
    # A compaction that nobody has told which units are due.
    night = jobs("compact", "--database", str(database), "--min-input-files", "2")
    units = {"parts/linked": ("skipped", "SYMLINK"), "parts/good": ("compacted", None)}
    assert (found(night), night["exit_code"]) == ({**units, "healthy": ("compacted", None)}, 0)
    assert "p=linked is a symbolic link" in reasons(night, "SYMLINK")[0]
    assert found(nights.analyze())["parts/linked"] == ("skipped", "SYMLINK")
    assert (data_files(root / "p=linked"), (root / "p=linked").is_symlink()) == (before, True)


@pytest.mark.one_version
@pytest.mark.parametrize("table", ["parts", "alone"])
def test_two_nights_of_a_file_in_the_place_of_the_home(
    spark: SparkSession, jobs: Jobs, database: Database, table: str
) -> None:
    root = database.path / "parts"
    partitioned(spark, f"{database}.parts", "PARQUET", root, "good")
    flat(spark, f"{database}.alone", "PARQUET", database.path / "alone")
    file = root / ".lakekeeper" if table == "parts" else database.path / ".lakekeeper-alone"
    file.write_text("notes")
    nights = Nights(jobs, database)
    for _ in range(2):
        analysis = nights.analyze()
        assert found(analysis)[table] == ("refused", "NOT_WRITABLE")
        assert f"hdfs dfs -mv 'file:{file}'" in reasons(analysis, "NOT_WRITABLE")[0]
        night = jobs("compact", "--database", str(database), "--min-input-files", "2")
        assert (found(night)[table], night["exit_code"]) == (("refused", "NOT_WRITABLE"), 0)
    file.unlink()
    assert ("flagged", None) in found(nights.analyze()).values()
