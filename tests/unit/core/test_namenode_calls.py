"""The count and the limit of calls to the NameNode."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from spark_jobs.protocol.measuring.namenode_calls import NameNodeCalls

FILE = "hdfs://nn/t"


class Watch:
    """A clock whose time passes only while somebody sleeps, or a test says so."""

    def __init__(self) -> None:
        self.now, self.slept = 100.0, 0.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.slept += seconds


@pytest.fixture
def watch() -> Watch:
    return Watch()


def limited(watch: Watch, per_second: int | None) -> NameNodeCalls:
    calls = NameNodeCalls(watch, watch.sleep)
    calls.limit(per_second)
    return calls


def test_without_a_limit_calls_are_counted_and_never_wait(watch: Watch) -> None:
    calls = limited(watch, None)
    for _ in range(1000):
        calls.take(FILE)
    calls.take(FILE, 5)
    assert (calls.made, watch.slept) == (1005, 0)
    assert calls.together > 10**6


def test_a_local_disk_has_no_namenode(watch: Watch) -> None:
    calls = limited(watch, 1)
    calls.take("file:/t", 1000)
    assert (calls.made, watch.slept) == (0, 0)


@pytest.mark.parametrize("per_second", [1, 7, 100])
def test_calls_are_no_more_than_the_limit_allows(watch: Watch, per_second: int) -> None:
    calls = limited(watch, per_second)
    times = []
    for _ in range(10 * per_second):
        calls.take(FILE)
        times.append(watch.now)
    burst = max(1, per_second // 10)
    for first, begun in enumerate(times):
        assert sum(begun <= time < begun + 0.999 for time in times[first:]) <= per_second + burst
    assert watch.slept == pytest.approx((10 * per_second - burst) / per_second)


def test_a_pause_saves_up_no_more_than_a_tenth_of_a_second(watch: Watch) -> None:
    calls = limited(watch, 100)
    watch.now += 3600
    calls.take(FILE, 10)
    assert watch.slept == 0
    calls.take(FILE, 10)
    assert watch.slept == pytest.approx(0.1)
    assert calls.together == 10


def test_calls_that_are_found_out_later_are_paid_by_the_next(watch: Watch) -> None:
    """A directory of a million files takes a thousand calls, which only its listing shows."""
    calls = limited(watch, 10)
    calls.take(FILE)
    calls.add(FILE, 999)
    assert watch.slept == 0
    calls.take(FILE)
    assert watch.slept == pytest.approx(100)
    assert calls.made == 1001


def test_a_call_at_once_does_not_wait_and_counts(watch: Watch) -> None:
    calls = limited(watch, 1)
    calls.take(FILE, 1000)
    waited = watch.slept
    with calls.at_once():
        with calls.at_once():
            calls.take(FILE)
        calls.take(FILE)
    assert (calls.made, watch.slept) == (1002, waited)
    calls.take(FILE)
    assert watch.slept == pytest.approx(waited + 3)


def test_at_once_is_for_one_thread_only(watch: Watch) -> None:
    calls = limited(watch, 1)
    calls.take(FILE)
    with calls.at_once(), ThreadPoolExecutor(1) as pool:
        pool.submit(calls.take, FILE).result()
    assert watch.slept == pytest.approx(1)


def test_threads_share_the_limit() -> None:
    """The clock stands still: each thread gets its own turn."""
    waits: list[float] = []
    calls = NameNodeCalls(lambda: 0.0, waits.append)
    calls.limit(10)
    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(calls.take, FILE) for _ in range(101)]:
            done.result()
    assert sorted(round(wait, 3) for wait in waits) == [round(turn / 10, 3) for turn in range(1, 101)]
    assert calls.made == 101
