"""`check` on real tables: what is sound is silent, and what a disk or a person has changed is found."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.harness.fixtures import Database
from tests.spark.toolbox import Jobs, local, many

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: What Spark reads of the formats is the fidelity suite's question.
pytestmark = pytest.mark.one_version


@pytest.fixture
def file_format() -> str:
    return "parquet"


def findings(report: dict[str, Any]) -> list[dict[str, Any]]:
    return [finding for table in report["tables"] for finding in table.get("findings", ())]


def codes(report: dict[str, Any]) -> list[str]:
    return [finding["code"] for finding in findings(report)]


def _live(database: Database) -> Path:
    return database.path / "flat"


def _originals(database: Database) -> Path:
    home = database.path / ".lakekeeper-flat"
    return next(path for path in home.glob("*/__originals_*/flat") if path.is_dir())


def _data(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if not path.name.startswith((".", "_")))


def _replace(path: Path, content: bytes) -> None:
    """Other content under the same name, size and time; the checksum beside it goes, as on a disk without one."""
    stat = path.stat()
    assert len(content) == stat.st_size
    path.write_bytes(content)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    path.with_name(f".{path.name}.crc").unlink(missing_ok=True)


@pytest.fixture
def compacted(jobs: Jobs, flat: str) -> str:
    assert jobs("compact", "--table", flat, "--run-id", "r1")["exit_code"] == 0
    return flat


def test_what_is_sound_is_silent_and_is_not_changed(
    spark: SparkSession, jobs: Jobs, database: Database, compacted: str
) -> None:
    before = sorted((path, path.stat().st_mtime_ns) for path in database.path.rglob("*"))
    report = jobs("check", "--table", compacted, "--read-data")
    assert (codes(report), report["outcome"], report["exit_code"]) == ([], "done", 0)
    assert sorted((path, path.stat().st_mtime_ns) for path in database.path.rglob("*")) == before
    many(spark, database.location("flat"), "SELECT id, 'new' AS v FROM range(7)", 2)
    assert codes(jobs("check", "--table", compacted)) == []
    assert jobs("rollback", "--table", compacted)["exit_code"] == 0
    assert codes(jobs("check", "--table", compacted)) == []


def test_after_the_steps_of_leaving_nothing_of_ours_is_left(
    spark: SparkSession,
    jobs: Jobs,
    database: Database,
    events: str,
    compacted: str,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """docs/guides/leaving.md: one table keeps the compacted files, the other one gets its originals back."""
    spark.sql(f"ALTER TABLE {events} SET TBLPROPERTIES ('lakekeeper.enabled'='true')")
    assert jobs("compact", "--table", events)["exit_code"] == 0
    assert jobs("rollback", "--table", events)["exit_code"] == 0
    assert jobs("cleanup", "--table", events, "--older-than", "0s", "--skip-trash")["exit_code"] == 0
    assert jobs("cleanup", "--table", compacted, "--older-than", "0s", "--skip-trash")["exit_code"] == 0
    checked = {
        table["table"]: table["left"] for table in jobs("check", "--database", str(database))["tables"]
    }
    assert "lakekeeper.enabled" in checked[events]
    for left in (name for names in checked.values() for name in names if name.startswith("file:")):
        shutil.rmtree(local(left))
    spark.sql(f"ALTER TABLE {events} UNSET TBLPROPERTIES ('lakekeeper.enabled')")
    capfd.readouterr()
    assert jobs("check", "--database", str(database))["exit_code"] == 0
    assert "nothing of ours is left" in capfd.readouterr().out


def test_partitions_are_checked_too(jobs: Jobs, database: Database, events: str) -> None:
    assert jobs("compact", "--table", events)["exit_code"] == 0
    assert codes(jobs("check", "--database", str(database), "--read-data")) == []
    shutil.rmtree(database.path / "events" / "date=2026-02-23" / "ref=A")
    (finding,) = findings(jobs("check", "--table", events))
    assert finding["code"] == "LIVE_MISSING"
    assert finding["unit"] == {"date": "2026-02-23", "ref": "A"}


def test_a_deleted_original_is_found(jobs: Jobs, database: Database, compacted: str) -> None:
    _data(_originals(database))[0].unlink()
    report = jobs("check", "--table", compacted)
    (finding,) = findings(report)
    assert (finding["code"], report["exit_code"]) == ("ORIGINALS_CHANGED", 1)
    assert local(finding["path"]) == _originals(database)


def test_a_truncated_original_is_found(jobs: Jobs, database: Database, compacted: str) -> None:
    path = _data(_originals(database))[0]
    path.write_bytes(path.read_bytes()[:-8])
    assert codes(jobs("check", "--table", compacted)) == ["ORIGINALS_CHANGED"]


@pytest.mark.parametrize("file_format", ["parquet", "orc"])
@pytest.mark.parametrize("of", [_originals, _live])
def test_a_damaged_footer_is_found(jobs: Jobs, database: Database, compacted: str, of: Any) -> None:
    path = _data(of(database))[0]
    content = path.read_bytes()
    _replace(path, content[:-200] + b"\0" * 200)
    (finding,) = findings(jobs("check", "--table", compacted))
    assert finding["code"] == "FOOTER_UNREADABLE"
    assert local(finding["path"]) == path


def _uncompressed(spark: SparkSession, database: Database) -> str:
    """Partitions of which two have files of one size: neither compression nor the order of rows counts."""
    location = database.location("twins")
    for key in "ABCDE":
        frame = spark.sql(f"SELECT id, '{key}' AS v FROM range(100)").repartition(4)
        frame.write.option("compression", "uncompressed").parquet(f"{location}/k={key}")
    spark.sql(
        f"CREATE EXTERNAL TABLE {database}.twins (id BIGINT, v STRING) PARTITIONED BY (k STRING)"
        f" STORED AS PARQUET LOCATION '{location}'"
    )
    spark.sql(f"MSCK REPAIR TABLE {database}.twins")
    return f"{database}.twins"


def _of_one_size(files: list[Path]) -> tuple[Path, Path]:
    """The checksums of pages are one byte shorter now and then."""
    sizes = [path.stat().st_size for path in files]
    size = max(sizes, key=sizes.count)
    first, second, *_ = (path for path in files if path.stat().st_size == size)
    return first, second


def test_exchanged_rows_are_found_by_reading_them(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    """Another file of the same size and time, with the same columns and number of rows: that of a neighbour."""
    table = _uncompressed(spark, database)
    assert jobs("compact", "--table", table, "--run-id", "r1")["exit_code"] == 0
    files = [_data(database.path / "twins" / f"k={key}")[0] for key in "ABCDE"]
    mine, other = _of_one_size(files)
    _replace(mine, other.read_bytes())
    assert codes(jobs("check", "--table", table)) == []
    report = jobs("check", "--table", table, "--read-data")
    (finding,) = findings(report)
    assert (finding["code"], report["exit_code"]) == ("ROWS_DIFFER", 1)
    assert local(finding["path"]) == mine.parent
    assert finding["command"] == f"lakekeeper rollback --table {table} --run-id r1"


def test_rows_of_a_table_that_was_overwritten_are_not_compared(
    jobs: Jobs, spark: SparkSession, compacted: str
) -> None:
    """Spark deletes the files of a table without partitions, and keeps the directory."""
    spark.sql(f"ALTER TABLE {compacted} SET TBLPROPERTIES ('lakekeeper.writers'='overwrite')")
    spark.sql(f"INSERT OVERWRITE {compacted} SELECT id, 'new' FROM range(5)")
    report = jobs("check", "--table", compacted, "--read-data")
    assert (codes(report), report["exit_code"]) == (["ROWS_NOT_COMPARED"], 0)
