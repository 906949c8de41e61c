"""A journal is input: whoever may write a table's root can put one there, with true identities in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timezone
from typing import Any

import pytest

from spark_jobs.core.records import journal
from spark_jobs.core.records.journal import Record
from spark_jobs.core.records.swap import Swap
from spark_jobs.core.values.model import FileEntry, FileListing, name_of
from spark_jobs.protocol.runs.home_format import MARKER
from tests.crash import writers
from tests.crash.fault_injection import Fault, Killed
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


def manifest(sim: SimulatedCluster, folder: str) -> FileListing:
    files = list(sim.tree.files(folder))
    numbers = [sim.tree.find(f"{folder}/{name}") for name, _ in files]
    return FileListing.of(
        FileEntry(name, inode.length, inode.mtime, number)
        for (name, inode), number in zip(files, numbers, strict=True)
    )


def plant(
    sim: SimulatedCluster,
    *records: tuple[str, dict[str, Any]],
    homes: Sequence[str] = (HOME,),
    run_folder: str = RUN,
) -> None:
    home = run_folder.rpartition("/")[0]
    sim.tree.write(f"{home}/{MARKER}", b"{}", overwrite=True, parents=True)
    sim.tree.make_dirs(run_folder)
    ids = {"home_id": f"hdfs:{sim.tree.find(home)}", "directory_id": f"hdfs:{sim.tree.find(run_folder)}"}
    first = (
        journal.RUN,
        {"table": EVENTS, "location": f"{WAREHOUSE}/events", "homes": [*homes], "user": "me", **ids},
    )
    for number, (kind, body) in enumerate([first, *records], 1):
        path = f"{run_folder}/journal/{number:06d}.json"
        at = datetime.fromtimestamp(sim.millis / 1000, timezone.utc)
        sim.tree.write(path, Record(kind, at, body).encode(), parents=True)


def places(tail: str) -> dict[str, str]:
    """The places of a unit in a run's folder."""
    kinds = {"new": "compact_tmp", "old": "originals", "aside": "aside", "conflict": "conflict"}
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


@pytest.mark.parametrize("verb", ["compact", "rollback", "cleanup"])
@pytest.mark.parametrize("kind", [journal.PREPARED, journal.ROLLBACK_PREPARED])
def test_a_folder_below_the_root_that_is_no_partition_is_left_alone(
    sim: SimulatedCluster, verb: str, kind: str
) -> None:
    inner = f"{WAREHOUSE}/events/archive"
    sim.tree.rename(VICTIM, inner)
    intent = swap(sim, f"{WAREHOUSE}/events/k=a", live=inner, **places("archive"))
    intent = replace(intent, new_id=f"hdfs:{sim.tree.find(inner)}", compacted=manifest(sim, inner))
    records: list[tuple[str, dict[str, Any]]] = [(journal.PREPARED, {"swaps": [intent.to_json()]})]
    if kind != journal.PREPARED:
        records += [(step, {"units": [{"unit": intent.unit.key}]}) for step in (journal.COMMITTED, kind)]
    plant(sim, *records)
    before = {path: number for path, number, _ in sim.tree.walk(f"{WAREHOUSE}/events")}
    report = run(
        sim.client(), verb, "--tables", EVENTS, *(("--older-than", "0s") if verb == "cleanup" else ())
    )
    assert (report["exit_code"], report["tables"][0]["code"]) == (3, "UNSAFE")
    assert f"{inner}, which is not a partition of this table" in report["tables"][0]["reason"]
    after = {path: number for path, number, _ in sim.tree.walk(f"{WAREHOUSE}/events")}
    assert {path: after.get(path) for path in before} == before


def test_a_partition_that_points_at_a_directory_of_others_is_refused(sim: SimulatedCluster) -> None:
    """Whoever may alter a table can do that; the account that maintains all tables may write there."""
    sim.tree.superuser = True
    place = f"{AUTHORITY}/elsewhere/c"
    number = sim.tree.find(place)
    assert number is not None
    sim.tree.change(number, owner="finance")
    report = run(sim.client(), "compact", "--tables", EVENTS)
    units = {unit["unit"]["k"]: unit for unit in report["tables"][0]["units"]}
    assert (units["c"]["outcome"], units["c"]["code"]) == ("skipped", "UNTRUSTED_OWNER")
    assert "finance" in units["c"]["reason"]
    assert sim.tree.find(place) == number
    assert {units[key]["outcome"] for key in "ab"} == {"compacted"}
    again = run(sim.client(), "compact", "--tables", EVENTS, "--trusted-owners", "finance")
    assert {unit["unit"]["k"]: unit["outcome"] for unit in again["tables"][0]["units"]}["c"] == "compacted"
    assert check(sim) == []


@pytest.mark.parametrize(
    ("place", "marks", "code"),
    [
        ("lake/ice/data/d=1/h=2", ["lake/ice/metadata"], "ICEBERG"),
        ("lake/delta/d=1", ["lake/delta/_delta_log"], "DELTA"),
        ("lake/hudi/2026", ["lake/hudi/.hoodie"], "HUDI"),
    ],
)
def test_a_partition_inside_a_table_of_another_format_is_refused(
    sim: SimulatedCluster, place: str, marks: list[str], code: str
) -> None:
    location = writers.add_partition(sim, EVENTS, "x", location=f"{AUTHORITY}/{place}")
    for _ in range(4):
        writers.append(sim, location, sim.ledger.fresh(3))
    for mark in marks:
        sim.tree.make_dirs(f"{AUTHORITY}/{mark}")
    report = run(sim.client(), "compact", "--tables", EVENTS)
    (unit,) = [unit for unit in report["tables"][0]["units"] if unit["unit"]["k"] == "x"]
    assert (unit["outcome"], unit["code"]) == ("skipped", code)
    assert check(sim) == []


def test_a_retry_swaps_nothing_that_is_refused_by_now(sim: SimulatedCluster) -> None:
    """An earlier attempt has written it, and was killed before the swap; another partition reads the directory, now."""
    place = f"{WAREHOUSE}/events/k=a"
    fault = Fault.crash_before(lambda point: point.op == "rename" and point.args[0] == place)
    with pytest.raises(Killed):
        run(sim.client(fault), "compact", "--tables", EVENTS, "--run-id", "r1")
    before = sim.tree.find(place)
    writers.add_partition(sim, EVENTS, "twin", location=place)
    report = run(sim.client(), "compact", "--tables", EVENTS, "--run-id", "r1")
    units = {unit["unit"]["k"]: unit for unit in report["tables"][0]["units"]}
    assert (units["a"]["outcome"], units["a"]["code"]) == ("skipped", "LOCATION_OVERLAP")
    assert units["b"]["outcome"] == "compacted"
    assert sim.tree.find(place) == before
