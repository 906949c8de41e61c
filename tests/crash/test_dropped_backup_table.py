"""A backup table that somebody has dropped: the journal has all that a rollback and a cleanup need."""

from __future__ import annotations

import pytest

from spark_jobs.core.values.model import TableName
from tests.crash.fault_injection import Fault
from tests.crash.flat_table import AT_ONCE, LIVE, only
from tests.crash.model_spark import visible_rows
from tests.crash.oracle import check
from tests.crash.scenario import FLAT, build, run
from tests.crash.simulated_cluster import SimulatedCluster


@pytest.fixture
def dropped() -> SimulatedCluster:
    sim = build()
    backup = only(run(sim.client(), "compact", "--table", FLAT))["backup_table"]
    sim.advance(48 * 3600)
    sim.metastore.drop(TableName.parse(backup))
    return sim


def test_a_rollback_does_not_need_the_backup_table(dropped: SimulatedCluster) -> None:
    before = sorted(visible_rows(dropped.tree, LIVE))
    report = run(dropped.client(), "rollback", "--table", FLAT)
    (unit,) = only(report)["units"]
    assert (report["exit_code"], unit["outcome"], unit["files_after"]) == (0, "restored", 6)
    assert sorted(visible_rows(dropped.tree, LIVE)) == before
    assert check(dropped) == []


def test_nor_does_a_cleanup(dropped: SimulatedCluster) -> None:
    report = run(dropped.client(), "cleanup", "--table", FLAT, "--older-than", "1d")
    (unit,) = only(report)["units"]
    assert (report["exit_code"], unit["outcome"]) == (0, "cleaned")
    assert check(dropped) == []


def test_one_that_could_not_be_dropped_is_found_also_when_its_run_is_folded() -> None:
    """No journal names it any more."""
    sim = build()
    run(sim.client(), "compact", "--table", FLAT, "--run-id", "r1")
    kept = Fault.error_before(lambda point: point.op == "drop_backup")
    run(sim.client(kept), "cleanup", "--table", FLAT, *AT_ONCE)
    sim.advance(3 * 24 * 3600)
    run(sim.client(), "cleanup", "--table", FLAT, *AT_ONCE)
    report = run(sim.client(), "check", "--table", FLAT)
    assert [finding["code"] for finding in only(report)["findings"]] == ["BACKUP_TABLE_STALE"]
