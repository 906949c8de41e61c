"""`check` finds each kind of damage, names the command that ends it, and changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from spark_jobs.core.messages.damage import DamageCode
from spark_jobs.core.records import journal
from spark_jobs.core.values.model import TableName
from tests.crash import writers
from tests.crash.checked import check, codes, findings, obey
from tests.crash.fault_injection import Fault, Killed, Point
from tests.crash.flat_table import (
    AT_ONCE,
    HOME,
    LIVE,
    append,
    clean_up,
    compact,
    into,
    only,
    originals,
    out,
    roll_back,
)
from tests.crash.model_tree import AUTHORITY
from tests.crash.oracle import check as lost
from tests.crash.planted_damage import DAY, PLANTS, Plant, first_file, rewritten_rows_exchanged
from tests.crash.scenario import EVENTS, FLAT, WAREHOUSE, build, run
from tests.crash.simulated_cluster import SimulatedCluster
from tests.crash.test_copied_tables import declare, restored_from_copy
from tests.crash.test_planted_journals import places, swap
from tests.crash.test_planted_journals import plant as plant_journal


@pytest.mark.parametrize("name", PLANTS)
def test_each_kind_of_damage_is_found_and_nothing_else(done: SimulatedCluster, name: str) -> None:
    plant = PLANTS[name]
    plant.do(done)
    report = check(done, FLAT, *plant.words)
    assert sorted(codes(report)) == sorted(plant.codes)
    assert report["exit_code"] == int(plant.damage)
    assert only(report)["outcome"] == ("damaged" if plant.damage else "done")


def test_each_code_is_planted() -> None:
    planted = {code for plant in PLANTS.values() for code in plant.codes}
    assert planted | {"ROWS_NOT_COMPARED"} == {code.name for code in DamageCode}


def test_damage_in_one_partition_hides_that_in_no_other() -> None:
    sim = build()
    compact(sim.client(), EVENTS)
    for value, place in (("a", f"{WAREHOUSE}/events/k=a"), ("c", f"{AUTHORITY}/elsewhere/c")):
        sim.tree.remove(place, recursive=True)
        assert ("LIVE_MISSING", {"k": value}) in [
            (f["code"], f["unit"]) for f in findings(check(sim, EVENTS))
        ]
    journal = next(path for path, _, _ in sim.tree.walk(f"{AUTHORITY}/elsewhere") if path.endswith("1.json"))
    sim.tree.write(journal, b"{", overwrite=True)
    assert sorted(set(codes(check(sim, EVENTS)))) == ["JOURNAL_UNREADABLE", "LIVE_MISSING"]


def test_findings_are_printed(done: SimulatedCluster, capsys: pytest.CaptureFixture[str]) -> None:
    PLANTS["originals_deleted"].do(done)
    place = findings(check(done))[0]["path"]
    shown = capsys.readouterr().out
    assert "sales.flat: 1 of damage, 0 notices" in shown
    assert f"damage  ORIGINALS_MISSING  {place}" in shown
    assert "command: lakekeeper forget --table sales.flat --run-id r1 --yes" in shown


def test_it_ends_with_what_is_left_of_ours(capsys: pytest.CaptureFixture[str]) -> None:
    sim, name = build(), TableName.parse(FLAT)

    def said() -> str:
        return capsys.readouterr().out.splitlines()[-1]

    def of_database() -> list[dict[str, Any]]:
        tables: list[dict[str, Any]] = run(sim.client(), "check", "--database", name.database)["tables"]
        return tables

    of_database()
    assert said().startswith("nothing of ours is left (")
    compact(sim.client(), FLAT)
    known = sim.metastore.get(name)
    declare(sim, FLAT, "lakekeeper.enabled", "true")
    (table,) = (table for table in of_database() if table["table"] == FLAT)
    assert table["left"] == [HOME, "lakekeeper.enabled"]
    assert "hidden directories: 1, backup tables: 1, properties of tables: 1" in said()
    clean_up(sim)
    sim.metastore.put(name, known)
    of_database()
    assert "left of ours: hidden directories: 1 (" in said()
    sim.tree.remove(HOME, recursive=True)
    of_database()
    assert said().startswith("nothing of ours is left (")


def test_a_check_of_one_table_says_that_it_looked_for_no_backup_tables(
    capsys: pytest.CaptureFixture[str],
) -> None:
    sim = build()
    check(sim, FLAT)
    table = capsys.readouterr().out
    run(sim.client(), "check", "--database", TableName.parse(FLAT).database)
    assert "not looked at: backup tables, for which check --database looks" in table
    assert "not looked at" not in capsys.readouterr().out


def test_nothing_is_left_is_not_said_of_what_was_not_looked_at(capsys: pytest.CaptureFixture[str]) -> None:
    sim = build()
    compact(sim.client(), FLAT)
    run(sim.client(), "check", "--database", "sales", "--include", "ev*")
    assert "not looked at: tables that are excluded" in capsys.readouterr().out.splitlines()[-1]
    run(sim.client(), "check", "--location", WAREHOUSE)
    assert "tables looked at: 0; not looked at: other places" in capsys.readouterr().out.splitlines()[-1]


def test_nothing_is_left_is_not_said_beside_a_finding(capsys: pytest.CaptureFixture[str]) -> None:
    """The home stays where the table was, and is not among those of the place where it is now."""
    sim, name = build(), TableName.parse(FLAT)
    compact(sim.client(), FLAT)
    table = sim.metastore.get(name)
    storage = replace(table.facts.storage, location=f"{WAREHOUSE}/flat2")
    sim.metastore.put(name, replace(table, facts=replace(table.facts, storage=storage)))
    assert codes(check(sim, FLAT))
    assert "left of ours: findings: " in capsys.readouterr().out.splitlines()[-1]


@pytest.mark.parametrize("location", [f"{WAREHOUSE}/flat", "s3a://bucket/flat"])
def test_a_property_of_a_table_that_is_not_checked_is_left_too(
    location: str, capsys: pytest.CaptureFixture[str]
) -> None:
    sim, name = build(), TableName.parse(FLAT)
    declare(sim, FLAT, "lakekeeper.enabled", "false")
    table = sim.metastore.get(name)
    kind = "VIEW" if location.startswith("hdfs:") else table.facts.kind
    storage = replace(table.facts.storage, location=location)
    sim.metastore.put(name, replace(table, facts=replace(table.facts, kind=kind, storage=storage)))
    run(sim.client(), "check", "--database", name.database)
    assert "left of ours: properties of tables: 1 (" in capsys.readouterr().out.splitlines()[-1]


@pytest.mark.parametrize("name", [name for name, plant in PLANTS.items() if plant.obeyed])
def test_the_command_of_a_finding_ends_it(done: SimulatedCluster, name: str) -> None:
    plant: Plant = PLANTS[name]
    plant.do(done)
    (finding,) = findings(check(done, FLAT, *plant.words))
    obey(done, finding["command"])
    assert finding["code"] not in codes(check(done, FLAT, *plant.words))
    assert check(done, FLAT)["exit_code"] == 0


def test_writers_that_overwrite_in_place_are_not_told_from_a_deletion(done: SimulatedCluster) -> None:
    """As a cleanup has it: while originals are held, the table property decides."""
    writers.overwrite_in_place(done, LIVE, done.ledger.fresh(3))
    (finding,) = findings(check(done))
    assert finding["code"] == "LIVE_CHANGED"
    assert "lakekeeper.writers=overwrite" in finding["message"]


def test_a_partition_that_no_run_has_rewritten_is_a_notice_without_its_directory() -> None:
    sim = build()
    place = writers.add_partition(sim, EVENTS, "d")
    sim.tree.remove(place, recursive=True)
    report = check(sim, EVENTS)
    assert [(f["code"], f["severity"]) for f in findings(report)] == [("LIVE_MISSING", "notice")]
    assert report["exit_code"] == 0


def _killed_between_the_renames(sim: SimulatedCluster) -> None:
    with pytest.raises(Killed):
        compact(sim.client(Fault.crash_after(out)))


def _copied(sim: SimulatedCluster) -> None:
    restored_from_copy(sim, HOME)


def _originals_deleted(sim: SimulatedCluster) -> None:
    sim.tree.remove(originals(sim), recursive=True)


@pytest.mark.parametrize("then", [_copied, _originals_deleted])
def test_the_only_copy_of_the_rows_is_named_before_the_next_job(
    then: Callable[[SimulatedCluster], None],
) -> None:
    """A copy is ignored, and a swap without originals is called off, so that no job puts these rows back."""
    sim = build()
    _killed_between_the_renames(sim)
    assert check(sim)["exit_code"] == 0
    then(sim)
    (finding,) = [finding for finding in findings(check(sim)) if finding["severity"] == "damage"]
    assert finding["code"] == "LIVE_MISSING"
    obey(sim, finding["command"])
    assert run(sim.client(), "cleanup", "--table", FLAT, *AT_ONCE)["exit_code"] == 0
    assert check(sim)["exit_code"] == 0
    assert lost(sim) == []


def test_a_copy_that_may_have_the_only_rows_is_not_to_be_deleted() -> None:
    sim = build()
    _killed_between_the_renames(sim)
    _copied(sim)
    (command,) = [f["command"] for f in findings(check(sim)) if f["code"] == "JOURNAL_OF_COPY"]
    assert command.startswith("hdfs dfs -mv ")


def test_rows_are_compared_only_where_asked(done: SimulatedCluster) -> None:
    rewritten_rows_exchanged(done)
    assert codes(check(done)) == []


def test_rows_that_were_added_since_do_not_prevent_the_comparison(done: SimulatedCluster) -> None:
    append(done)()
    assert codes(check(done, FLAT, "--read-data")) == []
    rewritten_rows_exchanged(done)
    assert codes(check(done, FLAT, "--read-data")) == ["ROWS_DIFFER"]


def _looks_at(place: str) -> Callable[[Point], bool]:
    return lambda point: point.op == "identity" and point.args[0] == place


def test_a_job_that_works_meanwhile_is_no_damage(done: SimulatedCluster) -> None:
    rolled_back = Fault.hook(_looks_at(originals(done)), lambda: roll_back(done))
    report = run(done.client(rolled_back), "check", "--table", FLAT)
    assert (codes(report), report["exit_code"]) == ([], 0)


def test_a_rollback_that_is_killed_meanwhile_is_not_taken_for_a_person(done: SimulatedCluster) -> None:
    def killed() -> None:
        with pytest.raises(Killed):
            roll_back(done, FLAT, Fault.crash_after(into))

    report = run(done.client(Fault.hook(_looks_at(originals(done)), killed)), "check", "--table", FLAT)
    assert (codes(report), report["exit_code"]) == (["RUN_UNFINISHED"], 0)


def test_a_partition_that_is_dropped_meanwhile_is_no_damage() -> None:
    sim = build()
    dropped = Fault.hook(
        _looks_at(f"{WAREHOUSE}/events/k=b"),
        lambda: writers.drop_partition(sim, EVENTS, "b", delete_data=True),
    )
    compact(sim.client(), EVENTS)
    report = run(sim.client(dropped), "check", "--table", EVENTS)
    assert (codes(report), report["exit_code"]) == ([], 0)


def test_a_job_at_work_is_named(done: SimulatedCluster) -> None:
    with pytest.raises(Killed):
        compact(done.client(Fault.crash_after(1)), EVENTS)
    PLANTS["run_killed"].do(done)
    assert any("a job is at work" in text for text in only(check(done))["warnings"])
    done.advance(DAY)
    assert "LEASE_STALE" in codes(check(done))


def test_a_view_or_a_backup_table_is_refused(done: SimulatedCluster) -> None:
    backup = next(name for name, _ in done.metastore.tables() if name.table.startswith("__bkp"))
    report = run(done.client(), "check", "--table", str(backup))
    assert (only(report)["code"], report["exit_code"]) == ("BACKUP", 1)
    report = run(done.client(), "check", "--database", "sales")
    assert report["exit_code"] == 0


def test_originals_that_were_moved_back_may_be_compacted_before_the_record_is_ended(
    done: SimulatedCluster,
) -> None:
    PLANTS["originals_moved_back"].do(done)
    assert compact(done.client(), run_id="r2")["exit_code"] == 0
    (finding,) = findings(check(done))
    assert (finding["code"], finding["run_id"]) == ("ORIGINALS_RESTORED", "r1")
    obey(done, finding["command"])
    assert codes(check(done)) == []
    assert clean_up(done)["exit_code"] == 0
    assert codes(check(done)) == []
    assert lost(done) == []


def test_a_cleanup_after_originals_were_moved_back_makes_no_damage(done: SimulatedCluster) -> None:
    """It registers the backup table again, and the metastore makes the directory that the table shows."""
    PLANTS["originals_moved_back"].do(done)
    PLANTS["backup_table_dropped"].do(done)
    assert clean_up(done)["exit_code"] == 3
    (finding,) = findings(check(done))
    assert finding["code"] == "ORIGINALS_RESTORED"
    obey(done, finding["command"])
    (finding,) = findings(check(done))
    assert (finding["code"], finding["severity"]) == ("ORIGINALS_FORGOTTEN", "notice")
    obey(done, finding["command"])
    assert codes(check(done)) == []
    assert lost(done) == []


def test_the_originals_of_a_cleanup_that_is_claimed_are_named(done: SimulatedCluster) -> None:
    failed = Fault.error_before(lambda point: point.op == "delete_tree")
    run(done.client(failed), "cleanup", "--table", FLAT, *AT_ONCE)
    assert set(codes(check(done))) <= {"RUN_UNFINISHED"}


def test_damage_is_found_after_a_cleanup_too(done: SimulatedCluster) -> None:
    """Then no rollback restores the rows."""
    assert clean_up(done)["exit_code"] == 0
    done.tree.remove(first_file(done, LIVE))
    (finding,) = findings(check(done))
    assert (finding["code"], finding["severity"]) == ("LIVE_CHANGED", "damage")
    assert "snapshot" in finding["command"]
    done.tree.remove(LIVE, recursive=True)
    (finding,) = findings(check(done))
    assert (finding["code"], finding["severity"]) == ("LIVE_MISSING", "damage")


def test_runs_of_another_table_in_the_same_directory_are_not_judged(done: SimulatedCluster) -> None:
    writers.create_table(done, "sales.second", LIVE)
    PLANTS["originals_deleted"].do(done)
    assert codes(check(done, "sales.second")) == []
    assert codes(check(done)) == ["ORIGINALS_MISSING"]


def test_an_intent_on_a_directory_that_is_no_partition_is_damage() -> None:
    sim = build()
    inner = f"{WAREHOUSE}/events/inner"
    sim.tree.make_dirs(inner)
    intent = swap(sim, f"{WAREHOUSE}/events/k=a", live=inner, **places("inner"))
    intent = replace(intent, new_id=f"hdfs:{sim.tree.find(inner)}")
    plant_journal(sim, (journal.PREPARED, {"swaps": [intent.to_json()]}))
    (finding,) = findings(check(sim, EVENTS))
    assert finding["code"] == "JOURNAL_UNREADABLE"
    assert f"{inner}, which is not a partition of this table" in finding["message"]


def test_the_rest_of_a_swap_that_was_forgotten_is_not_to_be_deleted(done: SimulatedCluster) -> None:
    """Its rewritten directory may be the only copy."""
    roll_back(done)
    with pytest.raises(Killed):
        compact(done.client(Fault.crash_before(out)), run_id="r2")
    new = next(
        path for path, _, _ in done.tree.walk(HOME) if "compact_tmp" in path and path.endswith("/flat")
    )
    done.tree.make_dirs(new.replace("__compact_tmp", "__originals"))
    assert compact(done.client(), run_id="r3")["exit_code"] == 3
    run(done.client(), "forget", "--table", FLAT, "--run-id", "r2", "--yes")
    found = findings(check(done))
    assert {finding["code"] for finding in found} == {"ORIGINALS_FORGOTTEN"}
    assert any("compact_tmp" in finding["path"] for finding in found)
    assert all(finding["command"].startswith("hdfs dfs -mv ") for finding in found)
