"""Originals of a dropped table are cleaned up by the location that the table had, and its hidden directories go."""

from __future__ import annotations

import pytest

from spark_jobs.core.values.model import TableName
from tests.crash import writers
from tests.crash.crashes import crash_states
from tests.crash.flat_table import HOME, LIVE, compact, only, outcomes
from tests.crash.model_tree import AUTHORITY
from tests.crash.scenario import EVENTS, FLAT, WAREHOUSE, build, run
from tests.crash.simulated_cluster import Client, SimulatedCluster

ROOT = f"{WAREHOUSE}/events"
AT_ONCE = ("--older-than", "0s", "--skip-trash")


@pytest.fixture
def dropped() -> SimulatedCluster:
    """Both tables are compacted, and dropped then; their files stay, as external tables' do."""
    sim = build()
    run(sim.client(), "compact", "--tables", f"{EVENTS},{FLAT}", "--run-id", "r1")
    for name in (EVENTS, FLAT):
        sim.metastore.drop(TableName.parse(name))
    return sim


def _clean(sim: SimulatedCluster, location: str, *words: str) -> dict[str, object]:
    return run(sim.client(), "cleanup", "--location", location, *(words or AT_ONCE))


def _hidden(sim: SimulatedCluster) -> list[str]:
    return [
        path for path, _, inode in sim.tree.walk(AUTHORITY) if "/.lakekeeper" in path and not inode.is_dir
    ]


def _rows(sim: SimulatedCluster) -> list[str]:
    return [
        path for path, _, inode in sim.tree.walk(AUTHORITY) if "/.lakekeeper" not in path and not inode.is_dir
    ]


def test_by_name_it_is_not_found(dropped: SimulatedCluster) -> None:
    report = run(dropped.client(), "cleanup", "--table", FLAT, *AT_ONCE)
    assert only(report)["code"] == "NOT_FOUND"
    assert "--location" in only(report)["reason"]


def test_by_location_originals_backup_and_hidden_directories_go(dropped: SimulatedCluster) -> None:
    rows = _rows(dropped)
    for location, units in ((LIVE, 1), (ROOT, 3)):
        report = _clean(dropped, location)
        assert (outcomes(report), report["exit_code"]) == (["cleaned"] * units, 0)
    assert _hidden(dropped) == []
    assert _rows(dropped) == rows
    assert [name for name, _ in dropped.metastore.tables()] == []
    assert dropped.tree.find(HOME) is None


def test_a_dry_run_changes_nothing(dropped: SimulatedCluster) -> None:
    before = dropped.tree.digest()
    report = _clean(dropped, ROOT, *AT_ONCE, "--dry-run")
    assert (outcomes(report), report["exit_code"]) == (["flagged"] * 3, 0)
    assert dropped.tree.digest() == before


def test_what_is_not_past_its_retention_is_kept(dropped: SimulatedCluster) -> None:
    before = _hidden(dropped)
    report = _clean(dropped, LIVE, "--older-than", "365d")
    assert (report["outcome"], report["exit_code"]) == ("nothing", 0)
    assert [path for path in before if "__originals" in path] == [
        path for path in _hidden(dropped) if "__originals" in path
    ]


def test_the_location_of_a_table_is_refused() -> None:
    sim = build()
    compact(sim.client())
    report = _clean(sim, LIVE)
    assert (only(report)["code"], report["exit_code"]) == ("LOCATION_IN_USE", 1)
    assert "--table sales.flat" in only(report)["reason"]
    assert [path for path in _hidden(sim) if "__originals" in path]


@pytest.mark.parametrize("name", ["sales.renamed", "archive.events"])
def test_the_location_of_a_table_that_has_another_name_now_is_refused(
    dropped: SimulatedCluster, name: str
) -> None:
    writers.create_table(dropped, name, ROOT, keys=("k",))
    report = _clean(dropped, ROOT)
    assert only(report)["code"] == "LOCATION_IN_USE"
    assert name in only(report)["reason"]


def test_a_table_of_that_name_elsewhere_is_another_one(dropped: SimulatedCluster) -> None:
    writers.create_table(dropped, FLAT, f"{WAREHOUSE}/elsewhere/flat")
    assert _clean(dropped, LIVE)["exit_code"] == 0


def test_a_home_that_holds_anything_else_is_kept(dropped: SimulatedCluster) -> None:
    (folder,) = {
        path.split("/journal")[0]
        for path in _hidden(dropped)
        if path.startswith(HOME) and "/journal/" in path
    }
    dropped.tree.write(f"{folder}/__conflict_1772323200/flat/0/part-0.parquet", b"rows", parents=True)
    report = _clean(dropped, LIVE)
    assert report["exit_code"] == 0
    assert any("__conflict_1772323200" in text for text in only(report)["warnings"])
    assert dropped.tree.find(f"{folder}/__conflict_1772323200/flat/0/part-0.parquet") is not None


def test_a_home_of_settled_runs_goes_too(dropped: SimulatedCluster) -> None:
    """A run of the table was cleaned up, and folded by the next one, before the table was dropped."""
    register = dropped.copy()
    writers.create_table(register, FLAT, LIVE)
    run(register.client(), "cleanup", "--table", FLAT, *AT_ONCE)
    register.advance(2 * 24 * 3600)
    for _ in range(6):
        writers.append(register, LIVE, register.ledger.fresh(2))
    assert outcomes(compact(register.client(), FLAT, "r2")) == ["compacted"]
    assert [path for path in _hidden(register) if path.startswith(HOME) and "/settled/" in path]
    register.metastore.drop(TableName.parse(FLAT))
    assert _clean(register, LIVE)["exit_code"] == 0
    assert register.tree.find(HOME) is None


def test_where_there_is_nothing_it_says_so(dropped: SimulatedCluster) -> None:
    report = _clean(dropped, f"{WAREHOUSE}/nowhere")
    assert (report["outcome"], report["exit_code"]) == ("nothing", 0)
    assert "nowhere" in only(report)["reason"]


def test_originals_that_the_table_still_needs_elsewhere_are_kept(dropped: SimulatedCluster) -> None:
    """The table was created again over its originals: a person has made the backup its data."""
    (old,) = {
        path.rsplit("/", 1)[0]
        for path in _hidden(dropped)
        if path.startswith(HOME) and "/__originals" in path
    }
    writers.create_table(dropped, "sales.saved", old)
    assert only(_clean(dropped, LIVE))["code"] == "LOCATION_IN_USE"


@pytest.mark.parametrize("location", [LIVE, ROOT])
def test_a_kill_at_any_call_is_finished_by_the_next_try(dropped: SimulatedCluster, location: str) -> None:
    rows = _rows(dropped)

    def act(client: Client) -> object:
        return run(client, "cleanup", "--location", location, *AT_ONCE)

    for state in crash_states(dropped, act):
        report = _clean(state.sim, location)
        assert report["exit_code"] == 0, (str(state), only(report))
        assert _rows(state.sim) == rows, str(state)
        left = [path for path in _hidden(state.sim) if "/__originals" in path or "/__claimed" in path]
        assert [path for path in left if (path.startswith(HOME)) == (location == LIVE)] == [], str(state)


def test_an_interrupted_swap_ends_with_its_rows_in_the_directory() -> None:
    """The job died between the renames, and the table was dropped then."""
    sim = build()
    for state in crash_states(sim, lambda client: compact(client)):
        live = state.sim.tree.find(LIVE)
        state.sim.metastore.drop(TableName.parse(FLAT))
        _clean(state.sim, LIVE, "--older-than", "365d")
        assert state.sim.tree.files(LIVE) != [], (str(state), live)
