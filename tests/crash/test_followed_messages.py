"""Following a message to the letter loses or hides no row."""

from __future__ import annotations

import re

import pytest

from tests.crash import writers
from tests.crash.checked import findings
from tests.crash.exits import (
    CLEAN,
    FORGET,
    ROLL,
    ROOT,
    ask,
    claimed,
    compacted,
    drop,
    killed,
    must_end,
    old_of,
    reasons,
    set_location,
    twice,
)
from tests.crash.explorer import runs_of
from tests.crash.fault_injection import Fault, Killed
from tests.crash.flat_table import AT_ONCE, LIVE, append, compact, into
from tests.crash.model_tree import AUTHORITY
from tests.crash.oracle import check, live_rows
from tests.crash.scenario import EVENTS, FLAT, WAREHOUSE, build, run
from tests.crash.simulated_cluster import SimulatedCluster
from tests.crash.test_copied_tables import declare

OUTSIDE = f"{AUTHORITY}/elsewhere/c"
_MOVE = re.compile(r"hdfs dfs -mv '([^']+)' (?:'([^']+)'|<a directory outside the table>)")
_COPY = re.compile(r"hdfs dfs -cp -p '([^']+)' '([^']+)'")


def follow(sim: SimulatedCluster, text: str) -> None:
    """Do the moves as FsShell does them: into a directory that exists."""
    for number, (source, target) in enumerate(_MOVE.findall(text)):
        sim.tree.make_dirs(f"{AUTHORITY}/aside")
        sim.tree.raw_rename(source, target or f"{AUTHORITY}/aside/{number}")


def tear(sim: SimulatedCluster, run_id: str) -> None:
    found = next(each for each in runs_of(sim, [FLAT]) if each.run_id == run_id)
    name, _ = sorted(sim.tree.files(f"{found.directory}/journal"))[-1]
    sim.tree.write(f"{found.directory}/journal/{name}", b"{", overwrite=True)


def empty(sim: SimulatedCluster, place: str) -> None:
    for name, _ in sim.tree.files(place):
        sim.tree.remove(f"{place}/{name}")


@pytest.mark.parametrize("keys", [(), ("k",)])
def test_originals_of_a_partition_outside_the_root_stay_while_another_table_reads_it(
    keys: tuple[str, ...],
) -> None:
    sim = compacted(EVENTS)
    old = old_of(sim, "c")
    drop(sim, EVENTS)
    if keys:
        writers.create_table(sim, "sales.other", f"{WAREHOUSE}/other", keys=keys)
        writers.add_partition(sim, "sales.other", "c", location=OUTSIDE)
    else:
        writers.create_table(sim, "sales.other", OUTSIDE)
    empty(sim, OUTSIDE)
    ask(sim, "cleanup", "--location", ROOT, *AT_ONCE)
    assert sim.tree.find(old) is not None, "the only copy of the rows of sales.other was deleted"


@pytest.mark.parametrize("source", ["cleanup", "check"])
def test_outdated_originals_are_not_named_as_the_only_files(source: str) -> None:
    """r1 is settled and cannot be read; r2 died between its renames, and has the files of the table."""
    sim = compacted()
    for _ in range(6):
        append(sim)()
    with pytest.raises(Killed):
        compact(sim.client(Fault.crash_before(into)), run_id="r2")
    tear(sim, "r1")
    text = twice(sim, *CLEAN)
    if source == "check":
        (text,) = [
            f["command"]
            for f in findings(ask(sim, "check", "--table", FLAT))
            if f["code"] == "JOURNAL_UNREADABLE"
        ]
    follow(sim, text)
    ask(sim, "compact", "--table", FLAT, "--run-id", "r3")
    assert check(sim, resurrected=True) == [], text


def test_outdated_originals_are_not_put_back_where_the_live_directory_was_deleted() -> None:
    sim = compacted()
    for _ in range(6):
        append(sim)()
    must_end(sim, "compact", "--table", FLAT, "--run-id", "r2")
    tear(sim, "r1")
    sim.tree.remove(LIVE, recursive=True)
    text = twice(sim, *CLEAN)
    assert "docs/safety/manual-restore.md" in text
    follow(sim, text)
    assert sim.tree.find(LIVE) is None


def test_rows_added_before_an_interrupted_rollback_stay_when_its_journal_cannot_be_read() -> None:
    sim = compacted()
    for _ in range(2):
        append(sim)()
    with pytest.raises(Killed):
        run(sim.client(Fault.crash_before(into)), *ROLL)
    tear(sim, "r1")
    undone = sorted(
        path for path, _, inode in sim.tree.walk(WAREHOUSE) if "/__aside_" in path and not inode.is_dir
    )
    text = twice(sim, *CLEAN)
    assert "/__aside_" in text
    follow(sim, text)
    (command,) = [
        each["command"]
        for each in findings(ask(sim, "check", "--table", FLAT))
        if each["code"] == "JOURNAL_UNREADABLE"
    ]
    follow(sim, command)
    assert sorted(path for path, _, inode in sim.tree.walk(WAREHOUSE) if path in undone) == undone


def test_claimed_originals_are_not_copied_into_a_live_directory_that_exists() -> None:
    sim = compacted()
    place = claimed(sim)
    sim.tree.remove(f"{place}/{sim.tree.files(place)[0][0]}")
    empty(sim, LIVE)
    text = twice(sim, *CLEAN)
    copies = _COPY.findall(text)
    assert copies
    for source, target in copies:
        assert source.endswith("/*") or sim.tree.find(target) is None, text


def test_a_partition_that_was_renamed_with_its_directory_is_not_added_again() -> None:
    sim = compacted(EVENTS)
    sim.tree.rename(f"{ROOT}/k=a", f"{ROOT}/k=z")
    gone = sim.ledger.overwritten.copy()
    writers.drop_partition(sim, EVENTS, "a")
    sim.ledger.overwritten.clear()
    sim.ledger.overwritten.update(gone)
    writers.add_partition(sim, EVENTS, "z", location=f"{ROOT}/k=z")
    text = reasons(ask(sim, "rollback", "--table", EVENTS, "--run-id", "r1"))
    if "ADD PARTITION" in text:
        writers.add_partition(sim, EVENTS, "a", location=f"{ROOT}/k=a")
        if "-rmdir" in text:
            sim.tree.remove(f"{ROOT}/k=a")
        ask(sim, "rollback", "--table", EVENTS, "--run-id", "r1")
    assert check(sim) == [], text


def test_forget_by_location_does_not_end_runs_of_a_table_that_exists() -> None:
    """By its name, the recovery puts the originals back."""
    sim = killed(Fault.crash_before(into))
    (found,) = runs_of(sim, [FLAT])
    swap = next(iter(found.state.units.values())).swap
    sim.tree.remove(found.path(swap.new), recursive=True)
    ask(sim, "forget", "--location", LIVE, "--run-id", "r1", "--yes")
    ask(sim, "compact", "--table", FLAT, "--run-id", "r2")
    assert check(sim) == []


def test_rows_appended_where_a_partition_was_moved_to_are_named() -> None:
    """They are not read any more once the partition has its earlier location again."""
    sim = compacted(EVENTS)
    place = f"{WAREHOUSE}/archive/a"
    sim.tree.make_dirs(f"{WAREHOUSE}/archive")
    sim.tree.rename(f"{ROOT}/k=a", place)
    set_location(sim, EVENTS, place, "a")
    (name,) = [name for name, _ in sim.tree.files(place)]
    writers.append(sim, place, sim.ledger.fresh(2))
    sim.tree.remove(f"{place}/{name}")
    text = reasons(ask(sim, "cleanup", "--table", EVENTS, *AT_ONCE))
    assert f"Files in {place} are not read any more then: copy what the table needs" in text


def test_a_directory_that_another_partition_reads_is_looked_at() -> None:
    """k=a was given another directory, and k=z its old one, which is empty now."""
    sim = compacted(EVENTS)
    old = old_of(sim, "a")
    other = f"{WAREHOUSE}/archive/a"
    writers.append(sim, other, sim.ledger.fresh(2))
    set_location(sim, EVENTS, other, "a")
    writers.add_partition(sim, EVENTS, "z", location=f"{ROOT}/k=a")
    empty(sim, f"{ROOT}/k=a")
    ask(sim, "cleanup", "--table", EVENTS, *AT_ONCE)
    assert sim.tree.find(old) is not None


@pytest.mark.parametrize("kind", ["append", "overwrite"])
def test_no_row_is_lost_after_outdated_originals_were_put_back(kind: str) -> None:
    """The message of r1 is followed, and then that of r2: the property is set, and the cleanup ends."""
    sim = compacted()
    for _ in range(6):
        append(sim)()
    with pytest.raises(Killed):
        compact(sim.client(Fault.crash_before(into)), run_id="r2")
    tear(sim, "r1")
    follow(sim, twice(sim, *CLEAN))
    declare(sim, FLAT, "lakekeeper.writers", kind)
    for _ in range(2):
        sim.advance(60)
        ask(sim, *CLEAN)
    assert check(sim, journaled=True) == []


def test_a_run_that_holds_outdated_originals_is_only_moved_away() -> None:
    sim = compacted()
    for _ in range(6):
        append(sim)()
    with pytest.raises(Killed):
        compact(sim.client(Fault.crash_before(into)), run_id="r2")
    tear(sim, "r1")
    found = next(each for each in re.findall(r"'([^']+/r1[.][0-9a-f]+)'", twice(sim, *CLEAN)))
    sim.tree.make_dirs(f"{AUTHORITY}/aside")
    sim.tree.rename(found, f"{AUTHORITY}/aside/r1")
    ask(sim, "compact", "--table", FLAT, "--run-id", "r3")
    assert check(sim) == []


def test_forget_by_name_restores_first() -> None:
    sim = killed(Fault.crash_before(into))
    (found,) = runs_of(sim, [FLAT])
    swap = next(iter(found.state.units.values())).swap
    sim.tree.remove(found.path(swap.new), recursive=True)
    ask(sim, *FORGET)
    assert check(sim) == []


def test_a_reader_of_a_dropped_tables_directory_gets_its_rows_back() -> None:
    """k=a was between the renames, and its rewritten directory is gone, when the table was dropped."""
    live = f"{ROOT}/k=a"
    sim = killed(Fault.crash_before(lambda p: p.op == "rename" and p.args[1] == live), EVENTS)
    for each in runs_of(sim, [EVENTS]):
        for unit in each.state.units.values():
            if unit.swap.live == live:
                sim.tree.remove(each.path(unit.swap.new), recursive=True)
    drop(sim, EVENTS)
    writers.create_table(sim, "sales.a", live)
    sim.tree.remove(live)  # the metastore has created it
    report = ask(sim, "cleanup", "--location", ROOT, *AT_ONCE)
    assert live_rows(sim, "sales.a"), (reasons(report), report["tables"][0]["warnings"])


def with_a_late_file_in_the_originals() -> SimulatedCluster:
    """The run of sales.flat died after both renames; a writer has closed a file in its originals meanwhile."""
    sim = build()
    writers.create_table(sim, "sales.twin", LIVE)
    killed(Fault.crash_after(into), sim=sim)
    (found,) = runs_of(sim, [FLAT])
    old = found.path(next(iter(found.state.units.values())).swap.old)
    writers.append(sim, old, sim.ledger.fresh(2))
    for _ in range(6):
        append(sim)()
    return sim


def test_a_late_file_in_the_originals_of_a_twin_stays_a_row_of_the_table() -> None:
    sim = with_a_late_file_in_the_originals()
    compact(sim.client(), "sales.twin", "r2")
    for _ in range(2):
        sim.advance(60)
        run(sim.client(), "cleanup", "--table", FLAT, *AT_ONCE)
    assert check(sim, [EVENTS, FLAT], repaired=False) == []


def test_a_late_file_is_moved_by_the_recovery() -> None:
    sim = with_a_late_file_in_the_originals()
    ask(sim, "cleanup", "--table", FLAT, "--older-than", "36500d")
    assert check(sim, [EVENTS, FLAT], repaired=False) == []
