"""The commit log on a file system: what a snapshot says, what is read of it, and what a sweep takes away."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from spark_jobs.core.messages.errors import OtherVersion
from spark_jobs.core.records import journal
from spark_jobs.core.records.change import change_of, joined
from spark_jobs.core.records.snapshots import COMPACT, ROLLBACK, BrokenLog, Sizes, Snapshot
from tests.unit.core.faulty_memory_fs import HOME, NOW, MemoryFs, files, run_state, swap
from tests.unit.core.memory_log import compact, live, log, prepared, stored


def test_a_snapshot_says_what_was_done_and_where_the_log_stands() -> None:
    fs = MemoryFs()
    first = log(fs).publish(compact())
    assert first is not None
    assert first == log(fs).latest()
    assert (first.id, first.kind, first.run_id, first.who) == (1, "compact", "r", "etl")
    assert (first.units, first.rows, first.before, first.after) == (1, 5, Sizes(2, 20), Sizes(1, 10))
    assert (first.committed_at, first.logged_at) == (NOW + timedelta(minutes=1), NOW)
    state = run_state(swap("1", files("a", "b"), files("c")), then=journal.ROLLED_BACK)
    second = log(fs).publish(change_of("r", state, ROLLBACK))
    assert second is not None
    assert second.id == 2
    assert log(fs).files(first) == list(compact().entries)
    assert log(fs).files(second) == []
    assert log(fs).snapshots() == [first, second]


def test_a_change_is_in_the_log_once() -> None:
    fs = MemoryFs()
    first = log(fs).publish(compact())
    before = dict(fs.files)
    assert log(fs).publish(compact()) == first
    assert fs.files == before
    assert log(fs).publish(replace(compact("s"), units=(), entries=())) is None


def test_what_a_retry_swapped_beside_it_is_published_alone() -> None:
    fs = MemoryFs()
    log(fs).publish(compact())
    grown = joined([compact(), change_of("r", run_state(swap("2", files("x"), files("y"))), COMPACT)])
    second = log(fs).publish(grown)
    assert second is not None
    assert (second.id, second.units, second.before) == (2, 1, Sizes(1, 10))
    assert live(fs) == ["c", "y"]


def test_a_unit_that_a_run_compacts_again_is_a_change_again() -> None:
    fs = MemoryFs()
    back = run_state(swap("1", files("a", "b"), files("c")), then=journal.ROLLED_BACK)
    again = run_state(swap("1", files("a", "b"), files("d"), stamp=2))
    for change in (compact(), change_of("r", back, ROLLBACK), change_of("r", again, COMPACT)):
        log(fs).publish(change)
    assert [s.kind for s in log(fs).snapshots()] == ["compact", "rollback", "compact"]
    assert live(fs) == ["d"]


def test_the_log_does_not_bring_back_a_home_that_is_gone() -> None:
    fs = MemoryFs()
    fs.folders.clear()
    with pytest.raises(FileNotFoundError):
        log(fs).publish(compact())
    assert (fs.folders, fs.files) == (set(), {})


def test_the_latest_snapshot_takes_one_listing_and_one_read() -> None:
    """The listing tells owner and size, too."""
    fs = MemoryFs()
    log(fs).publish(compact())
    fs.calls.clear()
    assert log(fs).latest() is not None
    assert fs.calls == ["list", "read"]


@pytest.mark.parametrize("name", ["snapshot-1", "manifest-list-"])
@pytest.mark.parametrize("keep", [0.9, 0.5, 0])
def test_a_torn_file_is_named(name: str, keep: float) -> None:
    fs = MemoryFs()
    log(fs).publish(compact())
    for path, (data, mtime) in list(fs.files.items()):
        if name in path:
            fs.files[path] = data[: int(len(data) * keep)], mtime
    with pytest.raises(BrokenLog, match=name):
        log(fs).logged(["r"])


def test_a_file_of_a_later_version_is_not_read() -> None:
    fs = MemoryFs()
    log(fs).publish(compact())
    [path] = [path for path in fs.files if path.endswith("/snapshot-1")]
    body = json.loads(fs.files[path][0])
    fs.files[path] = json.dumps({**body, "schema_version": 2}).encode(), 0
    with pytest.raises(OtherVersion, match=r"schema 2; this version .* reads only schema 1"):
        log(fs).publish(compact("s"))


def test_a_sweep_takes_only_what_is_old_ours_and_named_by_nobody() -> None:
    fs = prepared()
    named = stored(fs)
    ours = [f"manifest/manifest-{1:032x}", f"manifest/manifest-list-{2:032x}", f"survey/survey-{3:032x}"]
    ours += [f"snapshot/.snapshot-{4:032x}"]
    foreign = ["manifest/manifest-mine", "snapshot/notes.txt", "snapshot/snapshot-9x", f"{5:032x}"]
    for name in [*ours, *foreign]:
        fs.files[f"{HOME}/log/{name}"] = b"", int(NOW.timestamp() * 1000)
    fs.time = NOW + timedelta(minutes=59)
    assert log(fs).sweep() == []
    fs.time = NOW + timedelta(minutes=61)
    assert sorted(log(fs).sweep()) == sorted(f"{HOME}/log/{name}" for name in ours)
    assert stored(fs) == named | set(foreign)


def test_a_sweep_of_a_log_that_cannot_be_read_deletes_nothing() -> None:
    fs = prepared()
    fs.files[f"{HOME}/log/manifest/manifest-{1:032x}"] = b"", 0
    fs.files[f"{HOME}/log/snapshot/snapshot-1"] = b"", 0
    before = stored(fs)
    with pytest.raises(BrokenLog):
        log(fs).sweep()
    assert stored(fs) == before


def test_a_snapshot_survives_the_file() -> None:
    fs = MemoryFs()
    found = log(fs).publish(compact())
    assert found is not None
    assert Snapshot.decode(found.encode(), "x") == found
