"""The Python API on the simulated cluster: it does what the jobs do, and returns the same reports."""

from __future__ import annotations

import doctest
import importlib
import logging
import pkgutil
import re
from datetime import timedelta
from typing import Any

import pytest

from spark_jobs import api
from spark_jobs.api import calls
from spark_jobs.core.options.layers import Layers
from spark_jobs.core.rules.health import assess
from spark_jobs.core.values.model import FileEntry, FileListing
from tests.crash.process import acting_as
from tests.crash.scenario import EVENTS, FLAT, build, run
from tests.crash.simulated_cluster import SimulatedCluster
from tests.crash.uneven_table import FILES, failing, uneven

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
    builder.with_options({"min_input_files": "2", "verify": "hash"})
    with acting_as(sim.client()):
        result = builder.build()
    units = result.report.tables[0].units
    assert [unit.unit["k"] for unit in units if unit.outcome == "compacted"] == ["a"]
    assert (result.files_compacted, result.new_files_count) == (units[0].files, units[0].files_after)
    assert result.success
    assert result.is_successful()
    assert result.error_message is result.get_error_message() is None
    assert result.compaction_time_ms >= 0


def test_the_plan_of_the_builder_changes_nothing(sim: SimulatedCluster) -> None:
    builder = api.CompactBuilder(None, EVENTS).with_options({"sink.parallelism": "8", "max_units": 1})
    before = sim.digest()
    with acting_as(sim.client()):
        planned = builder.plan()
    assert sim.digest() == before
    assert [unit.outcome for unit in planned.tables[0].units].count("flagged") == 1


def test_the_result_of_a_compaction_that_failed_has_what_was_done(sim: SimulatedCluster) -> None:
    with acting_as(sim.client()), pytest.raises(RuntimeError) as failure:
        api.CompactBuilder(None, "sales.nothing").build()
    assert isinstance(failure.value, api.JobFailed)
    assert str(failure.value).startswith(
        "compact ended as failed: sales.nothing: refused (NOT_FOUND: table sales.nothing does not exist"
    )
    result = api.CompactResult(failure.value.report)
    assert not result.is_successful()
    assert result.get_error_message() == str(failure.value)
    assert (result.files_compacted, result.new_files_count) == (0, 0)
    assert str(failure.value) in str(result)


def test_the_error_names_the_first_partition_that_failed_and_its_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sim = uneven()
    monkeypatch.setattr(calls, "_services", lambda _: sim.client().cluster)
    failing(monkeypatch, *FILES)
    with acting_as(sim.client()), pytest.raises(RuntimeError) as failure:
        api.CompactBuilder(None, "sales.uneven").with_options({"verify": "hash"}).build()
    others = len(FILES) - 1
    why = rf"sales.uneven: failed \(k=(.): no executor is left for \1, and {others} more\)"
    assert re.search(why, str(failure.value))


@pytest.mark.parametrize(
    ("method", "argument", "options"),
    [
        ("with_where", "k = 'a'", {"where": "k = 'a'"}),
        ("with_partition_idle_time", "7d", {"idle_for": "7d"}),
        ("with_partition_idle_time", timedelta(days=7), {"idle_for": timedelta(days=7)}),
        ("with_strategy", "full", {"strategy": "full"}),
        ("with_options", {"sink.parallelism": "8"}, {"parallelism": "8"}),
        ("with_options", {"compaction.min.file-num": "3"}, {"min_input_files": "3"}),
        ("with_options", {"compaction.min.file-num": "1"}, {"min_input_files": 2}),
        (
            "with_options",
            {"target-file-size": "512mb"},
            {"target_file_size": "512mb", "block_size_mb": 128, "compaction_ratio_threshold": 0.5},
        ),
        (
            "with_options",
            {"compaction_ratio_threshold": 4, "target-file-size": "512mb"},
            {"target_file_size": "512mb", "block_size_mb": 128, "compaction_ratio_threshold": 4},
        ),
        (
            "with_options",
            {"target-file-size": "512mb", "block_size_mb": "256"},
            {"target_file_size": "512mb", "block_size_mb": "256", "compaction_ratio_threshold": 1.0},
        ),
        ("with_options", {"target_file_size": "512mb"}, {"target_file_size": "512mb"}),
        (
            "with_options",
            {"target-file-size": "1b", "block_size_mb": 16384},
            {"target_file_size": "1b", "block_size_mb": 16384, "compaction_ratio_threshold": 1e9},
        ),
    ],
)
def test_each_method_of_the_builder_sets_an_option(
    method: str, argument: Any, options: dict[str, Any]
) -> None:
    assert getattr(api.CompactBuilder(None, EVENTS), method)(argument).options == options


def test_of_several_target_sizes_the_last_one_counts() -> None:
    builder = api.CompactBuilder(None, EVENTS).with_options({"target-file-size": "1gb"})
    assert builder.with_options({"target_file_size": "128mb"}).options == {"target_file_size": "128mb"}


@pytest.mark.parametrize(("size", "flagged"), [("256mb", False), ("400mb", False), ("512mb", True)])
def test_the_files_of_paimons_worked_case_are_small_below_half_of_the_target_size(
    size: str, flagged: bool
) -> None:
    """A hundred files of 200 MB in each hour."""
    builder = api.CompactBuilder(None, EVENTS).with_strategy("full").with_options({"target-file-size": size})
    options = Layers(command_line=builder.options).resolve()
    files = FileListing.of(FileEntry(f"f{n}", 200 << 20, n) for n in range(100))
    assert assess(files, options.thresholds()).needs_compaction is flagged


@pytest.mark.parametrize(
    "option",
    [
        "num-sorted-run.compaction-trigger",
        "compaction.delete-ratio-threshold",
        "compaction.total-size-threshold",
        "write-only",
    ],
)
def test_an_option_of_paimon_that_we_do_not_have_is_refused_with_the_reason(option: str) -> None:
    with pytest.raises(ValueError, match=f"'{option}' of Paimon is not one of ours: "):
        api.CompactBuilder(None, EVENTS).with_options({option: "5"})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"partitions": [{"k": "1"}]}, "use only one of them"),
        ({"where": "k = 1"}, "use only one of them"),
        ({"strategy": "most"}, "strategy = 'most'"),
        ({"sink.parallelism": "many"}, "parallelism = 'many'"),
        ({"sink.paralelism": "8"}, "unknown option"),
    ],
)
@pytest.mark.parametrize("act", ["build", "plan"])
def test_the_builder_refuses_a_wrong_option_before_it_begins(
    options: dict[str, Any], message: str, act: str
) -> None:
    builder = api.CompactBuilder(None, EVENTS).with_options(options).with_partition_idle_time("7d")
    with pytest.raises(ValueError, match=message):
        getattr(builder, act)()


def test_the_examples_in_the_docstrings_are_true() -> None:
    names = [each.name for each in pkgutil.iter_modules(api.__path__, "spark_jobs.api.")]
    modules = [api, *map(importlib.import_module, names)]
    results = [doctest.testmod(module) for module in modules]
    assert sum(result.attempted for result in results) >= 5
    assert [result.failed for result in results] == [0] * len(modules)
