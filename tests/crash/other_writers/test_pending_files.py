"""Files that another writer has still to rename, and hidden ones, are in their place after each verb."""

from __future__ import annotations

from typing import Any

import pytest

from tests.crash.crashes import CrashState, crash_states
from tests.crash.fault_injection import Fault
from tests.crash.flat_table import LIVE, compact, only, out
from tests.crash.model_spark import encode_rows
from tests.crash.oracle import check
from tests.crash.other_writers.pending_files import (
    DAY,
    PENDING,
    cleanup,
    commit,
    pending,
    put,
    rollback,
    took_along,
)
from tests.crash.simulated_cluster import SimulatedCluster

FLAGS = ("_SUCCESS", "_READY", "DONE")
HIDDEN = {".pig_schema": b'{"fields": []}', "_READY_WITH_TEXT": b"2026-02-23"}


def test_a_pending_file_is_left_to_its_writer(sim: SimulatedCluster) -> None:
    ids = pending(sim)
    assert only(compact(sim.client()))["code"] == "ACTIVE_WRITER"
    assert commit(sim, ids)
    assert only(compact(sim.client()))["outcome"] == "done"
    assert check(sim) == []


@pytest.mark.parametrize("then", [rollback, cleanup])
def test_an_old_pending_file_can_still_be_committed(sim: SimulatedCluster, then: Any) -> None:
    """Its job was down for days, and starts again from its checkpoint. Before, a cleanup deleted its rows."""
    ids = pending(sim)
    sim.advance(2 * DAY)
    for verb in (compact, then):
        assert verb(sim.client())["exit_code"] == 0
        assert sim.tree.find(PENDING) is not None
    assert commit(sim, ids)
    assert check(sim) == []


def recovered(start: SimulatedCluster, act: Any) -> list[CrashState]:
    """Each state in which an act may leave the cluster when it dies, after the next job."""
    states = crash_states(start, act)
    for state in states:
        report = compact(state.sim.client())
        assert report["exit_code"] == 0, (str(state), report)
    return states


@pytest.mark.parametrize("verbs", [(compact,), (compact, rollback), (compact, cleanup)])
def test_wherever_a_verb_dies_all_is_in_its_place(sim: SimulatedCluster, verbs: Any) -> None:
    ids = pending(sim)
    for name in FLAGS:
        put(sim, f"{LIVE}/{name}")
    for name, content in HIDDEN.items():
        put(sim, f"{LIVE}/{name}", content)
    sim.advance(2 * DAY)
    for verb in verbs[:-1]:
        verb(sim.client())
    for state in recovered(sim, verbs[-1]):
        names = {name: inode for name, inode in state.sim.tree.files(LIVE)}
        assert {*FLAGS, *HIDDEN} <= names.keys(), str(state)
        assert {name: names[name].content for name in HIDDEN} == HIDDEN, str(state)
        assert commit(state.sim, ids), str(state)
        assert check(state.sim) == [], str(state)


def test_a_hidden_file_with_the_originals_returns_before_a_cleanup(sim: SimulatedCluster) -> None:
    ids = pending(sim)
    sim.advance(2 * DAY)
    compact(sim.client())
    took_along(sim)
    assert cleanup(sim.client())["exit_code"] == 0
    assert commit(sim, ids)
    assert check(sim) == []


def test_a_hidden_file_with_the_originals_goes_back_with_them(sim: SimulatedCluster) -> None:
    ids = pending(sim)
    sim.advance(2 * DAY)
    compact(sim.client())
    took_along(sim)
    assert rollback(sim.client())["exit_code"] == 0
    assert commit(sim, ids)
    assert check(sim) == []


def test_a_pending_file_that_comes_in_the_last_moment_keeps_its_name(sim: SimulatedCluster) -> None:
    ids: list[int] = []
    compact(sim.client(Fault.hook(out, lambda: ids.extend(pending(sim)))))
    assert commit(sim, ids)
    assert check(sim) == []


def test_a_rollback_need_not_wait_for_a_pending_file(sim: SimulatedCluster) -> None:
    """Somebody on call undoes last night's run; the writer goes on as if nothing had happened."""
    compact(sim.client())
    ids = pending(sim)
    assert [unit["outcome"] for unit in only(rollback(sim.client()))["units"]] == ["restored"]
    assert commit(sim, ids)
    assert check(sim) == []


def test_a_hidden_file_is_found_by_its_writer_although_it_was_empty_once(sim: SimulatedCluster) -> None:
    hidden, final = f"{LIVE}/.events.csv", f"{LIVE}/events.csv"
    put(sim, hidden)
    sim.advance(2 * DAY)
    compact(sim.client())
    number, ids = sim.tree.find(hidden), sim.ledger.fresh(2)
    assert number is not None
    sim.tree.change(number, content=encode_rows(ids))
    rollback(sim.client())
    assert sim.tree.raw_rename(hidden, final)
    sim.ledger.committed.update(ids)
    assert check(sim) == []


def test_an_empty_pending_file_that_was_given_up_stops_nothing(sim: SimulatedCluster) -> None:
    put(sim, PENDING)
    assert only(compact(sim.client()))["code"] == "ACTIVE_WRITER"
    sim.advance(2 * DAY)
    assert [unit["outcome"] for unit in only(compact(sim.client()))["units"]] == ["compacted"]
    assert sim.tree.find(PENDING) is not None


@pytest.mark.parametrize("verb", [rollback, cleanup])
def test_a_hidden_file_with_the_originals_that_is_named_like_staging_is_none(
    sim: SimulatedCluster, verb: Any
) -> None:
    """Nobody works in our own directories."""
    pending(sim)
    sim.advance(2 * DAY)
    compact(sim.client())
    took_along(sim, ".staging_7")
    assert verb(sim.client())["exit_code"] == 0


def test_a_file_of_kafka_connect_that_lands_in_the_last_moment_keeps_its_name(sim: SimulatedCluster) -> None:
    """It holds the offsets at which the connector goes on."""
    place, ids = f"{LIVE}/orders+0+0000000000+0000000002.parquet", sim.ledger.fresh(3)

    def land() -> None:
        sim.tree.tick()
        sim.tree.write(place, encode_rows(ids))
        sim.ledger.committed.update(ids)

    compact(sim.client(Fault.hook(out, land)))
    assert sim.tree.find(place) is not None
    assert check(sim) == []
