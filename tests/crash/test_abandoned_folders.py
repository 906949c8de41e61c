"""Folders of runs that tasks of a dead driver create again are deleted in time, and nothing else is."""

from __future__ import annotations

import pytest

from tests.crash.flat_table import only
from tests.crash.oracle import check
from tests.crash.scenario import EVENTS, WAREHOUSE, build, run
from tests.crash.simulated_cluster import SimulatedCluster

HOME = f"{WAREHOUSE}/events/.lakekeeper"
FOLDER = f"{HOME}/r0.0123456789ab"
DAY = 24 * 3600.0


@pytest.fixture
def sim() -> SimulatedCluster:
    sim = build()
    assert run(sim.client(), "compact", "--table", EVENTS, "--run-id", "r1")["exit_code"] == 0
    sim.tree.write(f"{FOLDER}/__compact_tmp_1772323100/k=b/part-0.parquet", b"x", parents=True)
    return sim


def _cleanup(sim: SimulatedCluster) -> list[str]:
    report = run(sim.client(), "cleanup", "--table", EVENTS, "--older-than", "3650d")
    assert report["exit_code"] == 0
    return [text for text in only(report)["warnings"] if FOLDER in text]


def test_one_that_is_old_is_deleted_and_reported(sim: SimulatedCluster) -> None:
    sim.advance(2 * DAY)
    (warning,) = _cleanup(sim)
    assert "deleted" in warning
    assert sim.tree.find(FOLDER) is None
    assert _cleanup(sim) == []
    assert check(sim) == []


def test_one_that_may_still_be_written_to_is_kept(sim: SimulatedCluster) -> None:
    sim.advance(2 * DAY)
    sim.tree.write(f"{FOLDER}/__compact_tmp_1772323100/k=b/part-1.parquet", b"x")
    _cleanup(sim)
    assert sim.tree.find(FOLDER) is not None


@pytest.mark.parametrize("kind", ["__originals_1772323100", "__aside_1772323100", "of-somebody"])
def test_one_that_holds_anything_else_is_kept_and_reported(sim: SimulatedCluster, kind: str) -> None:
    """Somebody has deleted the journal of a run that holds originals."""
    sim.tree.write(f"{FOLDER}/{kind}/k=b/part-9.parquet", b"x", parents=True)
    sim.advance(2 * DAY)
    (warning,) = _cleanup(sim)
    assert kind in warning
    assert sim.tree.find(f"{FOLDER}/{kind}/k=b/part-9.parquet") is not None


def test_one_with_a_record_is_no_abandoned_folder(sim: SimulatedCluster) -> None:
    before = sorted(path for path, _, _ in sim.tree.walk(f"{HOME}") if "/r1." in path)
    sim.advance(2 * DAY)
    _cleanup(sim)
    assert sorted(path for path, _, _ in sim.tree.walk(f"{HOME}") if "/r1." in path) == before


def test_a_compaction_deletes_it_too(sim: SimulatedCluster) -> None:
    sim.advance(2 * DAY)
    assert run(sim.client(), "compact", "--table", EVENTS)["exit_code"] == 0
    assert sim.tree.find(FOLDER) is None
