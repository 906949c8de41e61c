"""What the page computes: medians, ratios, the line through two tables, and whether a target is held."""

from __future__ import annotations

import pytest

from benchmarks.arithmetic import line, ratio, spread
from benchmarks.datasets import DATASETS, TARGET, outputs
from benchmarks.figures import hdfs_line
from benchmarks.reports import phases
from benchmarks.targets import TARGETS, Target
from tests.harness.benchmarks.sample import result, results


def test_a_spread_has_the_median_and_both_ends():
    found = spread([5.0, 1.0, 9.0])

    assert (found.median, found.least, found.greatest, found.count) == (5.0, 1.0, 9.0, 3)


def test_a_ratio_is_that_of_the_medians_and_that_of_each_round():
    found = ratio({1: 10.0, 2: 30.0, 3: 20.0}, {1: 10.0, 2: 10.0, 3: 5.0})

    assert found.of_medians == 2.0
    assert (found.of_pairs.median, found.of_pairs.least, found.of_pairs.greatest) == (3.0, 1.0, 4.0)


def test_only_rounds_of_both_make_pairs():
    found = ratio({1: 10.0, 2: 30.0}, {2: 10.0})

    assert (found.of_pairs.median, found.of_pairs.count) == (3.0, 1)
    assert ratio({1: 10.0}, {2: 10.0}) is None


def test_the_line_through_two_tables_has_a_fixed_cost_and_a_slope():
    found = line((650, 20.0), (6500, 78.5))

    assert found.slope == pytest.approx(0.01)
    assert found.fixed == pytest.approx(13.5)


def test_the_targets_on_hdfs_come_from_that_line():
    found = {
        "hdfs-650": results("hdfs-650", files=650, ours=[20.0], bare=[12.0]),
        "hdfs-6500": results("hdfs-6500", files=6500, ours=[78.5], bare=[41.25]),
    }

    assert hdfs_line(found, "ours").fixed == pytest.approx(13.5)
    assert _value("HDFS: fixed cost beyond plain Spark's", found) == pytest.approx(4.75)
    assert _value("HDFS: slope, times plain Spark's", found) == pytest.approx(2.0)


def test_seconds_beyond_sparks_start_are_those_of_the_job_less_those_of_a_session():
    found = {"analysis-10000": results("analysis-10000", start=[6.0, 7.0, 8.0], cold=[40.0, 50.0, 60.0])}

    assert _value("analysis of 10,000 partitions, cold, beyond Spark's start", found) == 43.0


def test_the_growth_is_the_largest_of_all_calls():
    found = results("growth")
    found.results = [result("files", 1, 10.0, largest=1.7), result("files", 2, 10.0, largest=1.9)]

    assert _value("twice the files: calls grow", {"growth": found}) == 1.9


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.what)
def test_what_was_not_measured_holds_no_target(target):
    assert target.value({}) is None
    assert target.verdict(None) == "not measured"


@pytest.mark.parametrize(
    ("value", "verdict"),
    [
        (1.15, "goal held"),
        (1.16, "must held; goal missed by 0.01 x"),
        (1.35, "must held; goal missed by 0.20 x"),
        (1.5, "**must missed by 0.15 x**"),
    ],
)
def test_a_figure_holds_the_goal_or_the_must_or_neither(value, verdict):
    assert Target("any", lambda _: None, 1.35, 1.15, " x").verdict(value) == verdict


@pytest.mark.parametrize(
    ("value", "verdict"),
    [(4.0, "goal held"), (3.5, "must held; goal missed by 0.50 x"), (2.0, "**must missed by 1.00 x**")],
)
def test_a_figure_may_have_to_be_large(value, verdict):
    assert Target("any", lambda _: None, 3, 4, " x", at_least=True).verdict(value) == verdict


@pytest.mark.parametrize(("size", "files"), [(1, 1), (TARGET, 1), (TARGET + 1, 2)])
def test_a_table_is_rewritten_to_files_of_128_mb(size, files):
    assert outputs(size) == files


@pytest.mark.parametrize("dataset", DATASETS.values(), ids=lambda dataset: dataset.name)
def test_each_partition_has_a_directory_of_its_own(dataset):
    assert len(set(dataset.folders())) == max(dataset.partitions, 1)


def _value(what, found):
    (target,) = [each for each in TARGETS if each.what == what]
    return target.value(found)


def test_phases_are_those_of_the_job_or_else_of_its_tables():
    tables = [{"phases": {"list": 1.0, "write": 2.0}}, {"phases": {"write": 3.0}}, {}]

    assert phases({"tables": tables}) == {"list": 1.0, "write": 5.0}
    assert phases({"phases": {"start": 4.0, "write": 5.5}, "tables": tables}) == {"start": 4.0, "write": 5.5}
    assert phases({"tables": [{}]}) == {}
