"""A minor compaction on HDFS: large files are copied byte by byte with all that HDFS knows of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.cluster.superuser import Superuser
from tests.spark.toolbox import Jobs, many, only

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MINOR = ("--strategy", "minor", "--target-file-size", "4mb")
LARGE, SMALL = 2, 6
FILE_ACL = "user::rw-,user:impala:r--,group::r--,mask::r--,other::---"


def test_large_files_keep_bytes_and_attributes_and_a_rollback_gives_back_the_same_files(
    spark: SparkSession, superuser: Superuser, jobs: Jobs, folder: str
) -> None:
    table, unit = f"default.t_{folder.rsplit('/', 1)[1]}", f"{folder}/events/p=1"
    many(spark, unit, "SELECT id, uuid() AS text FROM range(400000)", LARGE)
    large = sorted(superuser.files(unit))
    many(spark, unit, "SELECT id, uuid() AS text FROM range(600)", SMALL)
    for name in superuser.files(unit):
        superuser.chmod(name, "640")
        superuser.set_acl(name, FILE_ACL)
        superuser.fs.setReplication(superuser.path(name), 2)
        superuser.chown(name, "loader", "analysts")
        superuser.fs.setTimes(superuser.path(name), 1_600_000_000_000, -1)
    spark.sql(
        f"CREATE EXTERNAL TABLE {table} (id BIGINT, text STRING) PARTITIONED BY (p STRING) STORED AS PARQUET"
        f" LOCATION '{folder}/events'"
    )
    spark.sql(f"MSCK REPAIR TABLE {table}")
    tree, seen = superuser.tree(unit), {name: _seen(superuser, name) for name in large}

    (report,) = only(jobs("compact", "--table", table, *MINOR))["units"]
    assert (report["outcome"], report["strategy"]) == ("compacted", "minor")
    assert (report["files"], report["files_after"]) == (LARGE + SMALL, LARGE + 1)
    assert {name: _seen(superuser, name) for name in large} == seen
    assert spark.table(table).count() == 400_600

    (report,) = only(jobs("rollback", "--table", table))["units"]
    assert report["outcome"] == "restored"
    assert superuser.tree(unit) == tree


def _seen(superuser: Superuser, name: str) -> tuple[object, ...]:
    """What HDFS knows of a file: attributes, length, time, block size, and the checksum of its content."""
    path = superuser.path(name)
    status = superuser.fs.getFileStatus(path)
    return (
        superuser.look(name),
        status.getLen(),
        status.getModificationTime(),
        status.getBlockSize(),
        superuser.fs.getFileChecksum(path).toString(),
    )
