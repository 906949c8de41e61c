"""What other writers add while directories are exchanged, and between a compaction and its rollback."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from spark_jobs.protocol.swap.forward import ForwardSwap
from tests.harness.fixtures import Database
from tests.spark.toolbox import Jobs, ids, local, many, outcomes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: What happens after an accident is decided by the driver, from the journal and the directories.
pytestmark = pytest.mark.one_version


@pytest.mark.parametrize(("replaced", "outcome"), [(False, "compacted"), (True, "changed")])
def test_rows_added_in_the_middle_of_a_swap_are_kept(
    spark: SparkSession,
    jobs: Jobs,
    database: Database,
    flat: str,
    monkeypatch: pytest.MonkeyPatch,
    replaced: bool,
    outcome: str,
) -> None:
    """A slow writer closes a file in the originals while another appends to the directory that replaced them; a third
    may even have replaced one of the originals, and then the swap is undone."""
    sweep = ForwardSwap._finish_swapped

    def sweeping(self: ForwardSwap, places: Any, problem: Any) -> Any:
        monkeypatch.undo()
        original = next(local(places.old).glob("part-*"))
        many(spark, places.old, "SELECT 777L AS id", 1)
        many(spark, places.live, "SELECT 888L AS id", 1)
        if replaced:
            os.utime(original, (1, 1))
        return sweep(self, places, problem)

    monkeypatch.setattr(ForwardSwap, "_finish_swapped", sweeping)
    report = jobs("compact", "--table", flat)
    assert outcomes(report) == [outcome]
    assert sorted(row.id for row in spark.table(flat).collect()) == [*range(60), 777, 888]


def test_hidden_files_stay_hidden_when_they_are_carried(
    spark: SparkSession, jobs: Jobs, database: Database, flat: str
) -> None:
    jobs("compact", "--table", flat)
    (database.path / "flat" / ".part.inprogress").write_bytes(b"not parquet yet")
    assert outcomes(jobs("rollback", "--table", flat)) == ["restored"]
    assert ids(spark, flat) == set(range(60))
    assert (database.path / "flat" / ".part.inprogress").read_bytes() == b"not parquet yet"


def test_a_success_marker_that_was_renewed_does_not_stop_a_rollback(
    spark: SparkSession, jobs: Jobs, database: Database
) -> None:
    location = database.location("marked")
    spark.range(60).repartition(6).write.parquet(location)
    table = f"{database}.marked"
    spark.sql(f"CREATE EXTERNAL TABLE {table} (id BIGINT) STORED AS PARQUET LOCATION '{location}'")
    jobs("compact", "--table", table)
    marker = database.path / "marked" / "_SUCCESS"
    before = marker.stat().st_mtime_ns
    spark.range(100, 105).write.mode("append").parquet(location)
    # A later second on every clock, however soon the second writer came.
    os.utime(marker, ns=(before + 10**9, before + 10**9))
    assert outcomes(jobs("rollback", "--table", table)) == ["restored"]
    assert ids(spark, table) == {*range(60), *range(100, 105)}
    assert not list(database.path.rglob("__aside_*"))
