"""The footers that an analysis keeps for the compaction: when they count, and that no row depends on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from spark_jobs.core.commit_log import kept_footers
from spark_jobs.core.commit_log.kept_footers import KeptFooters, decode, encode
from tests.crash import writers
from tests.crash.crashes import crash_states
from tests.crash.flat_table import HOME, LIVE
from tests.crash.oracle import check
from tests.crash.scenario import FLAT, WAREHOUSE, build, run
from tests.crash.simulated_cluster import Client, SimulatedCluster

FOLDER = f"{HOME}/log/footers"
#: Longer than a file must be unchanged before its footer is kept.
LATER = 120


@pytest.fixture(autouse=True)
def footers_of_few_files_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_footers, "FEWEST_FILES", 6)


def flat(age: float = LATER) -> SimulatedCluster:
    """The flat table with its six files of this age in seconds."""
    sim = build()
    sim.advance(age)
    return sim


def kept(sim: SimulatedCluster) -> list[str]:
    found = sim.tree.get(FOLDER)
    return sorted(found.children) if found else []


def analyze(sim: SimulatedCluster) -> list[str]:
    """Analyse the table; return the names of the files of kept footers."""
    assert run(sim.client(), "analyze", "--table", FLAT)["tables"][0]["outcome"] == "done"
    return kept(sim)


def footers_read(sim: SimulatedCluster, run_id: str = "r1") -> int:
    """Compact the table; return how many originals had their footers read."""
    client = sim.client()
    report = run(client, "compact", "--table", FLAT, "--run-id", run_id)
    assert [unit["outcome"] for unit in report["tables"][0]["units"]] == ["compacted"], report
    assert check(sim) == []
    files = {file for point in client.trace if point.op == "footers" for file in point.args}
    return sum(file.startswith(f"{LIVE}/") for file in files)


def rewritten(sim: SimulatedCluster, change: Callable[[KeptFooters], KeptFooters]) -> None:
    """Change what the only file of kept footers says."""
    (name,) = kept(sim)
    path = f"{FOLDER}/{name}"
    inode = sim.tree.get(path)
    assert inode is not None
    changed = change(decode(inode.content, path))
    sim.tree.write(path, encode(changed), overwrite=True)


def test_a_compaction_reads_one_footer_of_each_kind_and_forgets_what_was_kept() -> None:
    sim = flat()
    assert len(analyze(sim)) == 1
    assert (footers_read(sim), kept(sim)) == (1, [])


def test_without_an_analysis_it_reads_all() -> None:
    assert footers_read(flat()) == 6


def test_an_analysis_of_the_same_files_writes_nothing_more() -> None:
    sim = flat()
    first = analyze(sim)
    before = sim.digest()
    assert (analyze(sim), sim.digest()) == (first, before)


def test_files_that_were_just_written_are_read_again() -> None:
    sim = flat(age=30)
    assert (analyze(sim), footers_read(sim)) == ([], 6)


def test_few_files_are_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_footers, "FEWEST_FILES", 7)
    sim = flat()
    assert (analyze(sim), footers_read(sim)) == ([], 6)


def test_a_file_that_was_added_since_makes_all_be_read_again() -> None:
    sim = flat()
    analyze(sim)
    writers.append(sim, LIVE, sim.ledger.fresh(2))
    assert footers_read(sim) == 7


def test_an_analysis_replaces_what_was_kept_of_earlier_files() -> None:
    sim = flat()
    first = analyze(sim)
    writers.append(sim, LIVE, sim.ledger.fresh(2))
    sim.advance(LATER)
    second = analyze(sim)
    assert (len(second), set(first) & set(second)) == (1, set())
    assert footers_read(sim) == 1


def test_what_no_compaction_came_for_is_deleted_after_a_week() -> None:
    sim = flat()
    stray = f"{FOLDER}/{'0' * 16}-{'1' * 16}"
    sim.tree.write(stray, b"", parents=True)
    sim.tree.write(f"{FOLDER}/note", b"of a person")
    sim.advance(8 * 86400)
    assert len(analyze(sim)) == 2
    assert not sim.tree.get(stray)


def test_what_another_account_has_written_does_not_count() -> None:
    sim = flat()
    (name,) = analyze(sim)
    sim.tree.change(sim.tree.find(f"{FOLDER}/{name}"), owner="mallory")
    assert footers_read(sim) == 6


def test_a_file_that_cannot_be_read_does_not_count() -> None:
    sim = flat()
    (name,) = analyze(sim)
    sim.tree.write(f"{FOLDER}/{name}", b"torn", overwrite=True)
    assert footers_read(sim) == 6


@pytest.mark.parametrize(
    "change",
    [{"location": f"{WAREHOUSE}/other"}, {"files": "sha256:other"}, {"kinds": ["another schema"]}],
    ids=["location", "files", "kinds"],
)
def test_what_is_about_other_files_does_not_count(change: dict[str, Any]) -> None:
    sim = flat()
    analyze(sim)
    rewritten(sim, lambda found: replace(found, **change))
    assert footers_read(sim) == 6


def test_figures_that_are_wrong_cost_a_second_write_and_no_row() -> None:
    sim = flat()
    analyze(sim)
    rewritten(sim, lambda found: replace(found, footers=[replace(found.footers[0], rows=17)]))
    assert (footers_read(sim), kept(sim)) == (6, [])


def test_names_that_are_wrong_cost_a_second_reading_and_no_row() -> None:
    sim = flat()
    analyze(sim)
    rewritten(sim, lambda found: replace(found, footers=[replace(found.footers[0], others=())]))
    assert footers_read(sim) == 6


@pytest.mark.parametrize("mode", [0o755, 0o775])
def test_a_home_is_created_only_where_no_other_account_writes(mode: int) -> None:
    sim = flat()
    sim.tree.change(sim.tree.find(WAREHOUSE), mode=mode)
    assert len(analyze(sim)) == (mode == 0o755)
    assert bool(sim.tree.get(HOME)) == (mode == 0o755)


def test_an_account_that_may_not_write_analyses_too() -> None:
    sim = flat()
    sim.tree.change(sim.tree.find(WAREHOUSE), mode=0o555)
    before = sim.digest()
    assert (analyze(sim), sim.digest()) == ([], before)


def test_a_dry_run_keeps_nothing() -> None:
    sim = flat()
    before = sim.digest()
    run(sim.client(), "compact", "--table", FLAT, "--dry-run")
    assert sim.digest() == before


def _analysis(client: Client) -> object:
    return run(client, "analyze", "--table", FLAT)


def _compaction(client: Client) -> object:
    return run(client, "compact", "--table", FLAT, "--run-id", "r1")


def test_a_crash_of_an_analysis_at_any_call_leaves_nothing_that_is_needed() -> None:
    states = list(crash_states(flat(), _analysis))
    for state in states:
        footers_read(state.sim)
    assert len(states) == 5  # nothing, the directory, an empty file, a hidden file, the footers


def test_a_compaction_with_wrong_figures_that_crashes_at_any_call_loses_no_row() -> None:
    sim = flat()
    analyze(sim)
    rewritten(sim, lambda found: replace(found, footers=[replace(found.footers[0], rows=17)]))
    states = list(crash_states(sim, _compaction))
    for state in states:
        assert check(state.sim, journaled=True) == [], state
        state.sim.advance(600)
        assert _compaction(state.sim.client())["tables"][0]["outcome"] in ("done", "nothing"), state  # type: ignore[index]
        assert check(state.sim) == [], state
    assert len(states) > 20
