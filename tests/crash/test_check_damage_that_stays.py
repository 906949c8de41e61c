"""Damage that stays is reported as damage, also beside jobs and writers."""

from __future__ import annotations

import pytest

from tests.crash.checked import findings
from tests.crash.exits import CLEAN, MONTH, ROOT, ask, compacted, drop, must_end, reasons
from tests.crash.explorer import runs_of
from tests.crash.fault_injection import Fault, Killed
from tests.crash.flat_table import LIVE, append, compact, written
from tests.crash.model_tree import AUTHORITY
from tests.crash.scenario import EVENTS, FLAT, WAREHOUSE, build, run
from tests.crash.simulated_cluster import SimulatedCluster
from tests.crash.test_copied_tables import declare

OUTSIDE = f"{AUTHORITY}/elsewhere/c"


def tear(sim: SimulatedCluster, run_id: str) -> None:
    found = next(each for each in runs_of(sim, [FLAT]) if each.run_id == run_id)
    name, _ = sorted(sim.tree.files(f"{found.directory}/journal"))[-1]
    sim.tree.write(f"{found.directory}/journal/{name}", b"{", overwrite=True)


def test_a_dead_writer_of_another_table_does_not_hide_a_missing_directory() -> None:
    sim = compacted()
    sim.tree.remove(LIVE, recursive=True)
    sim.tree.make_dirs(f"{WAREHOUSE}/.hive-staging_hive_of-another-table")
    sim.advance(MONTH)
    report = ask(sim, "check", "--table", FLAT)
    assert report["exit_code"] == 1, findings(report)


def test_damage_that_each_look_finds_is_damage_also_beside_a_job() -> None:
    """A job at work on the table appends records; the table has lost its directory c long before."""
    sim = compacted(EVENTS)
    sim.tree.remove(OUTSIDE, recursive=True)
    for _ in range(6):
        append(sim, f"{ROOT}/k=a")()
    with pytest.raises(Killed):
        compact(sim.client(Fault.crash_before(written)), EVENTS, "r2")
    run2 = next(
        each for each in runs_of(sim, [EVENTS]) if each.run_id == "r2" and f"{ROOT}/" in each.directory
    )
    count = [0]

    def record() -> None:
        count[0] += 1
        sim.tree.write(f"{run2.directory}/journal/.{count[0]:06d}-x", b"{}", overwrite=True)

    hooks = [Fault.hook(lambda p, n=n: p.op == "table" and count[0] == n, record) for n in range(40)]
    report = run(sim.client(*hooks), "check", "--table", EVENTS)
    assert count[0] > 4, "premise"
    assert report["exit_code"] == 1, findings(report)


def test_a_dropped_table_with_one_unreadable_run_has_no_other_damage() -> None:
    sim = compacted()
    for _ in range(6):
        append(sim)()
    must_end(sim, "compact", "--table", FLAT, "--run-id", "r2")
    tear(sim, "r1")
    drop(sim)
    found = findings(ask(sim, "check", "--location", LIVE))
    assert {f["code"] for f in found if f["severity"] == "damage"} == {"JOURNAL_UNREADABLE"}, found


def test_a_missing_directory_is_damage() -> None:
    sim = compacted()
    sim.tree.remove(LIVE, recursive=True)
    assert ask(sim, "check", "--table", FLAT)["exit_code"] == 1


def test_one_lost_file_of_two_is_damage_also_where_writers_overwrite() -> None:
    sim = build(files=20)
    declare(sim, FLAT, "lakekeeper.writers", "overwrite")
    report = run(sim.client(), "compact", "--table", FLAT, "--run-id", "r1", "--target-file-size", "160")
    files = [name for name, _ in sim.tree.files(LIVE)]
    assert len(files) > 1, ("premise", files, reasons(report))
    must_end(sim, *CLEAN)
    sim.tree.remove(f"{LIVE}/{files[0]}")
    report = ask(sim, "check", "--table", FLAT)
    assert report["exit_code"] == 1, findings(report)
