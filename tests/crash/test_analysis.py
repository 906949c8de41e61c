"""What the analysis of a table says before any file is read: it never leaves a table to fail every night."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from spark_jobs.core.model import TableName
from tests.crash import writers
from tests.crash.flat_table import only
from tests.crash.model_tree import AUTHORITY
from tests.crash.scenario import EVENTS, FLAT, WAREHOUSE, build, run
from tests.crash.simulated_cluster import SimulatedCluster

PLANNING = ("analyze", "plan", "compact")


def _with_properties(sim: SimulatedCluster, table: str, **properties: str) -> None:
    name = TableName.parse(table)
    entry = sim.metastore.get(name)
    found = {**entry.facts.properties, **{f"lakekeeper.{key}": value for key, value in properties.items()}}
    sim.metastore.put(name, replace(entry, facts=replace(entry.facts, properties=found)))


class TestPartitionsThatNobodyRegistered:
    def _built(self) -> SimulatedCluster:
        sim = build()
        for value in ("a", "b", "c"):
            writers.drop_partition(sim, EVENTS, value)
        return sim

    @pytest.mark.parametrize("verb", PLANNING)
    def test_are_counted_with_the_command_that_registers_them(self, verb: str) -> None:
        found = only(run(self._built().client(), verb, "--table", EVENTS))
        assert found["outcome"] == "nothing"
        assert "2 directories" in found["reason"]
        assert "such as k=a" in found["reason"]
        assert "MSCK REPAIR TABLE `sales`.`events`" in found["reason"]

    def test_a_root_without_directories_needs_no_reason(self) -> None:
        sim = SimulatedCluster()
        writers.create_table(sim, EVENTS, f"{WAREHOUSE}/events", keys=("k",))
        found = only(run(sim.client(), "analyze", "--table", EVENTS))
        assert (found["outcome"], found["reason"]) == ("nothing", None)

    def test_nothing_is_said_of_a_table_with_partitions(self) -> None:
        sim = build()
        writers.drop_partition(sim, EVENTS, "a")
        assert only(run(sim.client(), "analyze", "--table", EVENTS))["reason"] is None


class TestSortColumns:
    @pytest.mark.parametrize("verb", ["plan", "compact"])
    @pytest.mark.parametrize("columns", ["nope", "id,nope", "item.value"])
    def test_of_an_argument_that_the_table_lacks_are_a_usage_error(self, verb: str, columns: str) -> None:
        report = run(build().client(), verb, "--table", FLAT, "--sort-columns", columns)
        assert (report["outcome"], report["exit_code"]) == ("usage", 2)
        assert f"'{columns.split(',')[-1]}' is not a column of {FLAT}" in report["error"]

    @pytest.mark.parametrize("verb", PLANNING)
    def test_of_the_configuration_are_said_by_the_analysis_too(self, verb: str) -> None:
        request = {"settings": {"sort_columns": {FLAT: ["nope"]}}}
        report = run(build().client(), verb, "--table", FLAT, request=request)
        assert (report["outcome"], report["exit_code"]) == ("usage", 2)

    @pytest.mark.parametrize("verb", PLANNING)
    def test_of_a_property_refuse_the_table_and_no_other(self, verb: str) -> None:
        sim = build()
        _with_properties(sim, FLAT, sort_columns="id, nope")
        report = run(sim.client(), verb, "--database", "sales")
        found = {table["table"]: (table["outcome"], table["code"]) for table in report["tables"]}
        assert (found[FLAT], found[EVENTS]) == (("refused", "USAGE"), ("done", None))
        assert report["exit_code"] == 0
        assert "lakekeeper.sort_columns" in _of(report, FLAT)["reason"]

    def test_that_the_table_has_pass_in_any_case_and_so_do_its_keys(self) -> None:
        report = run(build().client(), "compact", "--table", EVENTS, "--sort-columns", "K,ID")
        assert (only(report)["outcome"], report["exit_code"]) == ("done", 0)

    def test_without_an_order_are_a_usage_error(self) -> None:
        sim = build()
        name = TableName.parse(FLAT)
        entry = sim.metastore.get(name)
        columns = (*entry.facts.columns, ("tags", "map<string,string>"))
        sim.metastore.put(name, replace(entry, facts=replace(entry.facts, columns=columns)))
        report = run(sim.client(), "plan", "--table", FLAT, "--sort-columns", "tags")
        assert "which has no order" in report["error"]

    @pytest.mark.parametrize("verb", ["rollback", "cleanup", "check", "history"])
    def test_stop_no_other_verb(self, verb: str) -> None:
        sim = build()
        _with_properties(sim, FLAT, sort_columns="nope")
        assert run(sim.client(), verb, "--table", FLAT)["exit_code"] == 0


class TestLongNames:
    @pytest.mark.parametrize("verb", PLANNING)
    @pytest.mark.parametrize(("length", "letter"), [(244, "n"), (255, "n"), (122, "é")])
    def test_of_a_flat_table_are_refused_with_their_length(self, verb: str, length: int, letter: str) -> None:
        sim, location = self._flat(letter * length)
        found = only(run(sim.client(), verb, "--table", "sales.long"))
        assert (found["outcome"], found["code"]) == ("refused", "NAME_TOO_LONG")
        assert f"{len((letter * length).encode())} bytes" in found["reason"]
        assert location in found["reason"]

    def test_that_fit_are_compacted(self) -> None:
        sim, _ = self._flat("n" * 243)
        assert only(run(sim.client(), "compact", "--table", "sales.long"))["outcome"] == "done"

    def test_of_partitions_need_no_longer_ones(self) -> None:
        sim = build()
        place = writers.add_partition(sim, EVENTS, "v" * 253)
        for _ in range(4):
            writers.append(sim, place, sim.ledger.fresh(2))
        found = only(run(sim.client(), "compact", "--table", EVENTS))
        assert {unit["outcome"] for unit in found["units"]} == {"compacted"}

    def test_a_path_whose_originals_would_have_a_longer_one_than_the_server_allows(self) -> None:
        deep = "/".join(["d" * 250] * 31)
        sim, _ = self._flat(f"{deep}/t")
        found = only(run(sim.client(), "analyze", "--table", "sales.long"))
        assert (found["outcome"], found["code"]) == ("refused", "NAME_TOO_LONG")
        assert "8000" in found["reason"]

    def _flat(self, path: str) -> tuple[SimulatedCluster, str]:
        sim, location = build(), f"{AUTHORITY}/warehouse/{path}"
        writers.create_table(sim, "sales.long", location)
        for _ in range(4):
            writers.append(sim, location, sim.ledger.fresh(2))
        return sim, location


def _of(report: dict[str, Any], table: str) -> dict[str, Any]:
    (found,) = (each for each in report["tables"] if each["table"] == table)
    return found
