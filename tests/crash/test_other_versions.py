"""Homes and records of another version: each verb refuses them, names both versions, and changes nothing."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from spark_jobs import __version__
from spark_jobs.core.values.model import TableName
from spark_jobs.protocol.runs.home_format import FORMAT, MARKER
from tests.crash import writers
from tests.crash.checked import check, codes
from tests.crash.crashes import crash_states
from tests.crash.fault_injection import Fault, Killed, Point
from tests.crash.flat_table import LIVE
from tests.crash.model_tree import Inode
from tests.crash.oracle import check as rows_lost
from tests.crash.scenario import EVENTS, FLAT, WAREHOUSE, build, run
from tests.crash.simulated_cluster import SimulatedCluster

HOME = f"{WAREHOUSE}/.lakekeeper-flat"
EVENTS_HOME = f"{WAREHOUSE}/events/.lakekeeper"
#: A cleanup of all originals, at any age.
AT_ONCE = ("--older-than", "0s", "--skip-trash")
VERBS = [
    ("analyze",),
    ("compact",),
    ("compact", "--dry-run"),
    ("plan",),
    ("rollback",),
    ("cleanup", *AT_ONCE),
    ("forget", "--run-id", "r1"),
    ("history",),
]
#: The newest file of each store of the table EVENTS, by how its path ends: directory and beginning of the name.
STORES = {
    "journal": "/journal/0000",
    "settled runs": "/settled/0000",
    "snapshot": "/log/snapshot/snapshot-",
    "manifest list": "/log/manifest/manifest-list-",
    "survey of snapshots": "/log/survey/survey-",
    "survey of analyses": "/log/survey/analysis-",
    "open units": "/log/survey/open-",
    "deferred units": "/log/survey/deferred-",
}


def ran(sim: SimulatedCluster, verb: str, *words: str, table: str = FLAT) -> dict[str, Any]:
    return run(sim.client(), verb, "--tables", table, *words)


def refused_by_all_verbs(sim: SimulatedCluster, table: str, versions: tuple[str, ...]) -> None:
    """Each verb names the versions, and leaves the cluster as it is."""
    before = sim.version
    for verb, *words in VERBS:
        report = ran(sim, verb, *words, table=table)
        (found,) = report["tables"]
        assert (found["outcome"], found["code"]) == ("refused", "OTHER_VERSION"), (verb, found)
        assert all(version in found["reason"] for version in versions), found["reason"]
        assert sim.version == before, verb
    checked = check(sim, table)
    assert codes(checked) == ["OTHER_VERSION"]
    assert checked["exit_code"] == 1


def as_0_1_0_left_it(sim: SimulatedCluster, home: str) -> None:
    """It made no marker, and its records have the same schema number as ours."""
    sim.tree.remove(f"{home}/{MARKER}")
    for path, number, inode in list(sim.tree.walk(home)):
        if "/journal/0" in path and inode.content:
            body = json.loads(inode.content)
            sim.tree.change(number, content=json.dumps({**body, "version": "0.1.0"}).encode())


def test_a_home_of_0_1_0_is_refused_whatever_its_job_has_left() -> None:
    verb = ("compact", "--run-id", "r1")
    seen = 0
    for state in crash_states(build(), lambda client: run(client, verb[0], "--tables", FLAT, *verb[1:])):
        if state.sim.tree.find(f"{HOME}/{MARKER}") is None:
            continue
        as_0_1_0_left_it(state.sim, HOME)
        if len(list(state.sim.tree.walk(HOME))) > 1:  # the home itself is one entry
            refused_by_all_verbs(state.sim, FLAT, ("0.1", __version__))
            seen += 1
    assert seen > 10


@pytest.mark.parametrize(
    "left", ["", "/log/survey", "/r1.0123456789ab/__compact_tmp_20260101_000000_000000/flat"]
)
def test_a_home_without_a_lease_or_a_journal_is_none_of_another_version(left: str) -> None:
    """A job died while it made the home, or a late task has made directories again after their home was deleted."""
    sim = build()
    sim.tree.make_dirs(f"{HOME}{left}")
    assert ran(sim, "compact")["exit_code"] == 0
    assert sim.tree.find(f"{HOME}/{MARKER}") is not None
    assert rows_lost(sim) == []


def test_a_home_with_hints_alone_is_refused() -> None:
    """An analysis of 0.1.0 has left them."""
    sim = build()
    sim.tree.make_dirs(f"{HOME}/log/survey")
    sim.tree.write(f"{HOME}/log/survey/open-000001", b"{}")
    refused_by_all_verbs(sim, FLAT, ("0.1", __version__))


def test_hints_in_directories_without_a_marker_do_not_make_the_home_another_version_s() -> None:
    """A late task of a job has made the directories again after the home was deleted."""
    sim = build()
    sim.tree.make_dirs(f"{EVENTS_HOME}/log/survey")
    for verb in ("analyze", "compact"):
        assert ran(sim, verb, table=EVENTS)["exit_code"] == 0


def test_where_two_versions_make_a_home_at_once_none_begins() -> None:
    sim = build()
    at_marker = Fault.hook(_makes_marker, lambda: sim.tree.write(f"{HOME}/format-0.3", b"{}"))
    report = run(sim.client(at_marker), "compact", "--tables", FLAT)
    assert [(table["outcome"], table["code"]) for table in report["tables"]] == [("refused", "OTHER_VERSION")]
    sim.tree.remove(f"{HOME}/format-0.3")
    assert ran(sim, "compact")["exit_code"] == 0
    assert rows_lost(sim) == []


def test_a_lost_answer_to_the_creation_of_the_marker_does_not_fail_the_table() -> None:
    sim = build()
    report = run(sim.client(Fault.error_after(_makes_marker)), "compact", "--tables", FLAT)
    assert (report["exit_code"], report["outcome"]) == (0, "done")


def _makes_marker(point: Point) -> bool:
    return point.op == "create" and str(point.args[0]).endswith(f"/{MARKER}")


@pytest.mark.parametrize("alone", [True, False])
def test_a_home_from_the_future_is_refused(alone: bool) -> None:
    sim = build()
    assert ran(sim, "compact", "--run-id", "r1")["exit_code"] == 0
    if alone:
        sim.tree.remove(f"{HOME}/{MARKER}")
    sim.tree.write(f"{HOME}/format-0.3", b"{}")
    refused_by_all_verbs(sim, FLAT, ("version 0.3", __version__, FORMAT))


def test_a_rollback_of_a_database_fails_where_it_cannot_read_the_run() -> None:
    """It undoes all that may have been swapped, or fails. Other jobs leave such a table to its own version."""
    sim = build()
    assert ran(sim, "compact", "--run-id", "r1")["exit_code"] == 0
    sim.tree.write(f"{HOME}/format-0.3", b"{}")
    exits = {
        verb: run(sim.client(), verb, "--database", "sales")["exit_code"] for verb in ("analyze", "compact")
    }
    assert exits == {"analyze": 0, "compact": 0}
    report = run(sim.client(), "rollback", "--database", "sales", "--run-id", "r1")
    assert (report["exit_code"], report["outcome"]) == (1, "failed")


@pytest.mark.parametrize("name", [MARKER, "format-0.3"], ids=["lost", "another"])
def test_a_table_of_which_units_were_swapped_is_not_refused(name: str) -> None:
    """The marker changes while a job is at work: a refusal would say that there is no run to roll back."""
    sim = build()

    def changes(point: Point) -> bool:
        if point.op == "rename" and point.args[0] == LIVE:
            if name == MARKER:
                sim.tree.remove(f"{HOME}/{MARKER}")
            else:
                sim.tree.write(f"{HOME}/{name}", b"{}")
        return False

    report = run(sim.client(Fault.crash_before(changes)), "compact", "--database", "sales", "--run-id", "r1")
    (found,) = (table for table in report["tables"] if table["table"] == FLAT)
    assert (report["exit_code"], found["outcome"]) == (1, "failed")
    assert "What run r1 has swapped before stays" in found["reason"]
    assert rows_lost(sim) == []


def used() -> SimulatedCluster:
    """A table of which each store has a record: a settled run, one with originals, and units that are left undone."""
    sim = build()
    writers.drop_partition(sim, EVENTS, "c", delete_data=True)
    assert ran(sim, "analyze", table=EVENTS)["exit_code"] == 0
    assert ran(sim, "compact", "--run-id", "r1", table=EVENTS)["exit_code"] == 0
    sim.advance(3 * 24 * 3600)
    assert ran(sim, "cleanup", *AT_ONCE, table=EVENTS)["exit_code"] == 0
    sim.advance(3 * 24 * 3600)
    for value in ("a", "b"):
        for _ in range(4):
            writers.append(sim, f"{WAREHOUSE}/events/k={value}", sim.ledger.fresh(2))
    assert ran(sim, "compact", "--run-id", "r2", "--max-units", "1", table=EVENTS)["exit_code"] == 0
    writers.append(sim, f"{WAREHOUSE}/events/k=a", sim.ledger.fresh(2))
    sim.advance(3 * 3600)
    assert ran(sim, "analyze", table=EVENTS)["exit_code"] == 0
    return sim


def newest(sim: SimulatedCluster, part: str) -> tuple[str, int, Inode]:
    found = [entry for entry in sim.tree.walk(EVENTS_HOME) if part in entry[0] and not entry[2].is_dir]
    return max(found, key=lambda entry: (entry[2].mtime, entry[0]))


def of_version(content: bytes, version: str = "0.9.0") -> bytes:
    """Records of 0.1.0 have the schema number of ours."""
    packed = content[:2] == b"\x1f\x8b"
    body = json.loads(gzip.decompress(content) if packed else content)
    data = json.dumps({**body, "schema_version": 1 if version == "0.1.0" else 2, "version": version}).encode()
    return gzip.compress(data) if packed else data


@pytest.mark.parametrize("version", ["0.1.0", "0.9.0"])
@pytest.mark.parametrize("store", STORES)
def test_no_record_of_another_version_is_taken_for_none_or_deleted(store: str, version: str) -> None:
    """A job that needs the record refuses the table. Others say that they could not read it, and leave it."""
    sim = used()
    path, number, inode = newest(sim, STORES[store])
    content = of_version(inode.content, version)
    sim.tree.change(number, content=content)
    said = 0
    for verb, *words in [*VERBS, ("cleanup", *AT_ONCE)]:
        sim.advance(3 * 24 * 3600)
        report = ran(sim, verb, *words, table=EVENTS)
        text = json.dumps(report)
        said += version in text and __version__ in text
        kept = sim.tree.get(path)
        assert kept is not None, (verb, words)
        assert kept.content == content, (verb, words)
        assert rows_lost(sim) == [], (verb, words)
    assert said
    assert "OTHER_VERSION" in codes(check(sim, EVENTS))


def test_a_home_whose_commit_log_another_version_has_written_outlives_its_table() -> None:
    sim = used()
    path, number, inode = newest(sim, STORES["snapshot"])
    sim.tree.change(number, content=of_version(inode.content))
    sim.metastore.drop(TableName.parse(EVENTS))
    before = sim.version
    report = run(sim.client(), "cleanup", "--location", f"{WAREHOUSE}/events", *AT_ONCE)
    assert [table["code"] for table in report["tables"]] == ["OTHER_VERSION"]
    assert (sim.tree.find(path) is not None, sim.version) == (True, before)


def test_a_downgrade_in_the_middle_of_a_run_is_refused() -> None:
    """A newer version has entered the run that this one has begun, and was killed between the renames."""
    sim = build()
    with pytest.raises(Killed):
        run(
            sim.client(Fault.crash_after(lambda point: point.op == "rename" and point.args[0] == LIVE)),
            "compact",
            "--tables",
            FLAT,
            "--run-id",
            "r1",
        )
    records = sorted(entry for entry in sim.tree.walk(HOME) if "/journal/0" in entry[0])
    path, _, inode = records[-1]
    entered = {**json.loads(of_version(inode.content)), "kind": "ENTERED", "verb": "compact"}
    following = f"{path[: -len('000001.json')]}{len(records) + 1:06d}.json"
    sim.tree.write(following, json.dumps(entered).encode())
    assert sim.tree.find(LIVE) is None
    refused_by_all_verbs(sim, FLAT, ("0.9.0", __version__))
    # The version that it belongs to finds all as it was.
    sim.tree.remove(following)
    assert ran(sim, "compact", "--run-id", "r1")["exit_code"] == 0
    assert rows_lost(sim) == []
