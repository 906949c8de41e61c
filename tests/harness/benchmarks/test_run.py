"""Rounds and steps, results that are continued, and the command line."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace

import pytest

from benchmarks import results as stored
from benchmarks import run
from benchmarks.cases import CASES
from benchmarks.cases.case import Case
from benchmarks.measuring import Measured, RunFailed
from tests.harness.benchmarks import sample

MEASURED = Measured(wall=1.0, cpu=2.0, jvm_mb=300, python_mb=40, others=0.1)


class Fake:
    """A case that notes what it is asked to run; `fails` is the turn that fails."""

    facts = {"files": 3}

    def __init__(self):
        self.ran, self.fails = [], None

    def run(self, step, number):
        if (number, step) == self.fails:
            raise RunFailed("the job failed")
        self.ran.append((number, step))
        return MEASURED, {"files_after": 1}

    def case(self, **more):
        @contextmanager
        def opened(bench):
            yield self

        return Case("fake", "Fake", "", ("ours", "lakekeeper", "bare"), opened, **more)


@pytest.fixture
def asked(tmp_path):
    """Parse a command line of one case, whose folder is the test's."""
    return lambda *argv: run.parse(["demo", "--scratch", str(tmp_path), *argv])


@pytest.fixture
def store(asked):
    return asked().store


def test_steps_run_in_turn():
    case = Fake().case(rounds=2)

    assert list(case.turns(None)) == [
        (1, "ours"),
        (1, "lakekeeper"),
        (1, "bare"),
        (2, "ours"),
        (2, "lakekeeper"),
        (2, "bare"),
    ]


def test_some_steps_run_in_fewer_rounds_or_not_at_all():
    case = Fake().case(rounds=5, limits={"lakekeeper": 1})

    assert list(case.turns(2)) == [(1, "ours"), (1, "lakekeeper"), (1, "bare"), (2, "ours"), (2, "bare")]
    assert list(case.turns(2, ("bare",))) == [(1, "bare"), (2, "bare")]


def test_cases_of_one_line_alternate_step_by_step():
    small, large = Fake().case(rounds=2, line="hdfs"), Fake().case(rounds=1, line="hdfs")
    small, large = replace(small, name="small"), replace(large, name="large")

    turns = run.alternating([(case, list(case.turns(None))) for case in (small, large)])

    assert [(number, step, case.name) for number, step, case in turns] == [
        (1, "ours", "small"),
        (1, "ours", "large"),
        (1, "lakekeeper", "small"),
        (1, "lakekeeper", "large"),
        (1, "bare", "small"),
        (1, "bare", "large"),
        (2, "ours", "small"),
        (2, "lakekeeper", "small"),
        (2, "bare", "small"),
    ]


def test_each_case_of_a_line_keeps_its_own_results(store, asked):
    small, large = Fake(), Fake()
    cases = [replace(small.case(rounds=1), name="small"), replace(large.case(rounds=1), name="large")]

    run.run_cases(None, cases, asked())

    assert [len(store.load(name).results) for name in ("small", "large")] == [3, 3]
    assert small.ran == large.ran == [(1, "ours"), (1, "lakekeeper"), (1, "bare")]


def test_each_result_is_kept_at_once_and_a_second_run_continues(store, asked):
    fake = Fake()
    fake.fails = (1, "bare")
    with pytest.raises(RunFailed):
        run.run_cases(None, [fake.case(rounds=1)], asked())
    assert [each.step for each in store.load("fake").results] == ["ours", "lakekeeper"]

    fake.fails, fake.ran = None, []
    run.run_cases(None, [fake.case(rounds=1)], asked())

    assert fake.ran == [(1, "bare")]
    kept = store.load("fake")
    assert [each.step for each in kept.results] == ["ours", "lakekeeper", "bare"]
    assert kept.results[2].measured == MEASURED
    assert (kept.facts, kept.results[2].figures) == ({"files": 3}, {"files_after": 1})


def test_a_case_that_is_complete_is_not_prepared_again(store, asked, capsys):
    run.run_cases(None, [Fake().case(rounds=1)], asked())

    def opened(_):
        raise AssertionError("the tables were made")

    run.run_cases(None, [Case("fake", "Fake", "", ("ours",), opened, rounds=1)], asked())

    assert "fake: complete" in capsys.readouterr().out


def test_more_rounds_are_added_to_those_that_are_there(store, asked):
    fake = Fake()
    run.run_cases(None, [fake.case()], asked("--rounds", "1"))
    fake.ran = []

    run.run_cases(None, [fake.case()], asked("--rounds", "2"))

    assert {number for number, _ in fake.ran} == {2}


def test_results_of_other_sources_are_not_continued(store, asked, monkeypatch):
    run.run_cases(None, [Fake().case(rounds=1)], asked())
    monkeypatch.setattr(stored, "fingerprint", lambda: "other sources")

    fake = Fake()
    run.run_cases(None, [fake.case(rounds=1)], asked())

    assert len(fake.ran) == 3


def test_again_forgets_what_was_measured(store, asked):
    run.run_cases(None, [Fake().case(rounds=1)], asked())

    fake = Fake()
    run.run_cases(None, [fake.case(rounds=1)], asked("--again"))

    assert len(fake.ran) == 3
    assert len(store.load("fake").results) == 3


def test_a_disk_that_is_too_small_is_refused_before_anything_is_made(store, asked):
    fake = Fake()

    with pytest.raises(run.NoSpace, match=r"fake needs 1000000\.0 GB in .*, and \d+\.\d GB are free"):
        run.run_cases(None, [fake.case(disk_gb=1e6)], asked())
    assert not fake.ran


def test_results_are_read_as_they_were_written(store):
    written = sample.results("demo", ours=[1.0, 2.0])

    store.save(written)

    assert store.load("demo") == written
    assert store.load("query") is None


def test_without_names_every_case_runs():
    assert run.parse([]).cases == tuple(CASES.values())


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["demoo"], "no such case: demoo (there are files-65000, "),
        (["demo", "--steps", "theirs"], "no such step: theirs"),
        (["demo", "--rounds", "0"], "--rounds must be 1 or more, not 0"),
    ],
)
def test_what_cannot_be_run_is_named(argv, message, capsys):
    with pytest.raises(SystemExit):
        run.parse(argv)

    assert message in capsys.readouterr().err


def test_a_run_of_some_cases_prints_them_and_leaves_the_page(store, asked, monkeypatch, capsys):
    def publish(_):
        raise AssertionError("the page was written")

    monkeypatch.setattr(run, "publish", publish)
    store.save(sample.results("demo", ours=[10.0], bare=[5.0]))

    run.show(asked())

    assert "| this project / plain Spark | 2.00 |" in capsys.readouterr().out
