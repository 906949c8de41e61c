"""What the analysis of a table says before any file is read: it never leaves a table to fail every night."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from spark_jobs.core.values.model import TableName
from tests.crash import writers
from tests.crash.flat_table import LIVE, only
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
        assert "MSCK REPAIR TABLE sales.events" in found["reason"]

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


DAY = 86_400


class TestStaging:
    """A query that still runs must not lose its rows, however long it takes: no age makes a unit due."""

    @pytest.mark.parametrize("verb", PLANNING)
    @pytest.mark.parametrize("staging", [".hive-staging_hive_1-1", "_temporary", "_impala_insert_staging"])
    def test_that_a_writer_left_long_ago_is_named_with_its_age_and_the_command(
        self, verb: str, staging: str
    ) -> None:
        sim = build()
        sim.tree.write(f"{LIVE}/{staging}/-ext-1/000000_0", b"x", parents=True)
        sim.advance(200 * DAY)
        before = sim.tree.digest()
        found = only(run(sim.client(), verb, "--table", FLAT))
        assert (found["outcome"], found["code"]) == ("refused", "ACTIVE_WRITER")
        assert "for the last time, longer ago than 'staging_ttl'" in found["reason"]
        assert f"hdfs dfs -rm -r '{LIVE}/{staging}'" in found["reason"]
        assert sim.tree.digest() == before

    def test_is_as_young_as_what_is_in_it(self) -> None:
        sim = build()
        sim.tree.write(f"{LIVE}/.hive-staging_1/-ext-1/000000_0", b"x", parents=True)
        sim.advance(200 * DAY)
        sim.tree.write(f"{LIVE}/.hive-staging_1/-ext-1/000001_0", b"x")
        reason = only(run(sim.client(), "analyze", "--table", FLAT))["reason"]
        assert "belongs to a writer that has not finished" in reason
        assert "staging_ttl" not in reason

    @pytest.mark.parametrize("place", ["events", "events/k=a"])
    @pytest.mark.parametrize("setting", [".stg", "/tmp/x/.stg/", "stage"])
    def test_is_recognised_by_the_name_in_the_settings_of_the_table(self, place: str, setting: str) -> None:
        sim = build()
        name = TableName.parse(EVENTS)
        entry = sim.metastore.get(name)
        facts = replace(entry.facts, properties={"hive.exec.stagingdir": setting})
        sim.metastore.put(name, replace(entry, facts=facts))
        folder = setting.rstrip("/").rpartition("/")[2]
        sim.tree.make_dirs(f"{WAREHOUSE}/{place}/{folder}_hive_2026-01-01_1-1")
        units = only(run(sim.client(), "analyze", "--table", EVENTS))["units"]
        assert {u["unit"]["k"]: u["code"] for u in units}["a"] == "ACTIVE_WRITER"

    def test_is_recognised_by_the_name_in_the_settings_of_the_cluster(self) -> None:
        sim = build()
        sim.tree.make_dirs(f"{LIVE}/.stg_hive_1-1")
        client = sim.client()
        client.cluster = replace(client.cluster, staging=(".stg",))
        assert only(run(client, "analyze", "--table", FLAT))["code"] == "ACTIVE_WRITER"

    @pytest.mark.parametrize("folder", [".unknown", "_archive"])
    def test_of_a_name_that_nobody_knows_is_not_to_be_moved_up(self, folder: str) -> None:
        sim = build()
        sim.tree.write(f"{LIVE}/{folder}/000000_0", b"x", parents=True)
        found = only(run(sim.client(), "compact", "--table", FLAT))
        assert (found["outcome"], found["code"]) == ("refused", "SUBDIRECTORIES")
        assert "a query may be writing in it" in found["reason"]
        assert "its rows would be lost" not in found["reason"]
