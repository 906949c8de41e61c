"""A property that threads share is computed once, on each version of Python."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event

from spark_jobs.core.values.once import once


class Listed:
    def __init__(self) -> None:
        self.calls = 0
        self.asked, self.go_on = Barrier(4), Event()

    @once
    def partitions(self) -> list[str]:
        self.calls += 1
        self.go_on.wait(0.2)  # the others have the time to begin too
        return ["d=1"]


def test_threads_that_ask_at_once_share_one_value():
    listed = Listed()

    def ask(_: int) -> list[str]:
        listed.asked.wait(timeout=60)
        return listed.partitions

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(ask, range(4)))
    assert listed.calls == 1
    assert all(each is found[0] for each in found)


def test_each_object_has_its_own():
    one, other = Listed(), Listed()
    assert one.partitions is not other.partitions
    assert one.partitions is one.partitions
