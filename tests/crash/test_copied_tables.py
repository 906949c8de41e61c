"""Journals that came with a copy of a directory, that moved with it, or that somebody else wrote."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from spark_jobs.core.values.model import TableName
from tests.crash import writers
from tests.crash.crashes import crash_states
from tests.crash.model_tree import AUTHORITY
from tests.crash.oracle import check, live_rows
from tests.crash.scenario import EVENTS, FLAT, WAREHOUSE, build, run
from tests.crash.simulated_cluster import Client, SimulatedCluster

ROOT, FLAT_ROOT = f"{WAREHOUSE}/events", f"{WAREHOUSE}/flat"
HOME = f"{ROOT}/.lakekeeper"
COPIED = "came here with a copy of another directory"
AT_ONCE = ("--older-than", "0s", "--skip-trash")
VERBS = [("compact",), ("rollback",), ("cleanup", *AT_ONCE), ("analyze",)]


def compact(client: Client, table: str = EVENTS) -> dict[str, Any]:
    return run(client, "compact", "--tables", table, "--run-id", "r1")


def copy_of(sim: SimulatedCluster, source: str, target: str) -> None:
    """What distcp does: the same names and contents, and no identity of the source."""
    sim.tree.make_dirs(target)
    for path, _, inode in list(sim.tree.walk(source)):
        place = f"{target}{path[len(source) :]}"
        if inode.is_dir:
            sim.tree.make_dirs(place)
        else:
            sim.tree.write(place, inode.content)


def restored_from_copy(sim: SimulatedCluster, *paths: str) -> None:
    """Somebody deletes these directories, and puts copies in their places (a snapshot, another cluster)."""
    for path in paths:
        copy_of(sim, path, f"{path}.copy")
        sim.tree.remove(path, recursive=True)
        sim.tree.rename(f"{path}.copy", path)


def declare(sim: SimulatedCluster, table: str, name: str, value: str) -> None:
    """ALTER TABLE SET TBLPROPERTIES."""
    known = sim.metastore.get(TableName.parse(table))
    facts = replace(known.facts, properties={**known.facts.properties, name: value})
    sim.metastore.put(TableName.parse(table), replace(known, facts=facts))


def warnings(report: dict[str, Any]) -> str:
    return "\n".join(report["tables"][0]["warnings"])


@pytest.mark.parametrize(
    ("table", "paths"), [(EVENTS, [ROOT]), (FLAT, [FLAT_ROOT, f"{WAREHOUSE}/.lakekeeper-flat"])]
)
def test_a_copy_taken_at_any_moment_doubles_no_row(table: str, paths: list[str]) -> None:
    """Before: where a job of a table of appends was killed after the second rename, all rows were live twice."""
    start = build()
    declare(start, table, "lakekeeper.writers", "append")
    noted = 0
    for state in crash_states(start, lambda client: compact(client, table)):
        present = [path for path in paths if state.sim.tree.find(path) is not None]
        restored_from_copy(state.sim, *present)
        for verb, *arguments in VERBS:
            report = run(state.sim.client(), verb, "--tables", table, *arguments)
            # Copied between the renames: see the next test.
            missing = verb in ("compact", "analyze") and bool(check(state.sim))
            assert report["exit_code"] == (3 if missing else 0), (str(state), report)
            noted += COPIED in warnings(report)
            assert check(state.sim, journaled=True) == [], (str(state), verb)
    assert noted


@pytest.mark.parametrize("table", [EVENTS, FLAT])
def test_a_copy_under_another_name_is_a_table_of_its_own(table: str) -> None:
    sim = build()
    compact(sim.client(), table)
    root = writers.location_of(sim, table)
    twin, place = "sales.twin", f"{WAREHOUSE}/twin"
    copy_of(sim, root, place)
    writers.create_table(sim, twin, place, keys=("k",) if table == EVENTS else ())
    units = [place] if table == FLAT else [writers.add_partition(sim, twin, value) for value in "ab"]
    assert live_rows(sim, twin)
    sim.ledger.overwritten.update(sim.ledger.committed)  # rows of a copy are no writer's
    for unit in units:
        for _ in range(3):
            writers.append(sim, unit, sim.ledger.fresh(2))
    before = live_rows(sim, twin)
    for verb, outcome in [
        ("compact", "compacted"),
        ("rollback", "restored"),
        ("compact", "compacted"),
        ("cleanup", "cleaned"),
    ]:
        report = run(sim.client(), verb, "--tables", twin, *(AT_ONCE if verb == "cleanup" else ()))
        assert report["exit_code"] == 0
        assert {unit["outcome"] for unit in report["tables"][0]["units"]} == {outcome}, report
        assert (COPIED in warnings(report)) == (table == EVENTS)
        assert live_rows(sim, twin) == before


@pytest.mark.parametrize(
    ("table", "paths"), [(EVENTS, [ROOT]), (FLAT, [FLAT_ROOT, f"{WAREHOUSE}/.lakekeeper-flat"])]
)
def test_a_copy_taken_between_the_renames_says_so_until_somebody_has_looked(
    table: str, paths: list[str]
) -> None:
    """Its rows lie below `__originals_` only. Before, the jobs ended well, and a warning said how to delete them."""
    seen = 0
    for state in crash_states(build(), lambda client: compact(client, table)):
        sim = state.sim
        restored_from_copy(sim, *(path for path in paths if sim.tree.find(path) is not None))
        reports = [run(sim.client(), verb, "--tables", table) for verb in ("analyze", "compact", "compact")]
        hidden = bool(check(sim))
        seen += hidden
        assert {report["exit_code"] for report in reports} == ({3} if hidden else {0}), str(state)
        if hidden:
            (lost,) = [u for u in reports[-1]["tables"][0]["units"] if u["outcome"] == "quarantined"]
            assert "hdfs dfs -mv" in lost["reason"]
            assert "-rm" not in warnings(reports[-1])
            old, place = lost["reason"].split("hdfs dfs -mv ")[1].replace("'", "").split()
            sim.tree.rename(old, place)
            assert run(sim.client(), "compact", "--tables", table)["exit_code"] == 0
            assert check(sim) == []
    assert seen


def move(sim: SimulatedCluster, table: str, target: str) -> None:
    """`hdfs dfs -mv` of the root, and ALTER TABLE SET LOCATION, of the partitions too."""
    name, root = TableName.parse(table), writers.location_of(sim, table)
    sim.tree.rename(root, target)
    known = sim.metastore.get(name)
    facts = replace(known.facts, storage=replace(known.facts.storage, location=target))
    places = {
        spec: f"{target}{place[len(root) :]}" if place.startswith(f"{root}/") else place
        for spec, place in known.partitions.items()
    }
    sim.metastore.put(name, replace(known, facts=facts, partitions=places))


@pytest.mark.parametrize("verb", [("rollback",), ("cleanup", *AT_ONCE)])
def test_a_table_that_was_moved_still_has_its_runs(verb: tuple[str, ...]) -> None:
    """Before: nothing could be rolled back, and cleanup ended with 3 every night."""
    sim = build()
    compact(sim.client())
    move(sim, EVENTS, f"{WAREHOUSE}/moved")
    report = run(sim.client(), verb[0], "--tables", EVENTS, *verb[1:])
    assert report["exit_code"] == 0
    assert [unit["outcome"] for unit in report["tables"][0]["units"]] == [
        "restored" if verb[0] == "rollback" else "cleaned"
    ] * 3
    assert warnings(report) == ""
    assert check(sim) == []


def test_a_run_that_was_killed_is_settled_where_the_table_was_moved_to() -> None:
    for state in crash_states(build(), compact):
        move(state.sim, EVENTS, f"{WAREHOUSE}/moved")
        report = run(state.sim.client(), "compact", "--tables", EVENTS)
        assert report["exit_code"] == 0, (str(state), report)
        assert check(state.sim) == [], str(state)


def owned_by(sim: SimulatedCluster, owner: str, chosen: Callable[[str], bool]) -> None:
    for path, number, _ in list(sim.tree.walk(AUTHORITY)):
        if chosen(path):
            sim.tree.change(number, owner=owner)


@pytest.mark.parametrize("verb", VERBS)
def test_records_of_a_stranger_are_refused(verb: tuple[str, ...]) -> None:
    sim = build()
    compact(sim.client())
    owned_by(sim, "mallory", lambda path: path.endswith("/journal/000002.json"))
    before = sim.tree.digest()
    report = run(sim.client(), verb[0], "--tables", EVENTS, *verb[1:])
    (table,) = report["tables"]
    assert (report["exit_code"], table["outcome"], table["code"]) == (1, "refused", "UNTRUSTED_OWNER")
    assert "mallory" in table["reason"]
    assert "trusted_owners" in table["reason"]
    assert sim.tree.digest() == before


@pytest.mark.parametrize("verb", VERBS)
def test_records_of_ours_in_a_folder_of_somebody_else_are_refused(verb: tuple[str, ...]) -> None:
    """A file keeps its owner when it is renamed: one that a job has written tells nothing of who put it there."""
    sim = build()
    compact(sim.client())
    owned_by(
        sim, "mallory", lambda path: path.startswith(f"{HOME}/r1.") and path.count("/") == HOME.count("/") + 1
    )
    report = run(sim.client(), verb[0], "--tables", EVENTS, *verb[1:])
    assert [table["code"] for table in report["tables"]] == ["UNTRUSTED_OWNER"]


@pytest.mark.parametrize("mode", [0o775, 0o757])
def test_records_in_a_folder_that_others_may_write_to_are_refused(mode: int) -> None:
    sim = build()
    compact(sim.client())
    for path, number, _ in list(sim.tree.walk(HOME)):
        if path.startswith(f"{HOME}/r1.") and path.count("/") == HOME.count("/") + 1:
            sim.tree.change(number, mode=mode)
    report = run(sim.client(), "rollback", "--tables", EVENTS)
    (table,) = report["tables"]
    assert table["code"] == "UNTRUSTED_OWNER"
    assert "chmod go-w" in table["reason"]


@pytest.mark.parametrize("by", ["argument", "root"])
def test_records_of_trusted_accounts_count(by: str) -> None:
    """The account that the jobs had before, and the owner of the table."""
    sim = build()
    compact(sim.client())
    theirs = [f"{HOME}/", *([f"{AUTHORITY}/elsewhere/.lakekeeper"] if by == "argument" else [])]
    owned_by(sim, "before", lambda path: path.startswith(tuple(theirs)) or (by == "root" and path == ROOT))
    sim.tree.superuser = True
    trusted = ("--trusted-owners", "x,before") if by == "argument" else ()
    report = run(sim.client(), "rollback", "--tables", EVENTS, *trusted)
    assert report["exit_code"] == 0
    assert {unit["outcome"] for unit in report["tables"][0]["units"]} == {"restored"}
    assert check(sim) == []


def test_a_property_cannot_name_trusted_accounts() -> None:
    sim = build()
    compact(sim.client())
    owned_by(sim, "mallory", lambda path: path.endswith(".json"))
    declare(sim, EVENTS, "lakekeeper.trusted_owners", "mallory")
    report = run(sim.client(), "rollback", "--tables", EVENTS)
    assert [(table["outcome"], table["code"]) for table in report["tables"]] == [
        ("refused", "UNTRUSTED_OWNER")
    ]
    assert "PROPERTY_IGNORED: the property 'lakekeeper.trusted_owners'" in report["tables"][0]["warnings"][0]


def restored_in_place(sim: SimulatedCluster, path: str) -> None:
    """distcp -update -delete: directories that are there stay what they are, and all else is as in the copy."""
    for copied, _, inode in list(sim.tree.walk(f"{path}.backup")):
        place = f"{path}{copied[len(path) + len('.backup') :]}"
        if inode.is_dir:
            sim.tree.make_dirs(place)
        elif (there := sim.tree.get(place)) is None or there.content != inode.content:
            sim.tree.write(place, inode.content, overwrite=True)
    for found, _, _ in sorted(sim.tree.walk(path), reverse=True):
        if sim.tree.find(f"{path}.backup{found[len(path) :]}") is None:
            sim.tree.remove(found, recursive=True)


def test_a_backup_that_is_restored_into_the_directories_that_are_there_is_a_copy_too() -> None:
    """Taken in the middle of a run, and restored after that run was finished and cleaned up. Where the journal, too, is
    as it was then, what it says of the originals is not so any more: they are kept, and a person is asked."""
    for state in crash_states(build(), compact):
        sim = state.sim
        copy_of(sim, ROOT, f"{ROOT}.backup")
        run(sim.client(), "compact", "--tables", EVENTS)
        run(sim.client(), "cleanup", "--tables", EVENTS, *AT_ONCE)
        restored_in_place(sim, ROOT)
        writers.append(sim, f"{ROOT}/k=a", sim.ledger.fresh(2))
        for verb, *arguments in VERBS:
            report = run(sim.client(), verb, "--tables", EVENTS, *arguments)
            assert report["exit_code"] in (0, 3), (str(state), report)
            assert check(sim, journaled=True) == [], (str(state), verb)


def test_a_table_without_partitions_has_its_runs_where_its_home_was_moved_along() -> None:
    for state in crash_states(build(), lambda client: compact(client, FLAT)):
        home = f"{WAREHOUSE}/.lakekeeper-flat"
        if state.sim.tree.find(FLAT_ROOT) is None or state.sim.tree.find(home) is None:
            continue
        move(state.sim, FLAT, f"{WAREHOUSE}/moved")
        state.sim.tree.rename(home, f"{WAREHOUSE}/.lakekeeper-moved")
        for verb in ("compact", "rollback", "cleanup"):
            report = run(state.sim.client(), verb, "--tables", FLAT, *(AT_ONCE if verb == "cleanup" else ()))
            assert report["exit_code"] == 0, (str(state), report)
            assert check(state.sim) == [], (str(state), verb)
