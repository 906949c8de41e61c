"""A journal is input: whoever may write a table's root can put one there, with true identities in it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any

import pytest

from spark_jobs.core import journal
from spark_jobs.core.journal import Record, Swap
from spark_jobs.core.model import FileEntry, Manifest, name_of
from tests.crash import writers
from tests.crash.model_tree import AUTHORITY
from tests.crash.oracle import check
from tests.crash.scenario import EVENTS, WAREHOUSE, build, run
from tests.crash.simulated_cluster import SimulatedCluster

HOME = f"{WAREHOUSE}/events/.lakekeeper"
RUN = f"{HOME}/planted.0123456789ab"
#: Somebody else's table; the account that maintains all tables may write there, too.
LEDGER, PLACE = "finance.ledger", f"{AUTHORITY}/finance/ledger"


@pytest.fixture
def sim() -> SimulatedCluster:
    """Whoever plants knows the directories of others: their names, inodes and files."""
    built = build()
    writers.create_table(built, LEDGER, PLACE, keys=("d",))
    for day in "12":
        writers.append(built, writers.add_partition(built, LEDGER, day), built.ledger.fresh(3))
    return built


def manifest(sim: SimulatedCluster, folder: str) -> Manifest:
    files = list(sim.tree.files(folder))
    numbers = [sim.tree.find(f"{folder}/{name}") for name, _ in files]
    return Manifest.of(
        FileEntry(name, inode.length, inode.mtime, number)
        for (name, inode), number in zip(files, numbers, strict=True)
    )


def plant(
    sim: SimulatedCluster,
    *records: tuple[str, dict[str, Any]],
    homes: Sequence[str] = (HOME,),
    run_folder: str = RUN,
) -> None:
    first = (
        journal.RUN,
        {"table": EVENTS, "location": f"{WAREHOUSE}/events", "homes": [*homes], "user": "me"},
    )
    for number, (kind, body) in enumerate([first, *records], 1):
        path = f"{run_folder}/journal/{number:06d}.json"
        at = datetime.fromtimestamp(sim.millis / 1000, timezone.utc)
        sim.tree.write(path, Record(kind, at, body).encode(), parents=True)


def places(tail: str) -> dict[str, str]:
    """The places of a unit in a run's folder."""
    kinds = {"new": "compact_tmp", "old": "old", "aside": "undone", "conflict": "conflict"}
    return {name: f"__{kind}_1772323200/{tail}" for name, kind in kinds.items()}


def swap(sim: SimulatedCluster, victim: str, **changes: Any) -> Swap:
    """One that takes the victim for what it says."""
    own = f"{WAREHOUSE}/events/k=a"
    body: dict[str, Any] = {
        "spec": (("k", "a"),),
        "live": own,
        **places("k=a"),
        "live_id": f"hdfs:{sim.tree.find(victim)}",
        "new_id": f"hdfs:{sim.tree.find(own)}",
        "originals": manifest(sim, victim),
        "compacted": manifest(sim, own),
        "rows": 3,
    }
    return Swap(**{**body, **changes})


VICTIM = f"{PLACE}/d=1"
RELATIVE = "../../../../finance/ledger/d=1"


@pytest.mark.parametrize("verb", ["compact", "rollback", "cleanup", "analyze"])
@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        (journal.COMMITTED, {"old": RELATIVE}),
        (journal.PREPARED, {"old": RELATIVE}),
        (journal.PREPARED, {"live": VICTIM}),
        (journal.PREPARED, {"new": RELATIVE}),
        (journal.COMMITTED, {"live": VICTIM}),
        (journal.ROLLBACK_PREPARED, {"aside": RELATIVE}),
        (journal.ROLLBACK_PREPARED, {"live": VICTIM}),
        (journal.CLEANUP_CLAIMED, {"old": RELATIVE}),
    ],
)
def test_a_planted_journal_reaches_nothing_outside_its_table(
    sim: SimulatedCluster, verb: str, kind: str, changes: dict[str, Any]
) -> None:
    intent = swap(sim, VICTIM, **changes)
    records: list[tuple[str, dict[str, Any]]] = [(journal.PREPARED, {"swaps": [intent.to_json()]})]
    if kind != journal.PREPARED:
        records += [(kind, {"units": [{"unit": intent.unit.key}]})]
    plant(sim, *records)
    before = {path: number for path, number, _ in sim.tree.walk(f"{AUTHORITY}/finance")}
    retention = ("--older-than", "0s", "--skip-trash") if verb == "cleanup" else ()
    report = run(sim.client(), verb, "--tables", EVENTS, *retention)
    assert {path: number for path, number, _ in sim.tree.walk(f"{AUTHORITY}/finance")} == before
    assert check(sim) == []
    if verb != "analyze":
        assert report["exit_code"] == 3
        assert report["tables"][0]["code"] == "UNSAFE"
        assert HOME in report["tables"][0]["reason"]


@pytest.mark.parametrize("verb", ["compact", "rollback", "cleanup"])
def test_a_journal_of_a_newer_version_is_refused_and_says_which(sim: SimulatedCluster, verb: str) -> None:
    run(sim.client(), "compact", "--tables", EVENTS, "--run-id", "r1")
    for path, number, inode in list(sim.tree.walk(HOME)):
        if path.endswith("/000001.json"):
            newer = {**json.loads(inode.content), "schema_version": 2, "version": "3.1.4"}
            sim.tree.change(number, content=json.dumps(newer).encode())
    before = sim.tree.digest()
    report = run(
        sim.client(), verb, "--tables", EVENTS, *(("--older-than", "0s") if verb == "cleanup" else ())
    )
    (table,) = report["tables"]
    assert (report["exit_code"], table["code"]) == (3, "UNSAFE")
    assert "version 3.1.4 wrote it, in schema 2" in table["reason"]
    assert sim.tree.digest() == before


SHARED = f"{AUTHORITY}/shared"


@pytest.mark.parametrize(
    "home", [f"{SHARED}/.lakekeeper", f"{SHARED}/.lakekeeper-ledger", "file:///tmp/.lakekeeper-x"]
)
@pytest.mark.parametrize("verb", ["compact", "rollback", "cleanup"])
def test_the_owner_of_a_root_leads_to_no_home_of_others(sim: SimulatedCluster, verb: str, home: str) -> None:
    """She may do what she likes with her table, and may write to a folder that others share."""
    for _, number, inode in list(sim.tree.walk(f"{WAREHOUSE}/events")):
        sim.tree.change(number, owner="mallory", mode=0o777 if inode.is_dir else 0o644)
    sim.tree.superuser = True
    victim = f"{SHARED}/ledger"
    sim.tree.make_dirs(SHARED)
    sim.tree.rename(VICTIM, victim)
    if home.startswith(SHARED):
        intent = swap(sim, victim, live=victim, **places("ledger"))
        plant(sim, (journal.PREPARED, {"swaps": [intent.to_json()]}), run_folder=f"{home}/{name_of(RUN)}")
    plant(sim, homes=[home], run_folder=RUN)
    for path, number, _ in list(sim.tree.walk(AUTHORITY)):
        if "/.lakekeeper" in path:
            sim.tree.change(number, owner="mallory")
    before = {path: number for path, number, _ in sim.tree.walk(SHARED)}
    run(sim.client(), verb, "--tables", EVENTS, *(("--older-than", "0s") if verb == "cleanup" else ()))
    assert {path: number for path, number, _ in sim.tree.walk(SHARED)} == before
