"""A plan as a file: it says what a compaction does, and a compaction does what it says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from spark_jobs.core.values.model import TableName
from tests.crash import writers
from tests.crash.kept_plan import PLAN, kept, units_with
from tests.crash.scenario import EVENTS, FLAT, WAREHOUSE, build, run
from tests.crash.simulated_cluster import SimulatedCluster
from tests.crash.uneven_table import by_outcome, job, uneven

LIMITED = ("--database", "sales", "--max-units", "2")


def _request(plan: dict[str, Any]) -> dict[str, Any]:
    """The request of an operator that was given this plan."""
    flagged = [unit for unit in plan["tables"][0]["units"] if unit["outcome"] == "flagged"]
    return {
        "arguments": {"order": "none"},
        "units": {"sales.uneven": [unit["unit"] for unit in flagged]},
        "fingerprints": {"sales.uneven": [unit["fingerprint"] for unit in flagged]},
    }


@pytest.mark.parametrize(
    ("words", "content"),
    [
        pytest.param(("--plan",), dict, id="--plan"),
        pytest.param(("--table", "sales.uneven", "--request"), _request, id="request"),
    ],
)
def test_a_plan_is_executed_as_it_is_and_what_has_changed_is_named(
    words: tuple[str, ...], content: Callable[[dict[str, Any]], dict[str, Any]]
) -> None:
    sim = uneven()
    plan = job(sim, "plan", "--max-units", 3, "--order", "files-desc")
    assert by_outcome(plan, "flagged") == ["d", "b", "c"]
    uri = kept(sim, content(plan))
    writers.append(sim, f"{WAREHOUSE}/uneven/k=b", sim.ledger.fresh(3))
    report = run(sim.client(), "compact", *words, uri)
    assert by_outcome(report, "compacted") == ["d", "b", "c"]
    assert [unit["unit"]["k"] for unit in report["tables"][0]["units"]] == ["d", "b", "c"]
    (warning,) = [text for text in report["tables"][0]["warnings"] if text.startswith("PLAN_CHANGED")]
    assert warning.endswith("planned again: k=b")


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        '{"schema_version": 1, "verb": "compact", "tables": []}',
        '{"schema_version": 1, "verb": "plan"}',
    ],
)
def test_what_is_no_plan_is_a_usage_error(content: str) -> None:
    sim = uneven()
    sim.tree.write(PLAN, content.encode(), overwrite=True, parents=True)
    report = run(sim.client(), "compact", "--plan", PLAN)
    assert report["exit_code"] == 2
    assert "plan.json is not" in report["error"]


def test_a_dry_run_says_the_same_as_the_plan() -> None:
    sim = uneven()
    words = ("--max-units", 2, "--order", "files-asc")
    dry, plan = job(sim, "compact", "--dry-run", *words), job(sim, "plan", *words)
    assert dry["tables"] == plan["tables"]
    assert by_outcome(plan, "deferred") == ["c", "b", "d"]


def test_within_limits_plan_dry_run_and_compaction_of_a_database_take_the_same_units_in_the_same_order() -> (
    None
):
    plan = run(build().client(), "plan", *LIMITED)
    dry = run(build().client(), "compact", "--dry-run", *LIMITED)
    done = run(build().client(), "compact", *LIMITED)
    assert dry["tables"] == plan["tables"]
    assert units_with(plan, "flagged") == units_with(done, "compacted")
    assert units_with(plan, "flagged", "deferred") == units_with(done, "compacted", "deferred")
    assert [table["table"] for table in done["tables"]] == [FLAT, EVENTS]


def test_a_table_of_which_nothing_was_begun_comes_first_the_next_time() -> None:
    """It was never compacted, so it has no directory of the project yet."""
    sim = build()
    words = ("compact", "--database", "sales", "--max-units", "1")
    first = run(sim.client(), *words)
    assert units_with(first, "compacted") == [(FLAT, "")]
    for _ in range(30):
        writers.append(sim, f"{WAREHOUSE}/flat", sim.ledger.fresh(3))
    second = run(sim.client(), *words)
    assert [table for table, _ in units_with(second, "compacted")] == [EVENTS]


def test_the_order_of_tables_is_their_own_where_nothing_limits_them() -> None:
    report = run(build().client(), "compact", "--database", "sales")
    assert [table["table"] for table in report["tables"]] == [EVENTS, FLAT]
    limited = run(build().client(), "compact", "--order", "none", *LIMITED)
    assert [table["table"] for table in limited["tables"]] == [EVENTS, FLAT]


def test_a_table_that_cannot_be_planned_is_the_last_one_and_says_why() -> None:
    sim = build()
    facts = sim.metastore.get(TableName.parse(FLAT)).facts
    facts.properties["lakekeeper.enabled"] = "nope"  # type: ignore[index]
    report = run(sim.client(), "compact", *LIMITED)
    assert [(table["table"], table["code"]) for table in report["tables"]] == [
        (EVENTS, None),
        (FLAT, "OPTED_OUT"),
    ]
    assert report["tables"][1]["warnings"][0].startswith("PROPERTY_IGNORED")


def test_a_compaction_takes_the_options_of_the_plan_and_the_command_line_replaces_them() -> None:
    sim = uneven()
    plan = job(sim, "plan", "--min-input-files", "9", "--strategy", "minor", "--target-file-size", "1gb")
    assert by_outcome(plan, "flagged") == ["d"]
    options = plan["tables"][0]["options"]
    assert (options["strategy"], options["min_input_files"]) == ("minor", 9)
    planned = {unit["unit"]["k"]: unit.get("strategy_reason") for unit in plan["tables"][0]["units"]}
    report = run(sim.client(), "compact", "--plan", kept(sim, plan))
    (unit,) = report["tables"][0]["units"]
    assert (unit["unit"]["k"], unit["outcome"]) == ("d", "compacted")
    assert unit["strategy_reason"] == planned["d"] == "none of its files has the target size"
    other = uneven()
    report = run(other.client(), "compact", "--plan", kept(other, plan), "--min-input-files", "1000")
    assert by_outcome(report, "compacted") == []


@pytest.mark.parametrize(
    "words",
    [("--partitions", "k=a"), ("--where", "k = 'a'"), ("--idle-for", "7d")],
    ids=lambda words: words[0],
)
def test_a_plan_and_a_selection_exclude_each_other(words: tuple[str, str]) -> None:
    sim = uneven()
    report = run(sim.client(), "compact", "--plan", kept(sim, job(sim, "plan")), *words)
    assert report["exit_code"] == 2
    assert words[0] in report["error"]


def test_a_plan_says_how_each_unit_is_written_and_who_makes_the_files() -> None:
    (table,) = job(uneven(), "plan")["tables"]
    assert {unit["strategy"] for unit in table["units"]} == {"full"}
    assert {writer["owner"] for writer in table["small_file_writers"]}


def _opted_out(sim: SimulatedCluster) -> None:
    facts = sim.metastore.get(TableName.parse("sales.uneven")).facts
    facts.properties["lakekeeper.enabled"] = "false"  # type: ignore[index]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("enabled", True),
        ("trusted_owners", ["mallory"]),
        ("attributes", "warn"),
        ("register_backup", False),
        ("writers", "overwrite"),
        ("verify", "count"),
        ("on_failure", "undo"),
        ("lease_wait", "1s"),
        ("staging_ttl", "1m"),
        ("skip_trash", True),
        ("nonsense", 1),
    ],
)
def test_a_plan_sets_nothing_but_what_chooses_and_sizes_work(name: str, value: Any) -> None:
    sim = uneven()
    plan = job(sim, "plan")
    plan["tables"][0]["options"][name] = value
    uri = kept(sim, plan)
    before = sim.tree.digest()
    report = run(sim.client(), "compact", "--plan", uri)
    assert report["exit_code"] == 2
    assert f"table sales.uneven: a plan cannot set '{name}'" in report["error"]
    assert sim.tree.digest() == before


def test_a_value_of_a_plan_that_is_out_of_bounds_is_named_with_the_plan() -> None:
    sim = uneven()
    plan = job(sim, "plan")
    plan["tables"][0]["options"]["block_size_mb"] = 10**9
    report = run(sim.client(), "compact", "--plan", kept(sim, plan))
    assert report["exit_code"] == 2
    assert "block_size_mb = 1000000000 in the plan of table sales.uneven is not valid" in report["error"]
    assert "from 1 to 16384" in report["error"]


def test_a_table_that_was_opted_out_after_the_plan_is_not_compacted() -> None:
    sim = uneven()
    uri = kept(sim, job(sim, "plan"))
    _opted_out(sim)
    report = run(sim.client(), "compact", "--plan", uri)
    assert [(table["outcome"], table["code"]) for table in report["tables"]] == [("refused", "OPTED_OUT")]


def test_how_readers_match_columns_comes_from_the_table_and_not_from_its_plan() -> None:
    """A plan tells it, and may be older than the property."""
    sim = uneven()
    plan = job(sim, "plan")
    plan["tables"][0]["options"]["readers"] = "by-name"
    uri = kept(sim, plan)
    facts = sim.metastore.get(TableName.parse("sales.uneven")).facts
    facts.properties["lakekeeper.readers"] = "by-position"  # type: ignore[index]
    dry = run(sim.client(), "compact", "--plan", uri, "--dry-run")
    assert dry["tables"][0]["options"]["readers"] == "by-position"


@pytest.mark.parametrize("name", ["sales.uneven", "Sales.`Uneven`"])
def test_a_table_that_is_in_a_plan_twice_is_an_error(name: str) -> None:
    sim = uneven()
    plan = job(sim, "plan")
    plan["tables"] += [{**plan["tables"][0], "table": name, "units": plan["tables"][0]["units"][:1]}]
    report = run(sim.client(), "compact", "--plan", kept(sim, plan))
    assert report["exit_code"] == 2
    assert "table sales.uneven twice" in report["error"]
