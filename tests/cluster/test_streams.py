"""Writers that keep a file open and flush it: its visible part is not a complete file."""

from __future__ import annotations

import uuid
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from spark_jobs.adapters.hadoop.file_system import HadoopFileSystem
from tests.cluster.superuser import Superuser
from tests.cluster.tables import FILES, ROWS, SmallFiles
from tests.spark.toolbox import Jobs, many, only, outcomes, rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Lines:
    """A table of lines in four files, and somebody who opens one of its files again."""

    def __init__(self, spark: SparkSession, superuser: Superuser, root: str) -> None:
        many(spark, root, "SELECT CAST(id AS STRING) AS line FROM range(20)", 4, "text")
        self.root, self.name = root, f"default.s_{uuid.uuid4().hex[:10]}"
        self._spark, self._superuser = spark, superuser
        spark.sql(f"CREATE EXTERNAL TABLE {self.name} (line STRING) STORED AS TEXTFILE LOCATION '{root}'")

    def append(self) -> Any:
        """Nothing is written yet: the file looks as it did."""
        return self._superuser.fs.append(self._superuser.path(self._superuser.files(self.root)[0]))

    def rows(self) -> Counter[str]:
        return rows(self._spark, self.name)


@pytest.fixture
def lines(spark: SparkSession, superuser: Superuser, folder: str) -> Lines:
    return Lines(spark, superuser, f"{folder}/lines")


def test_lines_of_a_file_that_is_still_written_are_left_to_its_writer(
    spark: SparkSession, jobs: Jobs, superuser: Superuser, folder: str
) -> None:
    """Lines have no footer, by which a reader could tell that more will come."""
    root, table = f"{folder}/lines", f"default.s_{folder.rsplit('/', 1)[1]}"
    many(spark, root, "SELECT CAST(id AS STRING) AS line FROM range(20)", 4, "text")
    spark.sql(f"CREATE EXTERNAL TABLE {table} (line STRING) STORED AS TEXTFILE LOCATION '{root}'")
    stream = superuser.fs.create(superuser.path(f"{root}/stream"), True)
    stream.write(bytearray(b"first\n"))
    stream.hflush()
    (unit,) = only(jobs("compact", "--table", table))["units"]
    assert (unit["outcome"], unit["code"]) == ("changed", "ACTIVE_WRITER")
    stream.write(bytearray(b"second\n"))
    stream.close()
    assert outcomes(jobs("compact", "--table", table)) == ["compacted"]
    lines = sorted(row.line for row in spark.table(table).collect())
    assert lines == sorted([*(str(number) for number in range(20)), "first", "second"])


def test_a_file_of_which_a_part_is_there_is_being_written_and_not_broken(
    spark: SparkSession, jobs: Jobs, superuser: Superuser, folder: str
) -> None:
    """What HDFS was told of its length, or its first block, shows in a listing; its footer is still to come."""
    table = SmallFiles(spark, superuser, f"{folder}/flat", flat=True)
    content = superuser.read(table.files()[0])
    stream = superuser.fs.create(superuser.path(f"{table.root}/part-half.parquet"), True)
    stream.write(content[: len(content) // 2])
    flags = spark._jvm.org.apache.hadoop.hdfs.client.HdfsDataOutputStream.SyncFlag
    stream.hsync(spark._jvm.java.util.EnumSet.of(flags.UPDATE_LENGTH))
    (unit,) = only(jobs("compact", "--table", table.name))["units"]
    assert (unit["outcome"], unit["code"]) == ("changed", "ACTIVE_WRITER")
    assert "part-half.parquet is being written" in unit["reason"]
    stream.write(content[len(content) // 2 :])
    stream.close()
    assert outcomes(jobs("compact", "--table", table.name)) == ["compacted"]
    assert table.rows().total() == ROWS + ROWS // FILES


def _goes_on(stream: Any) -> None:
    """What a flush has said yes to is as good as written."""
    stream.write(bytearray(b"late\n"))
    stream.hflush()
    stream.close()


def test_a_file_that_is_opened_again_as_the_originals_leave_goes_back_to_its_writer(
    jobs: Jobs, lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    streams, rename = [], HadoopFileSystem.rename

    def renamed(self: HadoopFileSystem, source: str, target: str) -> None:
        if source == lines.root and not streams:
            streams.append(lines.append())
        rename(self, source, target)

    monkeypatch.setattr(HadoopFileSystem, "rename", renamed)
    assert outcomes(jobs("compact", "--table", lines.name)) == ["changed"]
    _goes_on(streams[0])
    assert lines.rows()["Row(line='late')"] == 1
    assert outcomes(jobs("compact", "--table", lines.name)) == ["compacted"]
    assert (lines.rows().total(), lines.rows()["Row(line='late')"]) == (21, 1)


@pytest.mark.parametrize("moment", ["before the rollback", "as the rewritten files leave"])
def test_a_rewritten_file_that_was_opened_again_is_not_taken_from_its_writer_by_a_rollback(
    jobs: Jobs, lines: Lines, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    jobs("compact", "--table", lines.name)
    streams, rename = [], HadoopFileSystem.rename
    if moment == "before the rollback":
        streams.append(lines.append())

    def renamed(self: HadoopFileSystem, source: str, target: str) -> None:
        if source == lines.root and not streams:
            streams.append(lines.append())
        rename(self, source, target)

    monkeypatch.setattr(HadoopFileSystem, "rename", renamed)
    report = jobs("rollback", "--table", lines.name)
    assert (report["exit_code"], outcomes(report)) == (1, ["failed"])
    _goes_on(streams[0])
    assert (lines.rows().total(), lines.rows()["Row(line='late')"]) == (21, 1)
