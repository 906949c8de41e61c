"""Beside Lakekeeper 0.0.6: its backup tables hold the only copies that its rollback knows."""

from __future__ import annotations

import re
from typing import Any

import pytest

from spark_jobs.protocol.execution.backup_table import backup_names
from tests.crash import writers
from tests.crash.fault_injection import Fault, Killed
from tests.crash.flat_table import LIVE, into, out
from tests.crash.oracle import check, live_rows
from tests.crash.scenario import FLAT, WAREHOUSE, build, run
from tests.crash.simulated_cluster import SimulatedCluster

TABLE, OLD = "sales.__bkp_lakekeeper_events_20260225_143000", "__old_1772054071"
#: What it leaves, and what a message says of it.
LEFT = [
    (OLD, "holds originals of Lakekeeper 0.0.6, and may be the only copy"),
    (
        "__compact_tmp_1772054071",
        "was written by a compaction of Lakekeeper 0.0.6 that is at work or has died, and may be the only copy",
    ),
]


@pytest.fixture
def sim() -> SimulatedCluster:
    return build()


def fill(sim: SimulatedCluster, *places: str) -> None:
    for place in places:
        for _ in range(4):
            writers.append(sim, place, sim.ledger.fresh(2))


def only(report: dict[str, Any]) -> dict[str, Any]:
    (table,) = report["tables"]
    return table


@pytest.mark.parametrize("verb", ["analyze", "compact"])
@pytest.mark.parametrize("keys", [(), ("date",)])
def test_its_backup_tables_are_left_alone(sim: SimulatedCluster, verb: str, keys: tuple[str, ...]) -> None:
    """Before: a nightly run over the database compacted them, and its rollback restored other files."""
    root = f"{WAREHOUSE}/lakekeeper_events{'' if keys else OLD}"
    writers.create_table(sim, TABLE, root, keys=keys)
    places = [root]
    if keys:
        places = [
            writers.add_partition(sim, TABLE, day, location=f"{root}/date={day}{OLD}")
            for day in ("2026-02-23", "2026-02-24")
        ]
    fill(sim, *places)
    before = live_rows(sim, TABLE), [sim.tree.files(place) for place in places]
    report = run(sim.client(), verb, "--table", TABLE)
    assert (only(report)["outcome"], only(report)["code"]) == ("refused", "LEGACY_BACKUP")
    assert (live_rows(sim, TABLE), [sim.tree.files(place) for place in places]) == before
    assert check(sim, repaired=False) == []


@pytest.mark.parametrize("keys", [(), ("date",)])
@pytest.mark.parametrize("verb", ["rollback", "cleanup", "history"])
@pytest.mark.parametrize(("left", "said"), LEFT)
def test_who_asks_for_what_it_keeps_is_told_whose_it_is(
    sim: SimulatedCluster, left: str, said: str, verb: str, keys: tuple[str, ...]
) -> None:
    root = f"{WAREHOUSE}/moved"
    writers.create_table(sim, "sales.moved", root, keys=keys)
    place = writers.add_partition(sim, "sales.moved", "2026-02-23") if keys else root
    fill(sim, place)
    sim.tree.write(f"{place}{left}/part-0.parquet", b"x", parents=True)
    before = sim.digest()
    report = run(sim.client(), verb, "--table", "sales.moved")
    assert report["exit_code"] == 0
    assert f"{place}{left} {said}" in only(report)["reason"]
    assert sim.digest() == before
    report = run(sim.client(), "compact", "--table", "sales.moved")
    (unit,) = only(report)["units"] or [only(report)]
    assert unit["code"] == "LEGACY_LEFTOVER"
    assert f"{place}{left} {said}" in unit["reason"]
    assert "What Lakekeeper 0.0.6 has left" in unit["reason"]
    sim.tree.remove(f"{place}{left}", recursive=True)
    report = run(sim.client(), "compact", "--table", "sales.moved")
    assert [unit["outcome"] for unit in only(report)["units"]] == ["compacted"]


@pytest.mark.parametrize("keys", [(), ("date",)])
def test_where_it_died_between_its_renames_the_only_copy_is_named(
    sim: SimulatedCluster, keys: tuple[str, ...]
) -> None:
    root = f"{WAREHOUSE}/moved"
    writers.create_table(sim, "sales.moved", root, keys=keys)
    place = writers.add_partition(sim, "sales.moved", "2026-02-23") if keys else root
    fill(sim, place)
    sim.tree.rename(place, f"{place}{OLD}")
    sim.tree.write(f"{place}__compact_tmp_1772054071/part-0.parquet", b"x", parents=True)
    for verb in ("analyze", "compact"):
        report = run(sim.client(), verb, "--table", "sales.moved")
        (unit,) = only(report)["units"] or [only(report)]
        assert unit["code"] == "LEGACY_LEFTOVER"
        assert f"{place}{OLD} {LEFT[0][1]}" in unit["reason"]
    sim.tree.remove(f"{place}__compact_tmp_1772054071", recursive=True)
    sim.tree.rename(f"{place}{OLD}", place)
    report = run(sim.client(), "compact", "--table", "sales.moved")
    assert [unit["outcome"] for unit in only(report)["units"]] == ["compacted"]


@pytest.mark.parametrize("keys", [(), ("date",)])
@pytest.mark.parametrize("compacted_here_before", [False, True])
@pytest.mark.parametrize(("left", "said"), LEFT)
def test_of_a_missing_directory_what_it_has_left_is_named_and_nobody_is_told_to_drop_or_to_roll_back(
    sim: SimulatedCluster, left: str, said: str, keys: tuple[str, ...], compacted_here_before: bool
) -> None:
    """It is newer than originals of this program: a rollback would lose what was written since, without a word."""
    root = f"{WAREHOUSE}/moved"
    writers.create_table(sim, "sales.moved", root, keys=keys)
    place = writers.add_partition(sim, "sales.moved", "2026-02-23") if keys else root
    fill(sim, place)
    if compacted_here_before:
        run(sim.client(), "compact", "--table", "sales.moved")
        fill(sim, place)
    sim.tree.rename(place, f"{place}{left}")
    report = run(sim.client(), "check", "--table", "sales.moved")
    (found,) = [each for each in only(report)["findings"] if each["code"] == "LIVE_MISSING"]
    assert f"{place}{left} {said}" in found["message"]
    assert (found["severity"], found["command"], report["exit_code"]) == ("damage", None, 1)
    files = sim.tree.files(f"{place}{left}")
    report = run(sim.client(), "rollback", "--table", "sales.moved")
    assert (sim.tree.files(f"{place}{left}"), sim.tree.get(place)) == (files, None)
    texts = [only(report)["reason"] or "", *(unit["reason"] for unit in only(report)["units"])]
    assert any(f"{place}{left} {said}" in text for text in texts)
    assert report["exit_code"] == (1 if compacted_here_before else 0)


@pytest.mark.parametrize(
    ("verb", "words"), [("compact", ()), ("rollback", ()), ("cleanup", ("--older-than", "7d"))]
)
@pytest.mark.parametrize("died", ["before its renames", "after its renames", "in a rollback"])
@pytest.mark.parametrize(("left", "said"), LEFT)
def test_no_recovery_puts_older_rows_beside_newer_ones_that_it_has_moved(
    sim: SimulatedCluster, left: str, said: str, died: str, verb: str, words: tuple[str, ...]
) -> None:
    fault = Fault.crash_after(into) if died == "after its renames" else Fault.crash_before(out)
    job = "rollback" if died == "in a rollback" else "compact"
    if job == "rollback":
        run(sim.client(), "compact", "--table", FLAT)
    with pytest.raises(Killed):
        run(sim.client(fault), job, "--table", FLAT)
    fill(sim, LIVE)
    rows = live_rows(sim, FLAT)
    sim.tree.rename(LIVE, f"{LIVE}{left}")
    found = run(sim.client(), "check", "--table", FLAT)
    (missing,) = [each for each in only(found)["findings"] if each["code"] == "LIVE_MISSING"]
    assert (missing["command"], f"{LIVE}{left} {said}" in missing["message"]) == (None, True)
    run(sim.client(), verb, "--table", FLAT, *words)
    assert sim.tree.get(LIVE) is None
    sim.tree.rename(f"{LIVE}{left}", LIVE)
    assert run(sim.client(), "compact", "--table", FLAT)["exit_code"] == 0
    assert live_rows(sim, FLAT) == rows
    assert check(sim) == []


def test_a_cleanup_names_what_it_has_left_and_no_rollback(sim: SimulatedCluster) -> None:
    run(sim.client(), "compact", "--table", FLAT)
    sim.tree.rename(LIVE, f"{LIVE}{OLD}")
    (unit,) = only(run(sim.client(), "cleanup", "--table", FLAT, "--older-than", "0s", "--skip-trash"))[
        "units"
    ]
    assert (unit["outcome"], f"{LIVE}{OLD} {LEFT[0][1]}" in unit["reason"]) == ("quarantined", True)
    assert "lakekeeper rollback" not in unit["reason"]


def test_where_it_cannot_be_told_what_it_has_left_nothing_is_restored_and_a_hint_is_left_out(
    sim: SimulatedCluster,
) -> None:
    run(sim.client(), "compact", "--table", FLAT)
    sim.tree.rename(LIVE, f"{LIVE}{OLD}")
    unreadable = Fault.error_before(lambda point: point.op == "list" and point.args[0] == WAREHOUSE)
    run(sim.client(unreadable), "rollback", "--table", FLAT)
    assert sim.tree.get(LIVE) is None
    sim.tree.rename(f"{LIVE}{OLD}", LIVE)
    run(sim.client(), "rollback", "--table", FLAT)
    unreadable = Fault.error_before(lambda point: point.op == "list" and point.args[0] == WAREHOUSE)
    report = run(sim.client(unreadable), "rollback", "--table", FLAT)
    assert (only(report)["reason"], report["exit_code"]) == ("nothing to restore", 0)


@pytest.mark.parametrize("newest", ["__old_1772154071", "__compact_tmp_1772154071"])
def test_of_several_runs_what_the_newest_one_has_left_is_named_first(
    sim: SimulatedCluster, newest: str
) -> None:
    """Also if it is what was written: a cleanup has deleted its originals, and those of an earlier run have less."""
    root = f"{WAREHOUSE}/moved"
    writers.create_table(sim, "sales.moved", root)
    fill(sim, root)
    sim.tree.rename(root, f"{root}{newest}")
    sim.tree.write(f"{root}{OLD}/part-0.parquet", b"x", parents=True)
    said = dict(LEFT)[OLD if "__old" in newest else LEFT[1][0]]
    for verb in ("compact", "rollback"):
        reason = only(run(sim.client(), verb, "--table", "sales.moved"))["reason"]
        assert f"{root}{newest} {said} (and {root}{OLD} of it or of earlier runs)" in reason


def test_of_one_run_the_originals_are_named_first(sim: SimulatedCluster) -> None:
    root = f"{WAREHOUSE}/moved"
    writers.create_table(sim, "sales.moved", root)
    fill(sim, root)
    sim.tree.rename(root, f"{root}{OLD}")
    sim.tree.write(f"{root}{LEFT[1][0]}/part-0.parquet", b"x", parents=True)
    reason = only(run(sim.client(), "compact", "--table", "sales.moved"))["reason"]
    assert f"{root}{OLD} {LEFT[0][1]} (and {root}{LEFT[1][0]} of it or of earlier runs)" in reason


@pytest.mark.parametrize(("left", "said"), LEFT)
def test_what_it_has_moved_into_a_live_directory_is_told_from_other_folders(
    sim: SimulatedCluster, left: str, said: str
) -> None:
    """A load created the directory again between its renames: the second one moved into it."""
    root = f"{WAREHOUSE}/moved"
    writers.create_table(sim, "sales.moved", root)
    fill(sim, root)
    inner = f"{root}/moved{left}"
    sim.tree.write(f"{inner}/part-0.parquet", b"x", parents=True)
    for verb in ("analyze", "compact"):
        report = only(run(sim.client(), verb, "--table", "sales.moved"))
        assert (report["code"], f"{inner} {said}" in report["reason"]) == ("LEGACY_LEFTOVER", True)
    for verb in ("rollback", "cleanup", "history"):
        assert f"{inner} {said}" in only(run(sim.client(), verb, "--table", "sales.moved"))["reason"]


@pytest.mark.parametrize("verb", ["rollback", "cleanup"])
def test_what_it_has_left_is_named_also_beside_runs_of_this_program(sim: SimulatedCluster, verb: str) -> None:
    """As while a table is migrated: one partition is its, another one ours."""
    writers.create_table(sim, "sales.moved", f"{WAREHOUSE}/moved", keys=("k",))
    for value in "ab":
        fill(sim, writers.add_partition(sim, "sales.moved", value))
    sim.tree.write(f"{WAREHOUSE}/moved/k=a{OLD}/part-0.parquet", b"x", parents=True)
    run(sim.client(), "compact", "--table", "sales.moved")
    run(sim.client(), "cleanup", "--table", "sales.moved", "--older-than", "0s", "--skip-trash")
    words = ("--older-than", "7d") if verb == "cleanup" else ()
    said = only(run(sim.client(), verb, "--table", "sales.moved", *words))["reason"]
    assert f"{WAREHOUSE}/moved/k=a{OLD} {LEFT[0][1]}" in said


def test_nobody_is_told_to_register_what_it_has_left(sim: SimulatedCluster) -> None:
    writers.create_table(sim, "sales.moved", f"{WAREHOUSE}/moved", keys=("k",))
    sim.tree.write(f"{WAREHOUSE}/moved/k=a{OLD}/part-0.parquet", b"x", parents=True)
    report = run(sim.client(), "analyze", "--table", "sales.moved")
    assert "MSCK" not in str(only(report))
    sim.tree.write(f"{WAREHOUSE}/moved/k=a/part-0.parquet", b"x", parents=True)
    assert "1 directory" in str(only(run(sim.client(), "analyze", "--table", "sales.moved")))


@pytest.mark.parametrize("verb", ["rollback", "cleanup", "history"])
def test_originals_of_other_partitions_are_no_earlier_ones(sim: SimulatedCluster, verb: str) -> None:
    writers.create_table(sim, "sales.moved", f"{WAREHOUSE}/moved", keys=("k",))
    for value, stamp in (("a", "1772154071"), ("b", "1772054071"), ("c", "1772054071")):
        place = writers.add_partition(sim, "sales.moved", value)
        fill(sim, place)
        sim.tree.write(f"{place}__old_{stamp}/part-0.parquet", b"x", parents=True)
    said = only(run(sim.client(), verb, "--table", "sales.moved"))["reason"]
    assert f"{WAREHOUSE}/moved/k=a__old_1772154071 {LEFT[0][1]}. " in said
    assert said.endswith("; 2 other partitions beside it have some too")


def test_a_backup_table_that_still_reads_the_table_itself_is_left_alone(sim: SimulatedCluster) -> None:
    """Else its rows are compacted by its name, and a rollback of the table does not know of that."""
    table = "sales.__bkp_events_20260225_143000"
    writers.create_table(sim, table, f"{WAREHOUSE}/elsewhere", keys=("k",))
    fill(sim, writers.add_partition(sim, table, "a", location=f"{WAREHOUSE}/events/k=a"))
    report = run(sim.client(), "compact", "--table", table)
    assert (only(report)["outcome"], only(report)["code"]) == ("refused", "LEGACY_BACKUP")


def test_a_leftover_that_is_registered_as_a_partition_is_not_compacted(sim: SimulatedCluster) -> None:
    """MSCK REPAIR TABLE adds it, as the value of its name."""
    writers.create_table(sim, "sales.msck", f"{WAREHOUSE}/msck", keys=("k",))
    fill(
        sim,
        writers.add_partition(sim, "sales.msck", "a"),
        writers.add_partition(sim, "sales.msck", f"a{OLD}"),
    )
    before = sim.tree.files(f"{WAREHOUSE}/msck/k=a{OLD}")
    units = only(run(sim.client(), "compact", "--table", "sales.msck"))["units"]
    assert {unit["unit"]["k"]: unit["code"] for unit in units} == dict.fromkeys(
        ("a", f"a{OLD}"), "LEGACY_LEFTOVER"
    )
    assert "rows are read under a wrong value, and twice if they are live too" in units[1]["reason"]
    assert sim.tree.files(f"{WAREHOUSE}/msck/k=a{OLD}") == before


@pytest.mark.parametrize("verb", ["rollback", "cleanup", "history"])
def test_a_whole_database_is_not_searched_for_it(sim: SimulatedCluster, verb: str) -> None:
    """Its tables may be many, and each one that was never compacted would be listed each night."""
    roots = {WAREHOUSE, f"{WAREHOUSE}/events", f"{WAREHOUSE}/flat"}
    words, client = ("--older-than", "7d") if verb == "cleanup" else (), sim.client()
    assert run(client, verb, "--database", "sales", *words)["exit_code"] == 0
    assert {point.args[0] for point in client.trace if point.op == "list"} & roots == set()


def test_it_does_not_take_our_backup_tables_for_its_own(sim: SimulatedCluster) -> None:
    """Its rollback moves a table to what `<prefix>_<table>_...` reads; its cleanup drops what looks like an orphan."""
    for name in ("snap_20240301_020000", "snap"):
        writers.create_table(sim, f"sales.{name}", f"{WAREHOUSE}/{name}")
        fill(sim, f"{WAREHOUSE}/{name}")
    report = run(sim.client(), "compact", "--database", "sales")
    names = {table["table"]: table["backup_table"] for table in report["tables"] if table["backup_table"]}
    assert len(names) > 1
    for table, backup in names.items():
        name = backup.split(".")[1]
        assert not name.startswith(f"__bkp_{table.split('.')[1]}_")
        assert not re.fullmatch(r"__bkp_(.+)_\d{8}_\d{6}", name)
        assert backup_names("__bkp", table.split(".")[1]).fullmatch(name), "or a check does not look at it"


def test_a_partition_whose_value_looks_like_that_is_one_like_any_other(sim: SimulatedCluster) -> None:
    writers.create_table(sim, "sales.odd", f"{WAREHOUSE}/odd", keys=("k",))
    fill(sim, writers.add_partition(sim, "sales.odd", f"a{OLD}"))
    report = run(sim.client(), "compact", "--table", "sales.odd")
    assert [unit["outcome"] for unit in only(report)["units"]] == ["compacted"]
    assert check(sim) == []
