"""Tables of a format that keeps lists of its own files: compacted, rolled back and cleaned up, killed at every step."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from spark_jobs.core.messages.errors import LakekeeperError
from spark_jobs.core.values.model import TableName
from tests.crash.fault_injection import Fault, Killed
from tests.crash.model_native import ModelTableClient, append, rows_of
from tests.crash.native_lake import AT_ONCE, COMPACTED, FILES, NAME, ON, files, job, lake, only, tags, units
from tests.crash.scenario import run
from tests.crash.simulated_cluster import SimulatedCluster


def test_an_analysis_has_the_figures_of_the_formats_own_metadata() -> None:
    sim = lake()
    report = job(sim, "analyze")
    assert units(report) == {"a": "flagged", "b": "flagged", "c": "healthy"}
    table = only(report)
    assert (table["format"], table["before"]["files"], table["held_runs"]) == ("iceberg", 11, 0)
    assert table["partition_types"] == {"k": "string"}
    assert report["exit_code"] == 0


def test_a_compaction_keeps_the_rows_and_can_be_rolled_back() -> None:
    sim = lake()
    before = rows_of(sim, NAME)
    report = job(sim, "compact", "--run-id", "r1")
    assert units(report) == {"a": "compacted", "b": "compacted", "c": "healthy"}
    assert (rows_of(sim, NAME), files(sim)) == (before, COMPACTED)
    table = only(report)
    assert (table["run_id"], table["held_runs"], table["held_bytes"]) == ("r1", 1, 10 * 1024 * 1024)
    assert (table["snapshot_before"], table["snapshot_after"]) == ("3", "5")
    report = job(sim, "rollback")
    assert (files(sim), rows_of(sim, NAME), tags(sim)) == (FILES, before, set())
    (unit,) = only(report)["units"]
    assert (unit["outcome"], unit["files"], unit["files_after"]) == ("restored", 3, 11)
    assert only(job(sim, "rollback"))["outcome"] == "nothing"


def test_a_table_without_keys_is_one_unit() -> None:
    sim = lake(keys=())
    report = job(sim, "compact")
    (unit,) = only(report)["units"]
    assert (unit["outcome"], unit["files"], unit["files_after"]) == ("compacted", 11, 1)


def everywhere(sim: SimulatedCluster, verb: str, *argv: object) -> list[tuple[SimulatedCluster, str]]:
    """Clusters on which a job was killed before and after each of its effects."""
    client = sim.copy().client()
    run(client, verb, "--table", NAME, *ON, *map(str, argv))
    killed = []
    for number in range(1, client.points + 1):
        for kind in (Fault.crash_before, Fault.crash_after):
            twin = sim.copy()
            with pytest.raises(Killed):
                job(twin, verb, *argv, faults=(kind(number),))
            twin.advance(120.0)  # its lease expires
            killed.append((twin, f"{kind.__name__} {number}"))
    assert len(killed) > 20
    return killed


def test_after_a_kill_at_any_step_the_next_night_goes_on() -> None:
    sim = lake()
    before = rows_of(sim, NAME)
    for twin, where in everywhere(sim, "compact", "--run-id", "r1"):
        assert rows_of(twin, NAME) == before, where
        assert job(twin, "compact", "--run-id", "r2")["exit_code"] == 0, where
        assert (files(twin), rows_of(twin, NAME)) == (COMPACTED, before), where
        for _ in range(2):
            job(twin, "rollback")
        assert (files(twin), rows_of(twin, NAME), tags(twin)) == (FILES, before, set()), where


def test_a_retry_with_the_same_run_id_continues_the_run() -> None:
    sim = lake()
    for twin, where in everywhere(sim, "compact", "--run-id", "r1"):
        job(twin, "compact", "--run-id", "r1")
        assert files(twin) == COMPACTED, where
        job(twin, "rollback", "--run-id", "r1")
        assert (files(twin), tags(twin)) == (FILES, set()), where


def test_after_a_kill_at_any_step_of_a_rollback_the_next_one_ends_it() -> None:
    sim = lake()
    before = rows_of(sim, NAME)
    job(sim, "compact", "--run-id", "r1")
    for twin, where in everywhere(sim, "rollback", "--run-id", "r1"):
        assert rows_of(twin, NAME) == before, where
        assert job(twin, "rollback", "--run-id", "r1")["exit_code"] == 0, where
        assert (files(twin), tags(twin)) == (FILES, set()), where


def test_after_a_kill_at_any_step_of_a_cleanup_the_next_one_ends_it() -> None:
    sim = lake()
    before = rows_of(sim, NAME)
    job(sim, "compact", "--run-id", "r1")
    words = ("--native-expiry", *AT_ONCE)
    for twin, where in everywhere(sim, "cleanup", *words):
        assert job(twin, "cleanup", *words)["exit_code"] == 0, where
        assert (rows_of(twin, NAME), files(twin), tags(twin)) == (before, COMPACTED, set()), where


def test_a_rollback_takes_no_rows_that_were_committed_since() -> None:
    sim = lake()
    job(sim, "compact", "--run-id", "r1")
    for value in ("a", "d"):
        append(sim, NAME, value, 2)
    rows, now = rows_of(sim, NAME), files(sim)
    report = job(sim, "rollback", "--run-id", "r1")
    table = only(report)
    assert (table["outcome"], table["code"], report["exit_code"]) == ("refused", "NEWER_COMMITS", 1)
    assert "2 newer commits of other writers follow run r1" in table["reason"]
    assert (rows_of(sim, NAME), files(sim)) == (rows, now)


def test_a_rollback_of_a_database_that_leaves_a_run_fails() -> None:
    sim = lake()
    job(sim, "compact", "--run-id", "r1")
    append(sim, NAME, "a")
    report = run(sim.client(), "rollback", "--database", "sales", "--run-id", "r1", *ON)
    assert (report["exit_code"], only(report)["code"]) == (1, "NEWER_COMMITS")


def test_a_run_that_others_have_written_after_is_not_counted_as_one_to_roll_back() -> None:
    sim = lake()
    job(sim, "compact", "--run-id", "r1")
    append(sim, NAME, "a")
    assert only(job(sim, "analyze"))["held_runs"] == 0
    (row,) = only(job(sim, "history"))["history"]
    assert row["rollback"] == "superseded"


def test_a_commit_right_before_the_rollback_stays() -> None:
    sim = lake()
    job(sim, "compact", "--run-id", "r1")
    late = Fault.hook(lambda point: point.op == "native_roll_back", lambda: append(sim, NAME, "a"))
    report = job(sim, "rollback", "--run-id", "r1", faults=(late,))
    assert (only(report)["code"], report["exit_code"]) == ("NEWER_COMMITS", 1)
    assert files(sim) == {**COMPACTED, "a": 2}


def test_files_that_are_added_meanwhile_do_not_hide_a_compaction() -> None:
    sim = lake()
    late = Fault.hook(lambda point: point.op == "native_compact", lambda: append(sim, NAME, "c", 20))
    report = job(sim, "compact", "--run-id", "r1", faults=(late,))
    assert units(report) == {"a": "compacted", "b": "compacted", "c": "healthy"}


def test_an_error_in_the_middle_is_followed_by_a_try_of_what_was_left() -> None:
    sim = lake()
    calls: list[object] = []

    def second(point: Any) -> bool:
        calls.extend([point] if point.op == "native_compact" else [])
        return point.op == "native_compact" and len(calls) == 2

    report = job(sim, "compact", "--run-id", "r1", faults=(Fault.error_before(second),))
    assert units(report) == {"a": "compacted", "b": "compacted", "c": "healthy"}
    # The first unit, which was committed before the error, is not compacted again.
    assert sum(each.commit.rewrites for each in sim.native.tables[TableName.parse(NAME)].commits) == 2
    assert only(job(sim, "rollback"))["outcome"] == "done"
    assert files(sim) == FILES


def test_a_partition_whose_files_cannot_be_read_fails_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    sim, compact = lake(), ModelTableClient._compact

    def damaged(table: ModelTableClient, spec: Any) -> None:
        if spec == (("k", "a"),):
            raise LakekeeperError("a file of it is damaged")
        compact(table, spec)

    before = rows_of(sim, NAME)
    monkeypatch.setattr(ModelTableClient, "_compact", damaged)
    report = job(sim, "compact")
    assert units(report) == {"a": "failed", "b": "compacted", "c": "healthy"}
    assert (files(sim), rows_of(sim, NAME)) == ({**COMPACTED, "a": FILES["a"]}, before)
    assert only(job(sim, "rollback"))["outcome"] == "done"
    assert files(sim) == FILES


@pytest.mark.parametrize("op", ["native_compact", "native_roll_back", "native_untag"])
def test_a_job_that_has_lost_its_lease_changes_nothing_more(op: str) -> None:
    """It slept for so long that another job has taken the table over, and has ended."""
    sim = lake()
    if op != "native_compact":
        job(sim, "compact", "--run-id", "r1")
    verb = "compact" if op == "native_compact" else "rollback"
    acted: list[str] = []

    def other() -> None:
        sim.advance(120.0)
        acted.append(str(job(sim, "compact", "--run-id", "r2")["exit_code"]))

    before = {
        "native_compact": "native_tag",
        "native_roll_back": "native_files",
        "native_untag": "native_roll_back",
    }[op]
    hook = Fault.hook(lambda point: point.op == before, other, paused=True)
    report = job(sim, verb, faults=(hook,))
    assert acted
    assert only(report)["outcome"] in ("failed", "refused"), report
    assert rows_of(sim, NAME) == sorted(sim.ledger.committed)


def test_a_table_that_cannot_be_rolled_back_is_compacted_without_a_name() -> None:
    sim = lake()
    name = TableName.parse(NAME)
    sim.native.put(name, replace(sim.native.tables[name], no_rollback="it deletes files"))
    done = only(job(sim, "compact", "--run-id", "r1"))
    assert (done["outcome"], done["held_runs"], done["snapshot_before"], tags(sim)) == ("done", 0, "3", set())
    assert any("CANNOT_BE_ROLLED_BACK" in text for text in done["warnings"])
    assert only(job(sim, "rollback"))["code"] == "NO_ROLLBACK"
    whole = run(sim.client(), "rollback", "--database", "sales", "--run-id", "r1", *ON)
    assert whole["exit_code"] == 0
    assert files(sim) == COMPACTED


def test_a_table_with_a_feature_that_a_procedure_would_act_on_is_refused() -> None:
    sim = lake()
    name = TableName.parse(NAME)
    sim.native.put(name, replace(sim.native.tables[name], feature="it has deletion vectors"))
    refused = only(job(sim, "compact"))
    assert (refused["code"], refused["reason"]) == ("FORMAT_FEATURE", "sales.lake: it has deletion vectors")


def test_a_commit_between_two_procedures_is_no_part_of_the_run() -> None:
    sim = lake()
    late = Fault.hook(
        lambda point: point.op == "native_compact" and "b" in point.args[0], lambda: append(sim, NAME, "a")
    )
    job(sim, "compact", "--run-id", "r1", faults=(late,))
    rows = rows_of(sim, NAME)
    assert only(job(sim, "rollback"))["code"] == "NEWER_COMMITS"
    assert rows_of(sim, NAME) == rows


def test_of_two_runs_the_older_one_is_rolled_back_after_the_newer_one() -> None:
    sim = lake()
    before = rows_of(sim, NAME)
    job(sim, "compact", "--run-id", "r1", "--max-units", 1)
    job(sim, "compact", "--run-id", "r2")
    assert only(job(sim, "analyze"))["held_runs"] == 2
    job(sim, "rollback")
    assert sorted(files(sim).values()) != sorted(FILES.values())
    job(sim, "rollback")
    assert (files(sim), rows_of(sim, NAME)) == (FILES, before)
