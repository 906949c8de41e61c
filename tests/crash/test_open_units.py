"""Units that are found night after night and never compacted: reports say since when, and what each night has met."""

from __future__ import annotations

from typing import Any

import pytest

from spark_jobs.core.values.layout import Home
from spark_jobs.protocol.planning import planner
from tests.crash import writers
from tests.crash.model_spark import ModelRewriter
from tests.crash.scenario import WAREHOUSE, run
from tests.crash.simulated_cluster import SimulatedCluster

TABLE, PLACE = "sales.waiting", f"{WAREHOUSE}/waiting"


def cluster() -> SimulatedCluster:
    sim = SimulatedCluster()
    writers.create_table(sim, TABLE, PLACE, keys=("k",))
    for value in ("a", "b"):
        add_files(sim, value)
    return sim


def add_files(sim: SimulatedCluster, value: str) -> None:
    location = f"{PLACE}/k={value}"
    if sim.tree.get(location) is None:
        location = writers.add_partition(sim, TABLE, value)
    for _ in range(3):
        writers.append(sim, location, sim.ledger.fresh(3))


def units(sim: SimulatedCluster, verb: str = "analyze", *words: str) -> dict[str, dict[str, Any]]:
    (table,) = run(sim.client(), verb, "--table", TABLE, *words)["tables"]
    return {unit["unit"]["k"]: unit for unit in table["units"]}


def night(sim: SimulatedCluster, *words: str) -> dict[str, dict[str, Any]]:
    """Return what the analysis of a night says; then the table is compacted."""
    sim.advance(24 * 3600)
    found = units(sim)
    units(sim, "compact", *words)
    return found


def test_a_unit_that_is_deferred_each_night_is_named_with_the_reason_of_each() -> None:
    sim, first_in_order = cluster(), ("--max-units", "1", "--order", "bytes-asc")
    writers.append(sim, f"{PLACE}/k=b", sim.ledger.fresh(100))
    for _ in range(3):
        night(sim, *first_in_order, "--max-bytes", "100b")
    found = night(sim)
    assert found["b"]["open_days"] == 4
    attempts = found["b"]["open_attempts"]
    assert [each["outcome"] for each in attempts] == ["deferred"] * 3
    assert len({each["at"][:10] for each in attempts}) == 3
    assert all(each["reason"].startswith("max_") for each in attempts)
    assert found["b"]["open_since"] <= attempts[0]["at"]
    assert not [unit for unit in night(sim).values() if "open_since" in unit]


@pytest.fixture
def a_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rewrite of one unit fails."""
    write = ModelRewriter.write

    def fail(self: ModelRewriter, request: Any) -> Any:
        if request.directory.endswith("k=a"):
            raise OSError("no space left")
        return write(self, request)

    monkeypatch.setattr(ModelRewriter, "write", fail)


@pytest.mark.usefixtures("a_fails")
def test_a_unit_that_is_undone_each_night_with_the_run_is_named() -> None:
    sim = cluster()
    for _ in range(3):
        found = night(sim, "--verify", "hash", "--on-failure", "undo")
    assert [found[key]["open_days"] for key in "ab"] == [3, 3]
    assert [each["outcome"] for each in found["b"]["open_attempts"]] == ["restored", "restored"]


@pytest.mark.usefixtures("a_fails")
def test_a_unit_that_fails_each_night_is_named_with_the_error() -> None:
    sim = cluster()
    for _ in range(3):
        found = night(sim, "--verify", "hash")
    assert "open_since" not in found.get("b", {})
    assert found["a"]["open_days"] == 3
    assert ["no space left" in each["reason"] for each in found["a"]["open_attempts"]] == [True, True]


def test_no_home_is_created_for_what_is_refused_each_night() -> None:
    """Reports name it anyhow, and nothing of this program is in a table that it has never changed."""
    sim = cluster()
    sim.tree.snapshottable = frozenset(f"{PLACE}/k={value}" for value in "ab")
    for _ in range(2):
        assert {unit["code"] for unit in night(sim).values()} == {"SNAPSHOTTABLE"}
    assert [path for path, _, _ in sim.tree.walk(WAREHOUSE) if ".lakekeeper" in path] == []


def test_what_is_compacted_or_healthy_again_begins_anew() -> None:
    sim = cluster()
    for _ in range(3):
        night(sim, "--max-units", "1", "--order", "none")
        add_files(sim, "a")
    assert "open_since" not in night(sim)["a"]


def test_a_unit_that_is_compacted_each_night_is_never_open() -> None:
    """Its first analysis, its compaction, and new files come on the same day."""
    sim = cluster()
    for _ in range(6):
        assert not [unit for unit in night(sim).values() if "open_since" in unit]
        for value in ("a", "b"):
            add_files(sim, value)


def test_days_on_which_an_analysis_finds_no_small_files_end_it() -> None:
    sim = cluster()
    night(sim, "--max-units", "1", "--order", "none")
    for _ in range(2):
        sim.advance(24 * 3600)
        assert "open_since" in units(sim)["b"]
    sim.advance(24 * 3600)
    assert units(sim, "analyze", "--min-input-files", "9")["b"]["outcome"] == "healthy"
    sim.advance(24 * 3600)
    assert "open_since" not in units(sim)["b"]


def test_an_analysis_does_not_forget_what_a_compaction_defers_beside_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sim, check = cluster(), planner.check_footers
    units(sim, "compact", "--max-units", "2")
    for value in ("a", "b"):
        add_files(sim, value)
    sim.advance(24 * 3600)

    def beside(*given: Any, **more: Any) -> Any:
        monkeypatch.setattr(planner, "check_footers", check)
        units(sim, "compact", "--max-units", "1", "--order", "none")
        return check(*given, **more)

    monkeypatch.setattr(planner, "check_footers", beside)
    units(sim)
    assert "deferred_since" in units(sim, "plan")["b"]


def test_an_analysis_alone_leaves_nothing_in_a_table_that_nobody_compacts() -> None:
    sim = cluster()
    before = sim.digest()
    for _ in range(3):
        sim.advance(24 * 3600)
        assert not [unit for unit in units(sim).values() if "open_since" in unit]
    assert sim.digest() == before


def test_analyses_of_one_day_write_once() -> None:
    sim = cluster()
    night(sim, "--max-units", "1", "--order", "none")
    sim.advance(24 * 3600)
    units(sim)
    client = sim.client()
    run(client, "analyze", "--table", TABLE)
    assert not [point for point in client.trace if point.op in ("create", "rename", "delete_file")]


def test_a_record_that_is_damaged_is_no_record() -> None:
    sim = cluster()
    for _ in range(2):
        night(sim, "--max-units", "1", "--order", "none")
    folder = f"{Home.of_table(PLACE, True).path}/log/survey"
    names = [name for name, _ in sim.tree.files(folder) if name.startswith("open-")]
    fs = sim.client().cluster.fs
    for name in names:
        fs.delete_file(f"{folder}/{name}")
        fs.create(f"{folder}/{name}", b"no gzip")
    assert not [unit for unit in night(sim).values() if "open_since" in unit]
