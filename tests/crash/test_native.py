"""Tables of a format that keeps lists of its own files: compacted, rolled back and cleaned up, killed at every step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from spark_jobs.core.messages.errors import UnitChanged
from spark_jobs.core.values.model import TableName
from tests.crash import writers
from tests.crash.fault_injection import Fault, Killed
from tests.crash.model_native import ModelFormat, ModelNativeTable, ModelTableClient, append, rows_of
from tests.crash.scenario import WAREHOUSE, run
from tests.crash.simulated_cluster import SimulatedCluster

NAME = "sales.lake"
FILES = {"a": 4, "b": 6, "c": 1}
ON = ("--native-formats", "iceberg")
AT_ONCE = ("--older-than", "0s")


def lake(keys: tuple[str, ...] = ("k",), name: str = NAME) -> SimulatedCluster:
    """Two partitions with small files, and one with a single file."""
    sim = SimulatedCluster()
    writers.create_table(sim, name, f"{WAREHOUSE}/lake", table_type="ICEBERG")
    sim.native.put(TableName.parse(name), ModelNativeTable(keys))
    for value, files in FILES.items():
        append(sim, name, value, files)
    return sim


def job(sim: SimulatedCluster, verb: str, *argv: object, faults: tuple[Fault, ...] = (), **more: Any) -> Any:
    return run(sim.client(*faults), verb, "--table", NAME, *ON, *map(str, argv), **more)


def only(report: dict[str, Any]) -> dict[str, Any]:
    (table,) = report["tables"]
    return table


def units(report: dict[str, Any]) -> dict[str, str]:
    return {unit["unit"].get("k", ""): unit["outcome"] for unit in only(report)["units"]}


def files(sim: SimulatedCluster) -> dict[str, int]:
    found: dict[str, int] = {}
    for file in sim.native.tables[TableName.parse(NAME)].files:
        value = dict(file.unit).get("k") or ""
        found[value] = found.get(value, 0) + 1
    return found


def tags(sim: SimulatedCluster) -> set[str]:
    return set(sim.native.tables[TableName.parse(NAME)].named)


COMPACTED = {"a": 1, "b": 1, "c": 1}


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


def test_an_error_in_the_middle_reports_what_was_committed_before_it() -> None:
    sim = lake()
    calls: list[object] = []

    def second(point: Any) -> bool:
        calls.extend([point] if point.op == "native_compact" else [])
        return point.op == "native_compact" and len(calls) == 2

    report = job(sim, "compact", "--run-id", "r1", faults=(Fault.error_before(second),))
    assert sorted(units(report).values()) == ["compacted", "failed", "healthy"]
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


def test_units_beyond_the_limits_are_deferred() -> None:
    sim = lake()
    report = job(sim, "compact", "--max-units", 1)
    assert sorted(units(report).values()) == ["compacted", "deferred", "healthy"]
    assert sorted(files(sim).values())[:2] == [1, 1]


def test_only_the_partitions_that_were_named_are_compacted() -> None:
    sim = lake()
    report = job(sim, "compact", "--partitions", '[{"k": "b"}]')
    assert (units(report), files(sim)) == ({"b": "compacted"}, {**FILES, "b": 1})
    planned = job(lake(), "plan", "--where", "k = 'a'")
    assert units(planned) == {"a": "flagged"}


def test_a_procedure_that_does_nothing_is_not_believed() -> None:
    sim = lake()
    sim.native.idle = True
    report = job(sim, "compact", "--run-id", "r1")
    reasons = {unit["reason"] for unit in only(report)["units"] if unit["files"] > 1}
    assert reasons == {"the procedure of the format has left its files as they were"}
    assert (report["exit_code"], tags(sim), only(report)["run_id"]) == (0, set(), None)


@pytest.mark.parametrize(
    ("error", "outcome"), [(UnitChanged("a writer"), "changed"), (OSError("no"), "failed")]
)
def test_a_procedure_that_fails_leaves_the_table_as_it_is(
    monkeypatch: pytest.MonkeyPatch, error: Exception, outcome: str
) -> None:
    def fail(*_: object) -> None:
        raise error

    sim = lake()
    before = rows_of(sim, NAME)
    monkeypatch.setattr(ModelTableClient, "compact", fail)
    report = job(sim, "compact")
    assert (units(report)["a"], rows_of(sim, NAME), files(sim), tags(sim)) == (outcome, before, FILES, set())


@pytest.mark.parametrize("verb", ["compact", "rollback", "cleanup"])
def test_a_dry_run_changes_nothing(verb: str) -> None:
    sim = lake()
    job(sim, "compact", "--run-id", "r1", "--max-units", 1)
    before = sim.digest()
    more = AT_ONCE if verb == "cleanup" else ()
    assert "flagged" in units(job(sim, verb, "--dry-run", *more)).values()
    assert sim.digest() == before


def test_a_format_that_is_not_switched_on_is_refused_by_its_name() -> None:
    sim = lake()
    report = run(sim.client(), "compact", "--table", NAME)
    assert only(report)["code"] == "ICEBERG"
    assert files(sim) == FILES


def test_a_table_can_switch_its_format_off_and_not_on() -> None:
    sim = lake()
    facts = sim.metastore.get(TableName.parse(NAME))
    for name, value, options, code in (
        ("lakekeeper.enabled", "false", ON, "OPTED_OUT"),
        ("lakekeeper.native_formats", "iceberg", (), "ICEBERG"),
    ):
        twin = sim.copy()
        writers.create_table(
            twin, f"{NAME}2", f"{WAREHOUSE}/lake2", **{**facts.facts.properties, name: value}
        )
        report = run(twin.client(), "analyze", "--table", f"{NAME}2", *options)
        assert only(report)["code"] == code


def test_a_session_that_lacks_the_catalog_refuses_only_its_own_tables(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sim = lake()
    writers.create_table(sim, "sales.plain", f"{WAREHOUSE}/plain")
    for _ in range(4):
        writers.append(sim, f"{WAREHOUSE}/plain", sim.ledger.fresh(3))
    monkeypatch.setattr(ModelFormat, "lacks", lambda _: "add this to spark_submit")
    report = run(sim.client(), "compact", "--database", "sales", *ON)
    found = {table["table"]: (table["outcome"], table["code"]) for table in report["tables"]}
    assert found == {NAME: ("refused", "NO_CATALOG"), "sales.plain": ("done", None)}
    assert report["exit_code"] == 0


RETENTION: list[tuple[tuple[str, ...], set[str]]] = [
    (("--older-than", "7d"), {"r1", "r2"}),
    (("--keep-last", "1"), {"r2"}),
    (AT_ONCE, set()),
]


@pytest.mark.parametrize(("words", "kept"), RETENTION)
def test_a_cleanup_keeps_what_the_retention_asks_for(words: tuple[str, ...], kept: set[str]) -> None:
    sim = lake()
    job(sim, "compact", "--run-id", "r1", "--max-units", 1)
    job(sim, "compact", "--run-id", "r2")
    report = job(sim, "cleanup", *words)
    assert {name.rpartition("-")[2] for name in tags(sim)} == kept
    assert only(report)["held_runs"] == len(kept)
    assert only(report)["freed_bytes"] == 0


def test_an_expiry_is_a_second_switch_and_keeps_what_the_table_asks_for() -> None:
    sim = lake()
    name = TableName.parse(NAME)
    job(sim, "compact", "--run-id", "r1")
    sim.native.put(
        name, ModelNativeTable(**{**vars(sim.native.tables[name]), "retention": timedelta(days=5)})
    )
    refused = only(job(sim, "cleanup", "--native-expiry", *AT_ONCE))
    assert (refused["code"], len(sim.native.tables[name].commits)) == ("SHORT_RETENTION", 5)
    assert "asks to keep its commits for 5d" in refused["reason"]
    sim.advance(6 * 86_400.0)
    cleaned = only(job(sim, "cleanup", "--native-expiry", "--older-than", "5d"))
    assert (cleaned["outcome"], cleaned["freed_bytes"]) == ("done", 10 * 1024 * 1024)
    assert len(sim.native.tables[name].commits) == 1


def test_the_history_and_what_is_left_of_ours() -> None:
    sim = lake()
    job(sim, "compact", "--run-id", "r1")
    (row,) = only(job(sim, "history"))["history"]
    assert (row["run_id"], row["units"], row["rollback"]) == ("r1", 2, "possible")
    assert (row["before"]["files"], row["after"]["files"]) == (11, 3)
    home = f"{WAREHOUSE}/.lakekeeper-lake"
    assert only(job(sim, "check"))["left"] == ["tag lakekeeper-after-r1", "tag lakekeeper-before-r1", home]
    job(sim, "rollback")
    assert only(job(sim, "check"))["left"] == [home]


def test_two_jobs_take_turns() -> None:
    """The second one waits for the lease of the first, and finds nothing left to do."""
    sim = lake()
    reports: list[Any] = []
    act: Callable[[], object] = lambda: reports.append(job(sim, "compact", "--run-id", "r2"))  # noqa: E731
    hook = Fault.hook(lambda point: point.op == "native_compact", act)
    job(sim, "compact", "--run-id", "r1", faults=(hook,))
    assert only(reports[0])["outcome"] == "busy"
    assert (files(sim), {name.rpartition("-")[2] for name in tags(sim)}) == (COMPACTED, {"r1"})
