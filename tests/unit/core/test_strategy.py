"""Which files of a unit a minor compaction rewrites, and when it is a full one."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_jobs.core.rules.health import Thresholds, assess
from spark_jobs.core.rules.strategy import AUTO, FULL, MINOR, STRATEGIES, Choice, choose, why_table_is_full
from spark_jobs.core.values.model import FileEntry, FileListing

MB = 1024 * 1024
TARGET = 128 * MB

sizes = st.lists(
    st.one_of(st.integers(0, 4 * MB), st.integers(90 * MB, TARGET), st.integers(TARGET, 3 * TARGET)),
    max_size=30,
)


def listing(lengths: list[int]) -> FileListing:
    return FileListing.of(FileEntry(f"f{n}", length, n) for n, length in enumerate(lengths))


def chosen(files: FileListing, strategy: str, target: int = TARGET, ratio: float = 10) -> Choice:
    thresholds = Thresholds(target_file_size=target, strategy=strategy, ratio=ratio)
    return choose(files, target, thresholds.large_from, strategy)


@pytest.mark.parametrize("strategy", STRATEGIES)
@given(lengths=sizes)
def test_each_file_is_either_rewritten_or_copied(strategy: str, lengths: list[int]) -> None:
    files = listing(lengths)
    found = chosen(files, strategy)
    assert sorted([*found.rewritten.data, *found.copied.data]) == sorted(files.data)
    large_from = Thresholds(target_file_size=TARGET, strategy=strategy).large_from
    assert (large_from < TARGET) == (strategy == AUTO)
    assert all(file.length >= large_from for file in found.copied.data)
    if found.strategy == MINOR:
        assert all(file.length < large_from for file in found.rewritten.data)
        assert found.reason is None
    else:
        assert (found.reason is not None) == (strategy == MINOR)


@given(sizes)
def test_by_auto_no_file_of_the_target_size_is_rewritten(lengths: list[int]) -> None:
    found = chosen(listing(lengths), AUTO, TARGET)
    assert all(file.length < TARGET for file in found.rewritten.data)
    assert found.reason is None


@given(sizes)
def test_the_figures_of_a_unit_are_those_of_the_choice_by_auto(lengths: list[int]) -> None:
    files = listing(lengths)
    found, health = chosen(files, AUTO), assess(files, Thresholds())
    assert health.target_files == max(1, len(found.copied.data) + math.ceil(found.rewritten.bytes / TARGET))
    assert not health.needs_compaction or health.target_files < health.files


@given(st.integers(2, 200), st.floats(0.01, 1.0))
def test_by_auto_what_a_compaction_has_written_is_not_written_again(files: int, part: float) -> None:
    """As many files as the bytes need are written, so that each is somewhat smaller than the target."""
    size = int((files - 1 + part) * TARGET / files)
    night = chosen(listing([size] * files + [1] * 40), AUTO, TARGET)
    assert len(night.copied.data) == (files if size >= 0.75 * TARGET else 0)
    assert files < 4 or night.rewritten.bytes == 40


def test_by_auto_a_file_that_is_small_by_the_ratio_is_not_large() -> None:
    """A ratio of 1 asks for all files below the block size."""
    files = listing([100 * MB] * 10)
    assert len(chosen(files, AUTO).copied.data) == 10
    assert len(chosen(files, AUTO, ratio=1).copied.data) == 0
    health = assess(files, Thresholds(ratio=1))
    assert (health.needs_compaction, health.target_files) == (True, 8)
    assert len(chosen(listing([TARGET, 3 * TARGET]), AUTO, ratio=0.5).copied.data) == 2


@given(sizes)
def test_a_minor_compaction_always_leaves_fewer_files(lengths: list[int]) -> None:
    found = chosen(listing(lengths), MINOR, TARGET)
    if found.strategy == MINOR:
        left = len(found.copied.data) + max(1, math.ceil(found.rewritten.bytes / TARGET))
        assert left < len(lengths)


@given(sizes)
def test_the_figures_of_a_unit_are_those_of_the_choice(lengths: list[int]) -> None:
    files = listing(lengths)
    found, health = chosen(files, MINOR), assess(files, Thresholds(strategy=MINOR))
    expected = len(found.copied.data) + max(1, math.ceil(found.rewritten.bytes / TARGET))
    assert health.target_files == expected
    assert not health.needs_compaction or health.target_files < health.files


@pytest.mark.parametrize(
    ("lengths", "target", "reason"),
    [
        ([MB] * 5, TARGET, "none of its files has the target size"),
        ([TARGET, MB], TARGET, "would not be fewer"),
        ([TARGET, TARGET], TARGET, "would not be fewer"),
        ([TARGET, 0, 0], TARGET, "would not be fewer"),
        ([2 * MB, 2 * MB, 10, 10, 10], MB, "copy its 2 large files costs more"),
    ],
)
def test_where_it_costs_less_or_gains_nothing_all_files_are_rewritten(
    lengths: list[int], target: int, reason: str
) -> None:
    found = chosen(listing(lengths), MINOR, target)
    assert found.strategy == FULL
    assert reason in str(found.reason)


@pytest.mark.parametrize(
    ("file_format", "columns", "reason"),
    [
        ("parquet", ["id"], "sorted"),
        ("text", [], "no footers"),
        ("sequencefile", [], "no footers"),
        ("parquet", [], None),
        ("orc", [], None),
    ],
)
def test_tables_of_which_all_files_are_rewritten(
    file_format: str, columns: list[str], reason: str | None
) -> None:
    found = why_table_is_full(file_format, columns)
    assert (found is None) if reason is None else (reason in str(found))
