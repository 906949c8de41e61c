"""What other writers keep in a unit is in its place after each verb: flags, hidden files, pending files."""

from __future__ import annotations

import json
from typing import Any

import pytest

from spark_jobs.core.model import FileEntry, name_of
from tests.crash import writers
from tests.crash.crashes import CrashState, crash_states
from tests.crash.fault_injection import Fault, Point
from tests.crash.model_spark import encode_rows
from tests.crash.oracle import check
from tests.crash.scenario import EVENTS, FLAT, WAREHOUSE, build, run
from tests.crash.simulated_cluster import Client, SimulatedCluster

LIVE, HOME = f"{WAREHOUSE}/flat", f"{WAREHOUSE}/.lakekeeper-flat"
AT_ONCE = ("--older-than", "0s", "--skip-trash")
DAY = 24 * 3600
PENDING, FINAL = f"{LIVE}/.part-0-0.inprogress.7d2c", f"{LIVE}/part-0-0"
FLAGS = ("_SUCCESS", "_READY", "DONE")
HIDDEN = {".pig_schema": b'{"fields": []}', "_READY_WITH_TEXT": b"2026-02-23"}


def only(report: dict[str, Any]) -> dict[str, Any]:
    (table,) = report["tables"]
    return table


def compact(client: Client) -> dict[str, Any]:
    return run(client, "compact", "--table", FLAT, "--run-id", "r1")


def rollback(client: Client) -> dict[str, Any]:
    return run(client, "rollback", "--table", FLAT)


def cleanup(client: Client) -> dict[str, Any]:
    return run(client, "cleanup", "--table", FLAT, *AT_ONCE)


@pytest.fixture
def sim() -> SimulatedCluster:
    return build()


def put(sim: SimulatedCluster, path: str, content: bytes = b"") -> None:
    sim.tree.tick()
    sim.tree.write(path, content)


def pending(sim: SimulatedCluster) -> list[int]:
    """A writer has closed a file, and waits for its checkpoint to give it its name."""
    ids = sim.ledger.fresh(2)
    put(sim, PENDING, encode_rows(ids))
    return ids


def commit(sim: SimulatedCluster, ids: list[int]) -> bool:
    """The checkpoint is complete: the file gets its name, or the writer fails and has committed nothing."""
    done = sim.tree.raw_rename(PENDING, FINAL)
    if done:
        sim.ledger.committed.update(ids)
    return done


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


def took_along(sim: SimulatedCluster, name: str = name_of(PENDING)) -> None:
    """A hidden file lies with the originals, and in the journal, as 0.1.0 left it."""
    (old,) = {path for path, _, inode in sim.tree.walk(HOME) if path.endswith("/flat") and "/__old_" in path}
    sim.tree.rename(PENDING, f"{old}/{name}")
    number = sim.tree.find(f"{old}/{name}")
    assert number is not None
    file = sim.tree.inodes[number]
    entry = FileEntry(name, file.length, file.mtime, number)
    for path, record, inode in list(sim.tree.walk(HOME)):
        if "/journal/" in path and b"PREPARED" in inode.content:
            body = json.loads(inode.content)
            body["swaps"][0]["originals"].append(entry.to_json())
            sim.tree.change(record, content=json.dumps(body).encode())


def test_what_an_earlier_version_took_along_returns_before_a_cleanup(sim: SimulatedCluster) -> None:
    ids = pending(sim)
    sim.advance(2 * DAY)
    compact(sim.client())
    took_along(sim)
    assert cleanup(sim.client())["exit_code"] == 0
    assert commit(sim, ids)
    assert check(sim) == []


def test_what_an_earlier_version_took_along_goes_back_with_the_originals(sim: SimulatedCluster) -> None:
    ids = pending(sim)
    sim.advance(2 * DAY)
    compact(sim.client())
    took_along(sim)
    assert rollback(sim.client())["exit_code"] == 0
    assert commit(sim, ids)
    assert check(sim) == []


def test_a_flag_is_there_in_the_moment_of_the_swap(sim: SimulatedCluster) -> None:
    put(sim, f"{LIVE}/_READY")
    seen: list[bool] = []

    def observe(_: int, phase: str, now: SimulatedCluster) -> None:
        if now.tree.find(LIVE) is not None and phase == "after":
            seen.append(now.tree.find(f"{LIVE}/_READY") is not None)

    compact(sim.client(observer=observe))
    assert all(seen)


def out(point: Point) -> bool:
    return point.op == "rename" and point.args[0] == LIVE


def writing(point: Point) -> bool:
    return point.op == "raw_rename"


@pytest.mark.parametrize("when", [out, writing])
@pytest.mark.parametrize("name", ["_READY", "DONE", "_SUCCESS"])
def test_a_flag_that_is_set_meanwhile_keeps_its_name(sim: SimulatedCluster, when: Any, name: str) -> None:
    report = compact(sim.client(Fault.hook(when, lambda: put(sim, f"{LIVE}/{name}"))))
    assert report["exit_code"] == 0
    for then in (compact, rollback):
        assert sim.tree.find(f"{LIVE}/{name}") is not None
        then(sim.client())
    assert sim.tree.find(f"{LIVE}/{name}") is not None


def written(point: Point) -> bool:
    return point.op == "mkdirs" and "/__old_" in point.args[0]


@pytest.mark.parametrize("when", [writing, written])
def test_a_flag_that_is_taken_away_meanwhile_does_not_come_back(sim: SimulatedCluster, when: Any) -> None:
    """Who takes it away is about to write."""
    put(sim, f"{LIVE}/_READY")
    report = compact(sim.client(Fault.hook(when, lambda: sim.tree.remove(f"{LIVE}/_READY"))))
    assert [unit["outcome"] for unit in only(report)["units"]] == ["changed"]
    assert sim.tree.find(f"{LIVE}/_READY") is None


def test_a_pending_file_that_comes_in_the_last_moment_keeps_its_name(sim: SimulatedCluster) -> None:
    ids: list[int] = []
    compact(sim.client(Fault.hook(out, lambda: ids.extend(pending(sim)))))
    assert commit(sim, ids)
    assert check(sim) == []


@pytest.mark.parametrize("name", ["_metadata", "_common_metadata"])
@pytest.mark.parametrize("place", [f"{WAREHOUSE}/events", f"{WAREHOUSE}/events/k=a"])
def test_summary_files_are_a_refusal(sim: SimulatedCluster, place: str, name: str) -> None:
    put(sim, f"{place}/{name}", b"PAR1")
    sim.advance(2 * DAY)
    units = only(run(sim.client(), "compact", "--table", EVENTS))["units"]
    codes = {unit["unit"]["k"]: unit["code"] for unit in units}
    above = place.endswith("events")
    assert codes == {"a": "PARQUET_SUMMARY", "b": "PARQUET_SUMMARY" if above else None, "c": None}


def test_names_of_kafka_connect_are_a_refusal(sim: SimulatedCluster) -> None:
    ids = sim.ledger.fresh(3)
    put(sim, f"{LIVE}/orders+0+0000000000+0000000002.parquet", encode_rows(ids))
    sim.ledger.committed.update(ids)
    assert only(compact(sim.client()))["code"] == "OFFSETS_IN_NAMES"
    request = {"arguments": {"kafka_connect": "retired"}}
    report = run(sim.client(), "compact", "--table", FLAT, request=request)
    assert only(report)["outcome"] == "done"
    assert check(sim) == []


def test_a_directory_with_a_flag_is_not_compacted_again_and_again(sim: SimulatedCluster) -> None:
    put(sim, f"{LIVE}/DONE")
    compact(sim.client())
    (unit,) = only(run(sim.client(), "analyze", "--table", FLAT))["units"]
    assert (unit["outcome"], unit["files"]) == ("healthy", 1)


def test_files_are_still_rows(sim: SimulatedCluster) -> None:
    """Nothing of the above takes a file of rows for anything else."""
    writers.append(sim, LIVE, sim.ledger.fresh(2))
    assert only(compact(sim.client()))["outcome"] == "done"
    assert check(sim) == []


def test_a_rollback_need_not_wait_for_a_pending_file(sim: SimulatedCluster) -> None:
    """Somebody on call undoes last night's run; the writer goes on as if nothing had happened."""
    compact(sim.client())
    ids = pending(sim)
    assert [unit["outcome"] for unit in only(rollback(sim.client()))["units"]] == ["restored"]
    assert commit(sim, ids)
    assert check(sim) == []


EMPTY = f"{LIVE}/events-17"


def fill(sim: SimulatedCluster, path: str = EMPTY) -> None:
    """A writer opens again what it had made empty, and commits rows in it (touchz and append, WebHDFS)."""
    ids, number = sim.ledger.fresh(3), sim.tree.find(path)
    assert number is not None
    sim.tree.tick()
    sim.tree.change(number, content=encode_rows(ids), mtime=sim.millis)
    sim.ledger.committed.update(ids)


@pytest.mark.parametrize("when", [writing, written, out])
def test_an_empty_file_that_gets_rows_meanwhile_is_no_flag(sim: SimulatedCluster, when: Any) -> None:
    """Before: its rows stayed with the originals, and the report said that all was well."""
    put(sim, EMPTY)
    report = compact(sim.client(Fault.hook(when, lambda: fill(sim))))
    assert [unit["outcome"] for unit in only(report)["units"]] == ["changed"]
    assert check(sim) == []


def test_an_empty_file_that_gets_rows_after_the_compaction_keeps_them_in_a_rollback(
    sim: SimulatedCluster,
) -> None:
    put(sim, EMPTY)
    compact(sim.client())
    fill(sim)
    assert rollback(sim.client())["exit_code"] == 0
    assert check(sim) == []


def test_an_empty_file_that_gets_rows_between_two_attempts_keeps_them(sim: SimulatedCluster) -> None:
    put(sim, EMPTY)
    for state in crash_states(sim, compact):
        live = state.sim.tree.find(EMPTY)
        if live is None:
            continue
        fill(state.sim)
        compact(state.sim.client())
        assert check(state.sim) == [], str(state)


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


def test_a_success_file_with_text_is_the_newest_one(sim: SimulatedCluster) -> None:
    """As some committers write it. It is moved, and never copied: a copy would be our file with somebody's text."""
    put(sim, f"{LIVE}/_SUCCESS", b'{"files": 4}')

    def anew() -> None:
        sim.tree.remove(f"{LIVE}/_SUCCESS")
        put(sim, f"{LIVE}/_SUCCESS", b'{"files": 5}')

    report = compact(sim.client(Fault.hook(written, anew)))
    assert report["exit_code"] == 0
    inode = sim.tree.get(f"{LIVE}/_SUCCESS")
    assert inode is not None
    assert inode.content == b'{"files": 5}'


def test_a_summary_that_an_earlier_version_took_along_does_not_return(sim: SimulatedCluster) -> None:
    put(sim, PENDING, b"PAR1")
    sim.advance(2 * DAY)
    compact(sim.client())
    took_along(sim, "_metadata")
    assert cleanup(sim.client())["exit_code"] == 0
    assert sim.tree.find(f"{LIVE}/_metadata") is None


@pytest.mark.parametrize("name", ["_metadata", "orders+0+0000000000+0000000002.parquet"])
def test_a_rollback_leaves_alone_what_a_compaction_would(sim: SimulatedCluster, name: str) -> None:
    compact(sim.client())
    put(sim, f"{LIVE}/{name}", b"PAR1")
    (unit,) = only(rollback(sim.client()))["units"]
    assert (unit["outcome"], unit["code"]) == (
        "failed",
        "PARQUET_SUMMARY" if name == "_metadata" else "OFFSETS_IN_NAMES",
    )
