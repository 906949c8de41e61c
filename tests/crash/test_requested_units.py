"""Units, tables and selections that are given together, twice, or wrongly."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.crash import writers
from tests.crash.model_spark import ModelRewriter
from tests.crash.model_tree import AUTHORITY
from tests.crash.oracle import check
from tests.crash.scenario import EVENTS, FLAT, WAREHOUSE, build, run
from tests.crash.uneven_table import FILES, by_outcome, job, uneven

PLAN = f"{AUTHORITY}/user/me/plan.json"


@pytest.mark.parametrize("words", [("--where", "k = 'a'"), ("--partitions", '[{"k": "a"}]')])
def test_of_requested_units_only_those_that_are_selected_too_are_compacted(words: tuple[str, str]) -> None:
    sim = uneven()
    report = job(sim, "compact", *words, request={"units": {"sales.uneven": [{"k": "a"}, {"k": "b"}]}})
    assert by_outcome(report, "compacted") == ["a"]


@pytest.mark.parametrize("verb", ["analyze", "plan", "compact"])
def test_a_partition_that_is_not_there_is_named_and_the_others_are_worked_on(verb: str) -> None:
    sim = uneven()
    report = job(sim, verb, "--partitions", '[{"k": "a"}, {"k": "late"}, {"k": "b"}]')
    (table,) = report["tables"]
    (gone,) = [unit for unit in table["units"] if unit["outcome"] == "gone"]
    done = "compacted" if verb == "compact" else "flagged"
    assert sorted(by_outcome(report, done)) == ["a", "b"]
    assert (gone["unit"], gone["code"]) == ({"k": "late"}, "PARTITION_NOT_FOUND")
    assert gone["reason"] == 'the table has no partition {"k": "late"}'
    assert 'PARTITION_NOT_FOUND: the table has no partition {"k": "late"}' in table["warnings"]
    assert (report["exit_code"], table["outcome"]) == (0, "done")


def test_where_no_partition_is_there_it_is_an_error() -> None:
    report = job(uneven(), "compact", "--partitions", '[{"k": "late"}, {"k": "later"}]')
    assert (report["exit_code"], report["outcome"]) == (2, "usage")
    assert 'partition {"k": "late"} does not exist in sales.uneven, nor do the 1 others' in report["error"]


@pytest.mark.parametrize("verify", ["count", "hash"])
def test_a_unit_that_is_requested_twice_is_compacted_once(verify: str) -> None:
    sim = uneven()
    units = [{"k": "a"}, {"K": "a"}, {"k": "b"}]
    report = job(sim, "compact", "--verify", verify, request={"units": {"sales.uneven": units}})
    assert by_outcome(report, "compacted") == ["b", "a"]
    assert len(report["tables"][0]["units"]) == 2
    assert check(sim, journaled=True) == []


def test_a_table_without_partitions_that_is_requested_twice_is_compacted_once() -> None:
    sim = build()
    report = run(sim.client(), "compact", "--table", FLAT, request={"units": {FLAT: [{}, {}]}})
    assert [unit["outcome"] for unit in report["tables"][0]["units"]] == ["compacted"]


def test_a_table_that_is_named_twice_is_worked_on_once() -> None:
    report = run(uneven().client(), "plan", "--tables", "sales.uneven,Sales.Uneven", "--max-units", "5")
    (table,) = report["tables"]
    assert [unit["outcome"] for unit in table["units"]] == ["flagged"] * len(FILES)


def test_an_error_in_a_selection_of_a_later_table_does_not_hide_what_was_done() -> None:
    sim = build()
    tables = f"{EVENTS},{FLAT}"
    report = run(sim.client(), "compact", "--tables", tables, "--partitions", '[{"k": "a"}]')
    first, second = report["tables"]
    assert (first["outcome"], second["outcome"], second["code"]) == ("done", "refused", "USAGE")
    assert "'k' is not a partition key of sales.flat" in second["reason"]
    assert (report["exit_code"], report["error"]) == (1, None)


def test_an_error_in_an_option_of_a_later_table_does_not_hide_what_was_done() -> None:
    request = {"settings": {"sort_columns": {FLAT: {"a": 1}}}}
    report = run(build().client(), "compact", "--tables", f"{EVENTS},{FLAT}", request=request)
    first, second = report["tables"]
    assert (first["outcome"], second["outcome"], second["code"]) == ("done", "refused", "USAGE")
    assert (report["exit_code"], report["error"]) == (1, None)


def test_an_error_in_the_call_stops_before_anything_is_done() -> None:
    sim = build()
    report = run(sim.client(), "compact", "--tables", f"{FLAT},{EVENTS}", "--partitions", '[{"k": "a"}]')
    assert (report["exit_code"], report["tables"]) == (2, [])


@pytest.mark.parametrize("name", ["max_units", "max_bytes", "max_files", "canary", "max_failures"])
def test_a_limit_of_the_job_in_the_section_of_a_table_is_an_error(name: str) -> None:
    report = job(uneven(), "compact", request={"tables": {"sales.uneven": {name: "1"}}})
    assert report["exit_code"] == 2
    assert f"'{name}' in the section of table sales.uneven" in report["error"]


def test_the_cap_on_originals_may_be_one_for_a_table() -> None:
    request = {"tables": {"sales.uneven": {"max_held_bytes": "1b"}}}
    for verb in ("compact", "plan"):
        assert len(by_outcome(job(uneven(), verb, request=request), "deferred")) == len(FILES)


@pytest.mark.parametrize("replaced", [False, True])
def test_files_that_are_added_after_the_plan_count_in_the_limits(
    monkeypatch: pytest.MonkeyPatch, replaced: bool
) -> None:
    sim = uneven()
    planned = sorted(sim.tree.files(f"{WAREHOUSE}/uneven/k=b"))[0][0]
    write = ModelRewriter.write

    def busy(self: ModelRewriter, request: Any) -> Any:
        if request.directory.endswith("k=d"):
            for _ in range(50):
                writers.append(sim, f"{WAREHOUSE}/uneven/k=b", sim.ledger.fresh(1))
            if replaced:
                sim.tree.remove(f"{WAREHOUSE}/uneven/k=b/{planned}")
        return write(self, request)

    monkeypatch.setattr(ModelRewriter, "write", busy)
    words = ("--max-files", 15, "--order", "files-desc", "--parallelism", 1, "--verify", "hash")
    report = job(sim, "compact", *words)
    units = {unit["unit"]["k"]: unit for unit in report["tables"][0]["units"]}
    assert units["d"]["outcome"] == "compacted"
    assert units["b"]["outcome"] == ("changed" if replaced else "deferred")
    begin = f"{planned} was replaced or removed while the unit was compacted (" if replaced else ""
    assert units["b"]["reason"].startswith(
        f"{begin}files were added since it was planned: max_files: it needs {49 if replaced else 50}"
    )
    read = sum(unit["files"] for unit in units.values() if unit["outcome"] == "compacted")
    assert read <= 15


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"\x1f\x8b\x08\xff", "cannot read"),
        (b'{"schema_version": 1, "verb": "plan", "tables": [{"table": 5, "units": []}]}', "plan.json is not"),
        (b'{"schema_version": 1, "verb": "plan", "error": "no such key", "tables": []}', "no such key"),
    ],
)
def test_what_is_no_whole_plan_is_an_error_that_names_the_file(content: bytes, error: str) -> None:
    sim = uneven()
    sim.tree.write(PLAN, content, overwrite=True, parents=True)
    report = run(sim.client(), "compact", "--plan", PLAN)
    assert report["exit_code"] == 2
    assert error in report["error"]


@pytest.mark.parametrize("value", [["a"], {"k": 1}, 1.5])
def test_a_partition_value_that_is_no_text_is_an_error(value: Any) -> None:
    report = job(uneven(), "compact", request={"units": {"sales.uneven": [{"k": value}]}})
    assert report["exit_code"] == 2
    assert json.dumps(value)[:2].strip('"') in report["error"]
