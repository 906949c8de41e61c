"""The authority of all locations changes: a nameservice gets another name, or a NameNode gets a standby."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.cluster.superuser import Superuser
from tests.cluster.test_metastore import files
from tests.spark.toolbox import Jobs, many, only, outcomes, rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def _rename_authority(spark: SparkSession, table: str, folder: str) -> str:
    """What `hive --service metatool -updateLocation` does. The same NameNode answers to both names."""
    renamed = folder.replace("hdfs://localhost:", "hdfs://127.0.0.1:")
    assert renamed != folder
    spark.sql(f"ALTER TABLE {table} SET LOCATION '{renamed}/pair'")
    for key in "ab":
        spark.sql(f"ALTER TABLE {table} PARTITION (p='{key}') SET LOCATION '{renamed}/pair/p={key}'")
    return renamed


def test_runs_from_before_can_be_rolled_back_and_cleaned_up(
    spark: SparkSession, jobs: Jobs, superuser: Superuser, folder: str, pair: str
) -> None:
    name, before, content = f"default.{pair}", files(superuser, folder), rows(spark, pair)
    assert outcomes(jobs("compact", "--table", name, "--run-id", "r1")) == ["compacted"] * 2
    renamed = _rename_authority(spark, pair, folder)
    checked = only(jobs("check", "--table", name))
    assert (checked["outcome"], checked["findings"]) == ("done", [])
    assert outcomes(jobs("rollback", "--table", name)) == ["restored"] * 2
    assert files(superuser, folder) == before
    assert rows(spark, pair) == content
    report = only(jobs("compact", "--table", name, "--run-id", "r2"))
    assert report["backup_table"] is not None
    for key in "ab":
        many(spark, f"{renamed}/pair/p={key}", "SELECT id + 100 AS id FROM range(4)", 1)
    cleanup = jobs("cleanup", "--table", name, "--older-than", "0s", "--skip-trash")
    assert (outcomes(cleanup), cleanup["exit_code"]) == (["cleaned"] * 2, 0)
    assert [path for path in superuser.tree(folder) if "/__originals_" in path] == []
