"""How the entries of the commit log add up, and which manifests become one."""

from __future__ import annotations

import random

import pytest

from spark_jobs.core.records import journal
from spark_jobs.core.records import merge as log_merge
from spark_jobs.core.records.change import change_of
from spark_jobs.core.records.merge import MB, plan_merge
from spark_jobs.core.records.snapshots import (
    ADD,
    COMPACT,
    DELETE,
    ROLLBACK,
    BrokenLog,
    Entry,
    ManifestMeta,
    merge,
)
from tests.unit.core.faulty_memory_fs import MemoryFs, files, run_state, swap
from tests.unit.core.memory_log import live, log


def added(name: str, unit: str = "u", mtime: int = 1) -> Entry:
    return Entry(ADD, unit, name, 10, mtime)


def deleted(name: str, unit: str = "u", mtime: int = 1) -> Entry:
    return Entry(DELETE, unit, name, 10, mtime)


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
