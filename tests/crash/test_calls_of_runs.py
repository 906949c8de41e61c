"""What compact, rollback and cleanup ask of the file system and the metastore, for each unit and for each file.

These bounds are what keeps the jobs fast: on HDFS each call is a round trip to the NameNode.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import pytest

from tests.crash.call_counts import OF_FILES, calls, cost, table, text

FILES, PARTITIONS = 10, 16
SIZES = [(FILES, PARTITIONS), (2 * FILES, PARTITIONS), (FILES, 2 * PARTITIONS)]
#: Twice the work may cost twice the calls, and not more.
GROWTH = 2.05

COMPACT = ("compact", "--run-id", "r1")
ROLLBACK = ("rollback", "--run-id", "r1")
CLEANUP = ("cleanup", "--older-than", "0s", "--skip-trash")


@dataclass(frozen=True)
class Bounds:
    """The most calls for each further unit, and the most entries that are listed for each further file of a unit."""

    per_unit: float
    per_file: float


BOUNDS = {COMPACT: Bounds(34, 4), ROLLBACK: Bounds(24, 1), CLEANUP: Bounds(7, 2)}
Costs = dict[tuple[int, int], Counter[str]]


@pytest.fixture(scope="module")
def costs() -> dict[tuple[str, ...], Costs]:
    found: dict[tuple[str, ...], Costs] = {COMPACT: {}, ROLLBACK: {}, CLEANUP: {}}
    for size in SIZES:
        sim = table(*size)
        found[COMPACT][size] = cost(sim, *COMPACT)
        for after in (ROLLBACK, CLEANUP):
            found[after][size] = cost(sim.copy(), *after)
    return found


@pytest.mark.parametrize("verb", list(BOUNDS), ids=lambda verb: verb[0])
def test_calls_for_each_unit_and_file(verb: tuple[str, ...], costs: dict[tuple[str, ...], Costs]) -> None:
    once, more_files, more_units = (costs[verb][size] for size in SIZES)
    bounds, shown = BOUNDS[verb], text(costs[verb])
    assert calls(more_units) - calls(once) <= bounds.per_unit * PARTITIONS, shown
    assert more_files[OF_FILES] - once[OF_FILES] <= bounds.per_file * FILES * PARTITIONS, shown
    # Files cost no calls of their own: they are listed, and their footers are read together.
    assert calls(more_files) == calls(once), shown


@pytest.mark.parametrize("verb", list(BOUNDS), ids=lambda verb: verb[0])
def test_twice_the_work_costs_twice_the_calls(
    verb: tuple[str, ...], costs: dict[tuple[str, ...], Costs]
) -> None:
    once, *twice = (costs[verb][size] for size in SIZES)
    for counts in twice:
        for amount in (calls, lambda found: found[OF_FILES]):
            assert amount(counts) <= GROWTH * amount(once), text(costs[verb])


@pytest.mark.parametrize("flag", ["_SUCCESS", "DONE"])
def test_a_flag_costs_no_listing_of_all_files(flag: str, costs: dict[tuple[str, ...], Costs]) -> None:
    """Spark leaves one in each directory that it writes."""
    found = {files: cost(table(files, PARTITIONS, flag), *COMPACT) for files in (FILES, 2 * FILES)}
    with_flag = found[2 * FILES][OF_FILES] - found[FILES][OF_FILES]
    once, more_files, _ = (costs[COMPACT][size] for size in SIZES)
    assert with_flag == more_files[OF_FILES] - once[OF_FILES]
    assert calls(found[FILES]) - calls(once) <= 9 * PARTITIONS
