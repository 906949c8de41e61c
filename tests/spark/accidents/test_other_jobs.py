"""Two jobs at one table: one that was taken over, and one that is at work."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING, Any

import pytest

from spark_jobs.adapters.spark.rewriter import Rewriter
from spark_jobs.protocol.runs.lease import Lease
from tests.harness.fixtures import Database
from tests.spark.meanwhile import driven_clock
from tests.spark.toolbox import Jobs, ids, only, outcomes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: What happens after an accident is decided by the driver, from the journal and the directories.
pytestmark = pytest.mark.one_version


def test_a_zombie_that_was_fenced_changes_nothing_and_breaks_nothing(
    spark: SparkSession, jobs: Jobs, database: Database, flat: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first attempt stands still while it writes, without a heartbeat; the second takes its run over."""
    before = ids(spark, flat)
    write, reports = Rewriter.write, []

    def slow(self: Rewriter, plan: Any) -> Any:
        monkeypatch.setattr(Rewriter, "write", write)
        reports.append(jobs("compact", "--table", flat, "--run-id", "r1"))
        return write(self, plan)

    monkeypatch.setattr(Rewriter, "write", slow)
    monkeypatch.setattr(Lease, "renew", lambda _: None)
    driven_clock(monkeypatch)
    zombie = jobs("compact", "--table", flat, "--run-id", "r1")
    monkeypatch.undo()

    assert outcomes(reports[0]) == ["compacted"]
    assert zombie["exit_code"] != 0
    assert ids(spark, flat) == before
    assert outcomes(jobs("rollback", "--table", flat)) == ["restored"]
    assert ids(spark, flat) == before
    assert jobs("compact", "--table", flat, "--run-id", "r2")["exit_code"] == 0
    assert jobs("cleanup", "--table", flat, "--skip-trash")["exit_code"] == 0
    assert ids(spark, flat) == before


def test_a_table_that_another_job_works_on_is_busy(
    spark: SparkSession, jobs: Jobs, database: Database, flat: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, reports = Rewriter.write, []

    def slow(self: Rewriter, plan: Any) -> Any:
        monkeypatch.setattr(Rewriter, "write", write)
        reports.append(jobs("compact", "--table", flat, request={"arguments": {"lease_wait": "3s"}}))
        return write(self, plan)

    monkeypatch.setattr(Rewriter, "write", slow)
    driven_clock(monkeypatch)
    first = jobs("compact", "--table", flat)

    assert outcomes(first) == ["compacted"]
    busy = only(reports[0])
    assert (busy["outcome"], reports[0]["exit_code"]) == ("busy", 1)
    assert f"compact on {socket.gethostname()}, process {os.getpid()}" in busy["reason"]
    assert outcomes(jobs("rollback", "--table", flat)) == ["restored"]
