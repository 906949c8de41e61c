"""The commit log: how entries add up, what a journal becomes, and what no crash may break."""

from __future__ import annotations

import gzip
import itertools
import json
import random
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from spark_jobs.core import cache, journal, log_merge
from spark_jobs.core.cache import CachedUnit
from spark_jobs.core.commit_log import (
    ADD,
    CLEANUP,
    COMPACT,
    DELETE,
    ROLLBACK,
    BrokenLog,
    Entry,
    ManifestMeta,
    Sizes,
    Snapshot,
    merge,
)
from spark_jobs.core.health import Thresholds, assess, reassess
from spark_jobs.core.log_change import Change, change_of, changes_of, joined
from spark_jobs.core.log_merge import MB, plan_merge
from spark_jobs.core.model import Unit
from spark_jobs.shell.ports import FileSystemError
from spark_jobs.shell.state.commit_log import CommitLog
from tests.unit.core.faulty_memory_fs import HOME, NOW, Crash, MemoryFs, failing, files, fine, run_state, swap

ONE = run_state(swap("1", files("a", "b", "_SUCCESS"), files("c")))


def added(name: str, unit: str = "u", mtime: int = 1) -> Entry:
    return Entry(ADD, unit, name, 10, mtime)


def deleted(name: str, unit: str = "u", mtime: int = 1) -> Entry:
    return Entry(DELETE, unit, name, 10, mtime)


# How entries add up


def test_what_came_and_left_cancels_and_so_does_what_left_and_came_back() -> None:
    assert merge([added("a"), deleted("a"), deleted("b"), added("b"), added("c")]) == [added("c")]


def test_a_file_is_its_unit_its_name_and_its_age() -> None:
    others = [deleted("a", unit="v"), deleted("a", mtime=2)]
    assert merge([added("a"), *others]) == [added("a"), *others]


def test_a_second_add_is_an_error_and_a_second_delete_is_not() -> None:
    with pytest.raises(BrokenLog, match="adds a of unit u twice"):
        merge([added("a"), added("a")])
    assert merge([added("a"), deleted("a"), added("a")]) == [added("a")]
    assert merge([deleted("a"), deleted("a")]) == [deleted("a")]


def test_only_a_full_merge_forgets_what_stood_before_the_log() -> None:
    entries = [deleted("a"), added("b")]
    assert merge(entries) == entries
    assert merge(entries, full=True) == [added("b")]


def metas(*sizes: tuple[float, int]) -> list[ManifestMeta]:
    return [ManifestMeta(f"m{i}", int(mb * MB), 1, gone) for i, (mb, gone) in enumerate(sizes)]


def parts(found: list[ManifestMeta]) -> list[str]:
    plan = plan_merge(found)
    assert not plan.full
    return ["+".join(meta.name for meta in part) for part in plan.parts]


def test_few_small_manifests_are_left_alone() -> None:
    assert parts(metas(*[(0.1, 1)] * 29)) == [f"m{i}" for i in range(29)]
    assert parts([]) == []


def test_thirty_manifests_or_8_mb_become_one() -> None:
    assert parts(metas(*[(0.1, 1)] * 30)) == ["+".join(f"m{i}" for i in range(30))]
    assert parts(metas((4, 0), (4, 0), (1, 0))) == ["m0+m1", "m2"]


def test_a_large_manifest_is_skipped_and_parts_its_neighbours() -> None:
    assert parts(metas((4, 0), (8, 0), (4, 0))) == ["m0", "m1", "m2"]


def test_16_mb_of_small_ones_and_of_deletes_are_merged_as_a_whole() -> None:
    plan = plan_merge(metas((9, 0), (9, 1), (6, 0), (1, 0)))
    assert (plan.full, plan.due) == (True, {"m1", "m2", "m3"})
    assert not plan_merge(metas((9, 0), (9, 1), (6, 0))).full
    assert not plan_merge(metas((90, 0), (90, 0))).full


# What a journal becomes


def names(change: Change) -> list[tuple[str, str]]:
    return [(entry.kind, entry.file) for entry in change.entries]


def test_a_compaction_deletes_the_originals_and_adds_the_new_files() -> None:
    change = change_of("r", ONE, COMPACT)
    assert names(change) == [(DELETE, "a"), (DELETE, "b"), (ADD, "c")]
    assert (change.before, change.after, change.effect) == (Sizes(2, 20), Sizes(1, 10), Sizes(-1, -10))
    assert (change.who, change.at, change.units[0].rows) == ("etl", NOW + timedelta(minutes=1), 5)


def test_a_rollback_is_the_reverse_and_its_compaction_stays_on_record() -> None:
    state = run_state(swap("1", files("a", "b"), files("c")), then=journal.ROLLED_BACK)
    back, forth = change_of("r", state, ROLLBACK, "anna"), change_of("r", state, COMPACT)
    assert names(back) == [(DELETE, "c"), (ADD, "a"), (ADD, "b")]
    assert (back.effect, back.who, back.at) == (Sizes(1, 10), "anna", NOW + timedelta(minutes=2))
    assert (forth.at, forth.who) == (NOW + timedelta(minutes=1), "etl")
    assert merge([*forth.entries, *back.entries]) == []


def test_a_cleanup_moves_no_file_that_anybody_reads() -> None:
    state = run_state(swap("1", files("a", "b"), files("c")), then=journal.CLEANED)
    change = change_of("r", state, CLEANUP)
    assert (change.entries, change.before, change.after) == ((), Sizes(2, 20), Sizes())
    assert change.effect == Sizes()
    assert not change_of("r", state, ROLLBACK).units


@pytest.mark.parametrize("kind", [journal.DISCARDED, journal.ROLLED_BACK])
def test_a_unit_that_was_never_swapped_is_no_change(kind: str) -> None:
    one = swap("1", files("a"), files("b"))
    records = [
        journal.Record(journal.RUN, NOW, {"table": "db.t"}),
        journal.Record(journal.PREPARED, NOW, {"swaps": [one.to_json()]}),
        journal.Record(kind, NOW, {"units": [{"unit": one.unit.key}]}),
    ]
    state = journal.fold(records)
    assert state is not None
    assert changes_of("r", [state]) == []


def test_a_run_in_several_homes_is_one_change() -> None:
    other = run_state(swap("2", files("x"), files("y")), then=journal.CLEANED)
    compact, cleanup = changes_of("r", [ONE, other])
    assert (len(compact.units), compact.before, cleanup.before) == (2, Sizes(3, 30), Sizes(1, 10))
    assert [e.file for e in compact.entries] == ["a", "b", "c", "x", "y"]


# On the file system


def log(fs: MemoryFs) -> CommitLog:
    """What a new process sees: nothing remembered."""
    return CommitLog(fs, HOME, fs.now)


def compact(run_id: str = "r") -> Change:
    return change_of(run_id, ONE, COMPACT)


def stored(fs: MemoryFs) -> set[str]:
    return {path[len(HOME) + 5 :] for path in fs.files}


def live(fs: MemoryFs) -> list[str]:
    latest = log(fs).latest()
    return sorted(e.file for e in log(fs).files(latest) if e.kind == ADD) if latest else []


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
    assert (second.id, first.totals, second.totals) == (2, Sizes(-1, -10), Sizes())
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


@pytest.mark.parametrize("hint", [None, b"", b"x", b"1", b"7"])
def test_the_hint_is_only_a_hint(hint: bytes | None) -> None:
    fs = MemoryFs()
    log(fs).publish(compact("r"))
    second = log(fs).publish(replace(compact("s"), entries=()))
    path = f"{HOME}/log/snapshot/LATEST"
    del fs.files[path]
    if hint is not None:
        fs.files[path] = hint, 0
    assert log(fs).latest() == second


def test_a_good_hint_saves_the_listing() -> None:
    fs = MemoryFs()
    log(fs).publish(compact())
    fs.calls.clear()
    assert log(fs).latest() is not None
    assert "list" not in fs.calls


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
    with pytest.raises(BrokenLog, match="schema_version 2"):
        log(fs).publish(compact("s"))


def calls_of_a_publication() -> list[str]:
    fs = prepared()
    fs.calls.clear()
    log(fs).publish(compact())
    return fs.calls


def prepared() -> MemoryFs:
    """A log with a run in it."""
    fs = MemoryFs()
    other = run_state(swap("2", files("x"), files("y")))
    log(fs).publish(change_of("before", other, COMPACT))
    return fs


CALLS = calls_of_a_publication()


def test_a_publication_renames_once_and_hints_last() -> None:
    assert (CALLS.count("rename"), CALLS[-2:]) == (1, ["rename", "replace"])


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
    assert len(stored(fs)) == 2 * 4 + 1
    assert {"snapshot/snapshot-1", "snapshot/snapshot-2", "snapshot/LATEST"} <= stored(fs)


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
    assert (live(fs), mine.totals) == (["c", "y"], Sizes(-1, -10))
    assert len(stored(fs)) == 2 * 4 + 1


def test_of_two_publishers_of_one_change_one_is_enough() -> None:
    fs = MemoryFs()
    meanwhile(fs, lambda: log(fs).publish(compact()))
    assert log(fs).publish(compact()) == log(fs).latest()
    assert [s.id for s in log(fs).snapshots()] == [1]
    assert len(stored(fs)) == 4 + 1


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


def test_merging_never_changes_what_the_log_adds_up_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compactions and rollbacks in any order, with thresholds so low that every kind of merge happens."""
    chance, merges = random.Random(7), {"full": 0, "minor": 0}
    monkeypatch.setattr(log_merge, "TARGET_BYTES", 200)
    monkeypatch.setattr(log_merge, "FULL_BYTES", 900)
    monkeypatch.setattr(log_merge, "MIN_COUNT", 4)
    fs, stack, expected = MemoryFs(), [], {"f0"}
    for number in range(1, 80):
        came = frozenset(f"f{number}-{i}" for i in range(chance.choice([1, 2, 30, 200])))
        if stack and chance.random() < 0.4:
            run_id, gone, back = stack.pop()
            state = run_state(swap("1", files(*back), files(*gone)), then=journal.ROLLED_BACK)
            log(fs).publish(change_of(run_id, state, ROLLBACK))
            expected = set(back)
        else:
            stack.append((f"r{number}", came, frozenset(expected)))
            state = run_state(swap("1", files(*expected), files(*came)))
            log(fs).publish(change_of(f"r{number}", state, COMPACT))
            expected = set(came)
        latest = log(fs).latest()
        assert latest is not None
        assert set(live(fs)) - {"f0"} == expected - {"f0"}
        plan = plan_merge(log(fs).standing(latest))
        merges["full" if plan.full else "minor"] += plan.full or any(len(part) > 1 for part in plan.parts)
    assert min(merges.values()) > 3
    assert len(log(fs).standing(latest)) < 20


# The figures of the listing

UNIT = Unit((("p", "1"),), "f:/t/p=1")
LISTED = 10_000_000


def seen(mtime: int = 1_000_000, closed: bool = True) -> CachedUnit:
    manifest = files("a", "b", size=10)
    return CachedUnit.of(UNIT, mtime, LISTED, closed, assess(manifest, Thresholds()), manifest)


def test_figures_hold_for_what_nobody_touched_for_an_hour_before_and_ever_since() -> None:
    assert cache.usable(seen(), 1_000_000)
    assert not cache.usable(seen(), 1_000_001)
    assert not cache.usable(seen(closed=False), 1_000_000)
    limit = LISTED - 3_600_000
    assert not cache.usable(seen(mtime=limit), limit)
    assert cache.usable(seen(mtime=limit - 1), limit - 1)


def test_figures_are_of_one_place() -> None:
    known = {UNIT.key: seen()}
    assert cache.find(known, UNIT, 1_000_000) == seen()
    assert cache.find(known, replace(UNIT, location="f:/elsewhere"), 1_000_000) is None
    assert cache.find({}, UNIT, 1_000_000) is None


def test_figures_are_judged_by_the_thresholds_of_today() -> None:
    large = Thresholds(block_size=100, target_file_size=10)
    assert seen().health(Thresholds()).needs_compaction
    assert not seen().health(large).needs_compaction
    assert seen().health(large) == assess(files("a", "b", size=10), large) == reassess(2, 20, 10, 10, large)


def test_a_look_at_some_units_keeps_the_figures_of_the_others_that_still_exist() -> None:
    other, gone = replace(seen(), unit="other"), replace(seen(), unit="gone")
    newer = replace(seen(), files=7)
    found = cache.merged({UNIT.key: seen(), "other": other, "gone": gone}, [newer], {UNIT.key, "other"})
    assert found == {UNIT.key: newer, "other": other}


def test_figures_travel_with_a_snapshot_until_newer_ones_come() -> None:
    fs = MemoryFs()
    assert log(fs).survey() == {}
    log(fs).publish(compact(), {UNIT.key: seen()})
    state = run_state(swap("1", files("a", "b"), files("c")), then=journal.CLEANED)
    second = log(fs).publish(change_of("r", state, CLEANUP))
    assert second is not None
    assert log(fs).survey() == {UNIT.key: seen()}
    fs.time = NOW + timedelta(hours=2)
    log(fs).sweep()
    assert log(fs).survey() == {UNIT.key: seen()}


def test_torn_figures_are_named() -> None:
    with pytest.raises(BrokenLog, match="survey-1"):
        cache.decode(gzip.compress(b"[]"), "survey-1")


def test_a_snapshot_survives_the_file() -> None:
    fs = MemoryFs()
    found = log(fs).publish(compact())
    assert found is not None
    assert Snapshot.decode(found.encode(), "x") == found
