"""No crash, no error and no second publisher leaves the commit log with more or less than what was done."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from datetime import timedelta

import pytest

from spark_jobs.core.records.change import change_of
from spark_jobs.core.records.snapshots import COMPACT, BrokenLog
from spark_jobs.protocol.file_system import FileSystemError
from tests.unit.core.faulty_memory_fs import NOW, Crash, MemoryFs, failing, files, fine, run_state, swap
from tests.unit.core.memory_log import compact, live, log, prepared, stored


def calls_of_a_publication() -> list[str]:
    fs = prepared()
    fs.calls.clear()
    log(fs).publish(compact())
    return fs.calls


CALLS = calls_of_a_publication()


def test_a_publication_ends_with_its_only_rename() -> None:
    assert (CALLS.count("rename"), CALLS[-1]) == (1, "rename")


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("at", range(1, len(CALLS) + 1), ids=lambda at: f"{at}-{CALLS[at - 1]}")
def test_a_crash_at_any_call_leaves_the_change_in_or_out_and_a_retry_puts_it_in(at: int, after: bool) -> None:
    fs = prepared()
    fs.calls.clear()
    fs.fault = failing(at, crash=True, after=after)
    with pytest.raises(Crash):
        log(fs).publish(compact())
    fs.fault = fine
    ended = at > CALLS.index("rename") + (0 if after else 1)
    assert live(fs) == (["c", "y"] if ended else ["y"])
    log(fs).publish(compact())
    assert_whole(fs)


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("at", range(1, len(CALLS) + 1), ids=lambda at: f"{at}-{CALLS[at - 1]}")
def test_an_error_at_any_call_is_told_from_success_and_leaves_nothing_behind(at: int, after: bool) -> None:
    fs = prepared()
    before = stored(fs)
    fs.calls.clear()
    fs.fault = failing(at, crash=False, after=after)
    ended = at > CALLS.index("rename") + (0 if after else 1)
    if ended:
        assert log(fs).publish(compact()) is not None
    else:
        with pytest.raises(FileSystemError):
            log(fs).publish(compact())
        assert stored(fs) == before
    fs.fault = fine
    log(fs).publish(compact())
    assert_whole(fs)


def assert_whole(fs: MemoryFs) -> None:
    """Both runs are in once, all that is named is there, and a sweep leaves nothing else."""
    assert [(s.id, s.run_id) for s in log(fs).snapshots()] == [(1, "before"), (2, "r")]
    assert live(fs) == ["c", "y"]
    fs.time = NOW + timedelta(hours=2)
    log(fs).sweep()
    assert live(fs) == ["c", "y"]
    # Each snapshot has two lists and the manifest of its own entries.
    assert len(stored(fs)) == 2 * 5
    assert {"snapshot/snapshot-1", "snapshot/snapshot-2"} <= stored(fs)


@pytest.mark.parametrize("look", ["delete_file", "status", "read"])
def test_when_nobody_can_tell_nothing_is_cleaned_up(look: str) -> None:
    """The rename took effect, its answer is lost, and so is the look at it: all that the snapshot names must stay."""
    fs = prepared()
    renamed = False

    def fault(number: int, name: str, done: bool) -> None:
        nonlocal renamed
        if name == "rename" and done:
            renamed = True
            raise FileSystemError("the answer is lost")
        if renamed and name == look:
            raise FileSystemError("and so is the look")

    fs.fault = fault
    with pytest.raises(FileSystemError):
        log(fs).publish(compact())
    fs.fault = fine
    assert live(fs) == ["c", "y"]
    assert_whole(fs)


def meanwhile(fs: MemoryFs, act: Callable[[], object]) -> None:
    """Somebody else acts just before this one's rename."""
    once = [act]

    def fault(number: int, name: str, done: bool) -> None:
        if name == "rename" and not done and once:
            once.pop()()

    fs.fault = fault


def test_of_two_publishers_the_later_one_builds_on_the_earlier() -> None:
    fs = MemoryFs()
    other = change_of("other", run_state(swap("2", files("x"), files("y"))), COMPACT)
    meanwhile(fs, lambda: log(fs).publish(other))
    mine = log(fs).publish(compact())
    assert mine is not None
    assert [(s.id, s.run_id) for s in log(fs).snapshots()] == [(1, "other"), (2, "r")]
    assert live(fs) == ["c", "y"]
    assert len(stored(fs)) == 2 * 5


def test_of_two_publishers_of_one_change_one_is_enough() -> None:
    fs = MemoryFs()
    meanwhile(fs, lambda: log(fs).publish(compact()))
    assert log(fs).publish(compact()) == log(fs).latest()
    assert [s.id for s in log(fs).snapshots()] == [1]
    assert len(stored(fs)) == 5


def test_a_publisher_that_always_comes_second_gives_up() -> None:
    fs = MemoryFs()
    numbers = itertools.count()

    def fault(number: int, name: str, done: bool) -> None:
        if name == "rename" and not done:
            raise FileExistsError(f"taken {next(numbers)}")

    fs.fault = fault
    with pytest.raises(BrokenLog, match="numbers in a row"):
        log(fs).publish(compact())
    assert (stored(fs), next(numbers)) == (set(), 20)
