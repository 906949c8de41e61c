"""The Python API on the simulated cluster: it does what the jobs do, and returns the same reports."""

from __future__ import annotations

import doctest
import importlib
import logging
import pkgutil
from datetime import timedelta
from typing import Any

import pytest

from spark_jobs import api
from spark_jobs.api import calls
from tests.crash.process import acting_as
from tests.crash.scenario import EVENTS, FLAT, build, run
from tests.crash.simulated_cluster import SimulatedCluster

#: What differs between two runs of the same work: ids, times and durations.
_OWN = {
    "run_id",
    "started",
    "ended",
    "phases",
    "seconds",
    "at",
    "backup_table",
    "deferred_since",
    "namenode_calls_per_second",
}


@pytest.fixture
def sim(monkeypatch: pytest.MonkeyPatch) -> SimulatedCluster:
    """A cluster whose services the API finds in any session."""
    cluster = build()
    monkeypatch.setattr(calls, "_services", lambda _: cluster.client().cluster)
    return cluster


def same(value: Any) -> Any:
    """Return what does not differ between two runs of the same work."""
    if isinstance(value, dict):
        return {key: same(each) for key, each in value.items() if key not in _OWN}
    return [same(each) for each in value] if isinstance(value, (list, tuple)) else value


def called(name: str, sim: SimulatedCluster, **arguments: Any) -> dict[str, Any]:
    with acting_as(sim.client()):
        return same(getattr(api, name)(None, **arguments).to_json())


STORY: list[tuple[str, dict[str, Any], list[str]]] = [
    ("analyze", {"min_input_files": 3}, ["--min-input-files", "3"]),
    ("plan", {"max_units": 2}, ["--max-units", "2"]),
    ("compact", {"max_units": 2, "order": "files-asc"}, ["--max-units", "2", "--order", "files-asc"]),
    ("history", {"units": True}, ["--units"]),
    ("check", {}, []),
    ("rollback", {}, []),
    ("cleanup", {"older_than": timedelta(days=7)}, ["--older-than", "7d"]),
]


def test_each_function_returns_the_report_of_its_job(sim: SimulatedCluster) -> None:
    """One after the other, on two clusters that are the same."""
    other = build()
    for name, options, words in STORY:
        mine = called(name, sim, table=EVENTS, **options)
        theirs = same(run(other.client(), name, "--table", EVENTS, *words))
        theirs.pop("exit_code")
        assert mine == theirs, name


def test_nothing_is_printed_and_the_level_of_the_logger_stays(
    sim: SimulatedCluster, capsys: pytest.CaptureFixture[str]
) -> None:
    log = logging.getLogger("lakekeeper")
    before = log.level
    called("compact", sim, table=FLAT, log_level="DEBUG")
    called("history", sim, table=FLAT)
    called("check", sim, table=FLAT)
    assert capsys.readouterr().out == ""
    assert log.level == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "nothing is named"),
        ({"table": "a.b", "database": "a"}, "table and database are given"),
        ({"tables": "a.b"}, "must be a list of names"),
        ({"table": "a.b", "min_input_file": 3}, "did you mean 'min_input_files'"),
        ({"table": "a.b", "min_input_files": "many"}, "min_input_files = 'many'"),
        ({"table": "a.b", "older_than": "7d"}, "an option of cleanup, and not of compact"),
        ({"table": "a.b", "where": "k = 1", "partitions": [{"k": "1"}]}, "use only one of them"),
        ({"table": "a.b", "run_id": "two words"}, "64 characters"),
        ({"table": "a.b", "partitions": []}, "must be a list of 1 to"),
    ],
)
def test_a_wrong_argument_is_a_value_error_and_nothing_is_changed(
    sim: SimulatedCluster, arguments: dict[str, Any], message: str
) -> None:
    before = sim.digest()
    with acting_as(sim.client()), pytest.raises(ValueError, match=message):
        api.compact(None, **arguments)
    assert sim.digest() == before


def test_what_fails_is_a_runtime_error_with_the_report(sim: SimulatedCluster) -> None:
    with acting_as(sim.client()), pytest.raises(RuntimeError, match=r"sales\.nothing: refused") as failure:
        api.compact(None, tables=[FLAT, "sales.nothing"])
    assert isinstance(failure.value, api.JobFailed)
    report = failure.value.report
    assert [(table.table, str(table.outcome)) for table in report.tables] == [
        (FLAT, "done"),
        ("sales.nothing", "refused"),
    ]
    assert report.exit_code == 1


def test_the_builder_compacts_what_it_was_told(sim: SimulatedCluster) -> None:
    builder = api.CompactBuilder(None, EVENTS).with_partitions([{"k": "a"}])
    compaction = builder.with_options({"min_input_files": "2", "verify": "hash"}).build()
    with acting_as(sim.client()):
        report = compaction.execute()
    assert [unit.unit["k"] for unit in report.tables[0].units if unit.outcome == "compacted"] == ["a"]


@pytest.mark.parametrize(
    ("method", "argument", "option"),
    [
        ("with_where", "k = 'a'", "where"),
        ("with_partition_idle_time", "7d", "idle_for"),
        ("with_partition_idle_time", timedelta(days=7), "idle_for"),
        ("with_strategy", "full", "strategy"),
    ],
)
def test_each_method_of_the_builder_sets_an_option(method: str, argument: Any, option: str) -> None:
    builder = getattr(api.CompactBuilder(None, EVENTS), method)(argument)
    assert builder.build().options == {option: argument}


@pytest.mark.parametrize("options", [{"partitions": [{"k": "1"}]}, {"where": "k = 1"}])
def test_the_builder_refuses_two_ways_to_select(options: dict[str, Any]) -> None:
    builder = api.CompactBuilder(None, EVENTS).with_options(options).with_partition_idle_time("7d")
    with pytest.raises(ValueError, match="use only one of them"):
        builder.build()


def test_the_examples_in_the_docstrings_are_true() -> None:
    names = [each.name for each in pkgutil.iter_modules(api.__path__, "spark_jobs.api.")]
    modules = [api, *map(importlib.import_module, names)]
    results = [doctest.testmod(module) for module in modules]
    assert sum(result.attempted for result in results) >= 5
    assert [result.failed for result in results] == [0] * len(modules)
