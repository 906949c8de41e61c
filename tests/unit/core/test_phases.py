"""The seconds of each phase of a job."""

from __future__ import annotations

import pytest

from spark_jobs.protocol.measuring.phases import PHASES, Phases


class Watch:
    """A clock that a test sets."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_only_phases_that_the_job_had_are_reported_in_their_order() -> None:
    watch = Watch()
    phases = Phases(watch)
    for phase, seconds in (("swap", 2.0), ("list", 0.5), ("swap", 1.25)):
        with phases.during(phase):
            watch.now += seconds
    assert list(phases.seconds().items()) == [("list", 0.5), ("swap", 3.25)]


def test_time_that_several_threads_spend_in_a_phase_counts_once() -> None:
    watch = Watch()
    phases = Phases(watch)
    with phases.during("write"):
        watch.now += 1
        with phases.during("write"):
            watch.now += 3
        watch.now += 1
    with phases.during("write"):
        watch.now += 2
    assert phases.seconds() == {"write": 7.0}


def test_a_block_that_fails_counts() -> None:
    watch = Watch()
    phases = Phases(watch)

    def fail() -> None:
        with phases.during("footers"):
            watch.now += 4
            raise OSError("lost")

    with pytest.raises(OSError, match="lost"):
        fail()
    assert phases.seconds() == {"footers": 4.0}


def test_seconds_that_were_measured_elsewhere_are_added() -> None:
    phases = Phases(Watch())
    phases.add("start", 5.5)
    assert phases.seconds() == {"start": 5.5}


def test_an_unknown_phase_is_an_error() -> None:
    with pytest.raises(KeyError), Phases().during("rest"):
        pass
    assert "rest" not in PHASES
