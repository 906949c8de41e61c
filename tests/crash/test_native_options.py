"""What options and properties do to tables of a format that keeps lists of its own files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from spark_jobs.core.messages.errors import UnitChanged
from spark_jobs.core.values.model import TableName
from tests.crash import writers
from tests.crash.fault_injection import Fault
from tests.crash.model_native import MB, ModelFormat, ModelNativeTable, ModelTableClient, rows_of
from tests.crash.native_lake import AT_ONCE, COMPACTED, FILES, NAME, ON, files, job, lake, only, tags, units
from tests.crash.scenario import WAREHOUSE, run


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


def test_after_an_error_no_unit_is_tried_again_beyond_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    sim, calls = lake(), []

    def slow(_: object, units: object, *more: object) -> None:
        calls.append(units)
        sim.advance(120.0)
        raise OSError("no")

    monkeypatch.setattr(ModelTableClient, "compact", slow)
    deadline = datetime.fromtimestamp(sim.millis / 1000, timezone.utc) + timedelta(seconds=60)
    report = job(sim, "compact", "--deadline", deadline.isoformat())
    assert (units(report), len(calls)) == ({"a": "failed", "b": "failed", "c": "healthy"}, 1)


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


@pytest.mark.parametrize(("words", "target"), [((), 512 * MB), (("--target-file-size", "64mb"), 64 * MB)])
def test_files_get_the_size_that_the_table_asks_for_unless_an_option_says_another(
    monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], target: int
) -> None:
    asked: list[int] = []
    monkeypatch.setattr(ModelTableClient, "compact", lambda *given: asked.append(given[-1]))
    job(lake(), "compact", *words)
    assert asked == [target]


@pytest.mark.parametrize("verb", ["analyze", "compact", "rollback", "cleanup"])
def test_a_property_that_only_the_format_knows_leaves_a_table_out(verb: str) -> None:
    sim = lake()
    state = sim.native.tables[TableName.parse(NAME)]
    sim.native.put(TableName.parse(NAME), replace(state, properties={"lakekeeper.enabled": "False"}))
    report = job(sim, verb)
    assert (only(report)["outcome"], only(report)["code"]) == ("refused", "OPTED_OUT")


def test_a_rollback_that_was_not_told_of_the_format_does_not_say_that_there_is_nothing_to_undo() -> None:
    sim = lake()
    job(sim, "compact")
    report = run(sim.client(), "rollback", "--table", NAME)
    assert (only(report)["outcome"], only(report)["code"], report["exit_code"]) == ("refused", "ICEBERG", 1)
    assert files(sim) == COMPACTED


def test_files_that_may_be_those_of_another_table_are_not_deleted_with_the_commits() -> None:
    sim = lake()
    job(sim, "compact", "--run-id", "r1")
    state = sim.native.tables[TableName.parse(NAME)]
    sim.native.put(TableName.parse(NAME), replace(state, no_expiry="its file x is another table's"))
    commits = len(sim.native.tables[TableName.parse(NAME)].commits)
    report = job(sim, "cleanup", *AT_ONCE, "--native-expiry")
    assert only(report)["outcome"] == "done"
    assert [text.partition(": ")[0] for text in only(report)["warnings"]] == ["COMMITS_NOT_EXPIRED"]
    assert (tags(sim), len(sim.native.tables[TableName.parse(NAME)].commits)) == (set(), commits)


def test_a_time_that_is_longer_than_the_history_of_time_expires_nothing() -> None:
    sim = lake()
    job(sim, "compact", "--run-id", "r1")
    commits = len(sim.native.tables[TableName.parse(NAME)].commits)
    report = job(sim, "cleanup", "--older-than", "36500d", "--native-expiry")
    assert (only(report)["outcome"], report["exit_code"]) == ("nothing", 0)
    assert len(sim.native.tables[TableName.parse(NAME)].commits) == commits
