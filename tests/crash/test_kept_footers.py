"""The footers that an analysis keeps for the compaction: when they count, and that no row depends on them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from spark_jobs.core.messages.errors import Refusal
from spark_jobs.core.messages.refusals import RefusalCode
from spark_jobs.core.planning import kept_footers
from spark_jobs.core.planning.kept_footers import decode, encode
from spark_jobs.core.values.model import FileListing
from spark_jobs.protocol.execution.unit_attributes import UnitAttributes
from spark_jobs.protocol.ports import RewriteRequest
from tests.crash import writers
from tests.crash.crashes import crash_states
from tests.crash.fault_injection import Fault
from tests.crash.flat_table import HOME, LIVE
from tests.crash.footers_kept import FOLDER, analyze, footers_read, kept, rewritten
from tests.crash.model_spark import ModelRewriter
from tests.crash.model_tree import AUTHORITY
from tests.crash.oracle import check
from tests.crash.scenario import EVENTS, FLAT, WAREHOUSE, build, run
from tests.crash.simulated_cluster import Client, SimulatedCluster
from tests.crash.test_calls import done, wide
from tests.crash.test_other_versions import of_version

DAY = 86400


@pytest.fixture(autouse=True)
def footers_of_few_files_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests may set another number; it is put back."""
    monkeypatch.setattr(kept_footers, "FEWEST_FILES", 6)


def test_a_compaction_reads_one_footer_of_each_kind_and_forgets_what_was_kept() -> None:
    sim = build()
    assert len(analyze(sim)) == 1
    assert (footers_read(sim), kept(sim)) == (1, [])


def test_without_an_analysis_it_reads_all() -> None:
    assert footers_read(build()) == 6


def test_an_analysis_of_the_same_files_writes_nothing_more() -> None:
    sim = build()
    first = analyze(sim)
    before = sim.digest()
    assert (analyze(sim), sim.digest()) == (first, before)


def test_few_files_are_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_footers, "FEWEST_FILES", 7)
    sim = build()
    assert (analyze(sim), footers_read(sim)) == ([], 6)


def test_a_file_that_was_added_since_makes_all_be_read_again() -> None:
    sim = build()
    analyze(sim)
    writers.append(sim, LIVE, sim.ledger.fresh(2))
    assert footers_read(sim) == 7


def test_an_analysis_replaces_what_was_kept_of_earlier_files() -> None:
    sim = build()
    first = analyze(sim)
    writers.append(sim, LIVE, sim.ledger.fresh(2))
    second = analyze(sim)
    assert (len(second), set(first) & set(second)) == (1, set())
    assert footers_read(sim) == 1


def test_what_no_compaction_came_for_is_deleted_after_a_week() -> None:
    """Also if there is nothing more to keep: the unit's writer has left few files."""
    sim = build()
    analyze(sim)
    sim.tree.write(f"{FOLDER}/note", b"of a person")
    for name in list(sim.tree.files(LIVE))[2:]:
        sim.tree.remove(f"{LIVE}/{name[0]}")
    sim.advance(6 * DAY)
    assert len(analyze(sim)) == 2
    sim.advance(2 * DAY)
    assert analyze(sim) == ["note"]


def test_what_another_account_has_written_does_not_count() -> None:
    sim = build()
    (name,) = analyze(sim)
    sim.tree.change(sim.tree.find(f"{FOLDER}/{name}"), owner="mallory")
    assert footers_read(sim) == 6


def test_a_file_that_cannot_be_read_does_not_count() -> None:
    sim = build()
    (name,) = analyze(sim)
    sim.tree.write(f"{FOLDER}/{name}", b"torn", overwrite=True)
    assert footers_read(sim) == 6


@pytest.mark.parametrize(
    "change",
    [
        {"location": f"{WAREHOUSE}/other"},
        {"files": "sha256:other"},
        {"environment": "another version"},
        {"kinds": ["another schema"]},
    ],
    ids=["location", "files", "environment", "kinds"],
)
def test_what_is_about_other_files_does_not_count(change: dict[str, Any]) -> None:
    sim = build()
    analyze(sim)
    rewritten(sim, lambda found: replace(found, **change))
    assert footers_read(sim) == 6


def test_figures_that_are_wrong_cost_a_second_write_and_no_row() -> None:
    sim = build()
    analyze(sim)
    rewritten(sim, lambda found: replace(found, footers=[replace(found.footers[0], rows=17)]))
    assert (footers_read(sim), kept(sim)) == (6, [])


def test_names_that_are_wrong_cost_a_second_reading_and_no_row() -> None:
    sim = build()
    analyze(sim)
    rewritten(sim, lambda found: replace(found, footers=[replace(found.footers[0], others=())]))
    assert footers_read(sim) == 6


@pytest.mark.parametrize("mode", [0o755, 0o775])
def test_a_home_is_created_only_where_no_other_account_writes(mode: int) -> None:
    sim = build()
    sim.tree.change(sim.tree.find(WAREHOUSE), mode=mode)
    assert len(analyze(sim)) == (mode == 0o755)
    assert bool(sim.tree.get(HOME)) == (mode == 0o755)


def test_an_account_that_may_not_write_analyses_too() -> None:
    sim = build()
    sim.tree.change(sim.tree.find(WAREHOUSE), mode=0o555)
    before = sim.digest()
    assert (analyze(sim), sim.digest()) == ([], before)


def test_a_dry_run_keeps_nothing() -> None:
    sim = build()
    before = sim.digest()
    run(sim.client(), "compact", "--table", FLAT, "--dry-run")
    assert sim.digest() == before


def _analysis(client: Client) -> object:
    return run(client, "analyze", "--table", FLAT)


def _compaction(client: Client) -> object:
    return run(client, "compact", "--table", FLAT, "--run-id", "r1")


def test_a_crash_of_an_analysis_at_any_call_leaves_nothing_that_is_needed() -> None:
    states = list(crash_states(build(), _analysis))
    for state in states:
        footers_read(state.sim)
    # Nothing; the home, and the file of its format, empty and with content; the directory open and closed, an empty
    # file, a hidden file, the footers; then the file of open units.
    assert len(states) == 13


def test_a_compaction_with_wrong_figures_that_crashes_at_any_call_loses_no_row() -> None:
    sim = build()
    analyze(sim)
    rewritten(sim, lambda found: replace(found, footers=[replace(found.footers[0], rows=17)]))
    states = list(crash_states(sim, _compaction))
    for state in states:
        assert check(state.sim, journaled=True) == [], state
        state.sim.advance(600)
        assert _compaction(state.sim.client())["tables"][0]["outcome"] in ("done", "nothing"), state  # type: ignore[index]
        assert check(state.sim) == [], state
    assert len(states) > 20


def _readable_by_others(sim: SimulatedCluster, path: str) -> bool:
    """Whether an account that is neither the owner nor in the group may open a file."""
    names = path.removeprefix(f"{AUTHORITY}/").split("/")
    above = [sim.tree.get("/".join([AUTHORITY, *names[:depth]])) for depth in range(1, len(names))]
    return all(folder is not None and folder.mode & 0o001 for folder in above)


@pytest.mark.parametrize(("trusted", "mode"), [((), 0o700), (("--trusted-owners", "ana"), 0o770)])
def test_no_other_account_reads_the_bounds_of_columns(trusted: tuple[str, ...], mode: int) -> None:
    sim = build()
    client = sim.client()
    run(client, "analyze", "--table", FLAT, *trusted)
    (name,) = kept(sim)
    folder = sim.tree.get(FOLDER)
    assert folder is not None
    assert folder.mode & 0o777 & ~0o070 == mode & ~0o070
    assert folder.mode & 0o007 == 0
    assert not _readable_by_others(sim, f"{FOLDER}/{name}")


def test_a_unit_outside_the_root_keeps_them_in_its_own_home() -> None:
    """There its originals will be, in the same encryption zone."""
    sim = build()
    homes = [f"{WAREHOUSE}/events/.lakekeeper", f"{AUTHORITY}/elsewhere/.lakekeeper-c"]
    kept_footers.FEWEST_FILES = 4
    run(sim.client(), "analyze", "--table", EVENTS)
    found = [sim.tree.get(f"{home}/log/footers") for home in homes]
    assert [len(each.children) if each else 0 for each in found] == [2, 1]


def _writes(client: Client) -> int:
    """How often Spark wrote the unit."""
    return sum(point.op == "raw_rename" for point in client.trace)


def test_a_write_that_loses_a_row_is_not_repeated_if_the_kept_figures_are_right(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ModelRewriter, "_write", _lossy)
    sim = build()
    analyze(sim)
    client = sim.client()
    report = run(client, "compact", "--table", FLAT, "--run-id", "r1")
    assert [unit["outcome"] for unit in report["tables"][0]["units"]] == ["failed"]
    assert (_writes(client), check(sim)) == (1, [])


def _lossy(self: ModelRewriter, plan: RewriteRequest) -> int:
    return REAL_WRITE(self, replace(plan, inputs=FileListing(plan.inputs.files[1:])))


REAL_WRITE = ModelRewriter._write


def test_a_refusal_after_the_write_is_final(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise Refusal(RefusalCode.ATTRIBUTES, "cannot set the owner")

    sim = build()
    analyze(sim)
    monkeypatch.setattr(UnitAttributes, "apply_to_files", refuse)
    client = sim.client()
    report = run(client, "compact", "--table", FLAT, "--run-id", "r1")
    assert [unit["outcome"] for unit in report["tables"][0]["units"]] == ["skipped"]
    assert _writes(client) == 1


def test_a_deletion_that_fails_prevents_the_second_write() -> None:
    """It may be executed later, and would delete what was written again."""
    sim = build()
    analyze(sim)
    rewritten(sim, lambda found: replace(found, footers=[replace(found.footers[0], rows=17)]))
    probe = sim.copy().client()
    run(probe, "compact", "--table", FLAT, "--run-id", "r1")
    (number,) = [p.number for p in probe.trace if p.op == "delete_tree" and p.args[0].endswith("/flat")]
    for fault in (Fault.error_before(number), Fault.error_after(number)):
        twin = sim.copy()
        client = twin.client(fault)
        report = run(client, "compact", "--table", FLAT, "--run-id", "r1")
        assert [unit["outcome"] for unit in report["tables"][0]["units"]] == ["failed"]
        assert (_writes(client), check(twin)) == (1, [])
        assert footers_read(twin, "r1") == 6


def test_a_unit_that_is_put_off_keeps_its_footers() -> None:
    sim = build()
    before = analyze(sim)
    client = sim.client()
    deadline = (client.clock.now() + timedelta(milliseconds=8)).isoformat()
    report = run(client, "compact", "--table", FLAT, "--run-id", "r1", "--deadline", deadline)
    assert [unit["outcome"] for unit in report["tables"][0]["units"]] == ["deferred"]
    assert (kept(sim), footers_read(sim, "r2")) == (before, 1)


def test_keeping_lists_the_directory_once_whatever_the_number_of_units() -> None:
    kept_footers.FEWEST_FILES = 2
    for partitions in (20, 40):
        sim = wide(partitions)
        listed = done(sim, "analyze")[2]
        assert len(kept_in(sim, f"{WAREHOUSE}/wide/.lakekeeper/log/footers")) == partitions
        assert sum(path.endswith("/footers") for path in listed) == 1


def kept_in(sim: SimulatedCluster, folder: str) -> list[str]:
    found = sim.tree.get(folder)
    return sorted(found.children) if found else []


def test_small_units_that_are_written_together_use_them_too() -> None:
    kept_footers.FEWEST_FILES = 2
    sim = wide(3)
    done(sim, "analyze")
    folder = f"{WAREHOUSE}/wide/.lakekeeper/log/footers"
    for name in kept_in(sim, folder)[:1]:
        path = f"{folder}/{name}"
        inode = sim.tree.get(path)
        assert inode is not None
        wrong = decode(inode.content, path)
        wrong = replace(wrong, footers=[replace(wrong.footers[0], rows=17)])
        sim.tree.write(path, encode(wrong), overwrite=True)
    report, _, _ = done(sim, "compact", "--run-id", "r1")
    assert [unit["outcome"] for unit in report["units"]] == ["compacted"] * 3
    assert (check(sim), kept_in(sim, folder)) == ([], [])


def test_a_location_without_utf8_is_compacted() -> None:
    kept_footers.FEWEST_FILES = 4
    sim = SimulatedCluster()
    writers.create_table(sim, EVENTS, f"{WAREHOUSE}/events", keys=("k",))
    place = writers.add_partition(sim, EVENTS, "a", location=f"{WAREHOUSE}/events/k=\udc80")
    for _ in range(6):
        writers.append(sim, place, sim.ledger.fresh(2))
    run(sim.client(), "analyze", "--table", EVENTS)
    report = run(sim.client(), "compact", "--table", EVENTS, "--run-id", "r1")
    assert [unit["outcome"] for unit in report["tables"][0]["units"]] == ["compacted"]


def test_a_unit_that_waits_for_weeks_keeps_them() -> None:
    """The survey tells the later analyses that it is flagged: they do not read its footers."""
    kept_footers.FEWEST_FILES = 2
    sim, folder = wide(1), f"{WAREHOUSE}/wide/.lakekeeper/log/footers"
    for _ in range(3):
        done(sim, "analyze")
        sim.advance(8 * DAY)
    assert len(kept_in(sim, folder)) == 1
    assert done(sim, "compact", "--run-id", "r1")[1]["footers"] == 2  # one of the originals, and the new file


@pytest.mark.parametrize("why", ["environment", "owner", "torn"])
def test_what_does_not_count_is_replaced_by_the_next_analysis(why: str) -> None:
    """An earlier version, another account, or a crash has left a file of the same name."""
    sim = build()
    (name,) = analyze(sim)
    if why == "environment":
        rewritten(sim, lambda found: replace(found, environment="an earlier version"))
    elif why == "owner":
        sim.tree.change(sim.tree.find(f"{FOLDER}/{name}"), owner="mallory")
    else:
        sim.tree.write(f"{FOLDER}/{name}", b"torn", overwrite=True)
    assert analyze(sim) == [name]
    assert footers_read(sim) == 1


def test_what_another_version_has_kept_does_not_count() -> None:
    sim = build()
    (name,) = analyze(sim)
    found = sim.tree.get(f"{FOLDER}/{name}")
    assert found is not None
    sim.tree.write(f"{FOLDER}/{name}", of_version(found.content), overwrite=True)
    (unit,) = run(sim.client(), "compact", "--table", FLAT)["tables"][0]["units"]
    assert unit["outcome"] == "compacted"
    assert check(sim) == []


def test_a_directory_that_was_opened_is_closed_before_more_is_written() -> None:
    sim = build()
    analyze(sim)
    sim.tree.change(sim.tree.find(FOLDER), mode=0o775)
    writers.append(sim, LIVE, sim.ledger.fresh(2))
    analyze(sim)
    folder = sim.tree.get(FOLDER)
    assert folder is not None
    assert folder.mode & 0o077 == 0
