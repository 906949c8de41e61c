"""A rollback of a unit whose live directory was deleted restores it, unless a writer is just replacing it."""

from __future__ import annotations

from tests.crash import writers
from tests.crash.fault_injection import Fault, Point
from tests.crash.flat_table import LIVE, only, originals, outcomes, roll_back
from tests.crash.model_spark import visible_rows
from tests.crash.oracle import check
from tests.crash.scenario import FLAT
from tests.crash.simulated_cluster import SimulatedCluster


def _looks_at_live(point: Point) -> bool:
    return point.op == "status" and point.args[0] == LIVE


def test_originals_of_a_deleted_directory_are_restored(done: SimulatedCluster) -> None:
    done.tree.remove(LIVE, recursive=True)
    report = roll_back(done)
    assert (outcomes(report), report["exit_code"]) == (["restored"], 0)
    assert check(done) == []


def test_a_writer_that_has_staged_its_files_is_not_forestalled(done: SimulatedCluster) -> None:
    done.tree.remove(LIVE, recursive=True)
    done.tree.make_dirs(f"{LIVE.rsplit('/', 1)[0]}/.hive-staging_hive_2026-02-24_01-00-00_000_1-1")
    report = roll_back(done)
    assert (only(report)["outcome"], report["exit_code"]) == ("failed", 1)
    assert "a writer is replacing" in only(report)["units"][0]["reason"]
    assert done.tree.find(LIVE) is None
    assert done.tree.files(originals(done)) != []


def test_a_writer_that_comes_back_in_time_keeps_its_rows(done: SimulatedCluster) -> None:
    """It deletes the directory, and creates its own while the rollback looks."""
    done.ledger.overwritten.update(visible_rows(done.tree, LIVE))
    done.tree.remove(LIVE, recursive=True)
    ids = done.ledger.fresh(3)
    arrives = Fault.hook(_looks_at_live, lambda: writers.overwrite_by_recreation(done, LIVE, ids))
    report = roll_back(done, FLAT, arrives)
    assert report["exit_code"] == 1
    assert check(done) == []
