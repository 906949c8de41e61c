"""How the tasks of Spark share a rewrite: 65,000 files that become 23 are not read by 23 tasks where 200 can run."""

from __future__ import annotations

import random
from statistics import median

import pytest

from spark_jobs.core.planning.task_plan import TaskPlan, balanced, plan_tasks

MB = 1024 * 1024
MANY = {"files": 65_000, "size": 3000 * MB, "target_files": 23}


def test_many_small_files_are_read_by_all_slots() -> None:
    plan = plan_tasks(**MANY, slots=200)
    assert plan.shuffled
    assert plan.read >= 200
    assert plan.write == 23


@pytest.mark.parametrize("slots", [1, 2, 23, 60])
def test_with_few_slots_each_task_writes_what_it_reads(slots: int) -> None:
    assert plan_tasks(**MANY, slots=slots) == TaskPlan(23, 23)


@pytest.mark.parametrize(
    ("files", "size", "target_files"),
    [(20, 2 * MB, 1), (650, 60 * MB, 1), (100, 1000 * MB, 8), (5000, 20_000 * MB, 157), (2, 0, 1)],
)
def test_rows_are_not_shuffled_where_that_saves_little(files: int, size: int, target_files: int) -> None:
    """Small units, and files for which writing takes longer than reading."""
    assert not plan_tasks(files, size, target_files, 200).shuffled


@pytest.mark.parametrize("slots", [2, 50, 200, 5000])
@pytest.mark.parametrize("files", [2, 300, 20_000, 1_000_000])
def test_as_many_files_are_written_as_were_asked_for(files: int, slots: int) -> None:
    plan = plan_tasks(files, files * MB, 7, slots)
    assert plan.write == 7
    assert plan.read >= 7


@pytest.mark.parametrize("seed", range(5))
def test_parts_are_about_equal(seed: int) -> None:
    chance = random.Random(seed)
    sizes = [chance.randrange(1, 1000) for _ in range(400)]
    parts = balanced(sizes, 23)
    sums = [sum(size for size, at in zip(sizes, parts, strict=True) if at == part) for part in range(23)]
    assert sum(sums) == sum(sizes)
    assert max(sums) <= 1.1 * median(sums)


def test_fewer_sizes_than_parts_go_to_parts_of_their_own() -> None:
    assert len(set(balanced([5, 5, 9], 4))) == 3
    assert balanced([], 4) == []
