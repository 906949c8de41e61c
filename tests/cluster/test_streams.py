"""Writers that keep a file open and flush it: what is there of it already is no whole file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.cluster.superuser import Superuser
from tests.spark.toolbox import Jobs, many, only, outcomes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


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
