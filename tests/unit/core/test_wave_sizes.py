"""Waves: few large units, or many small ones."""

from __future__ import annotations

from collections.abc import Sequence

from spark_jobs.core.planning.decisions import Fail
from spark_jobs.core.planning.ordering import MOST_FILES, MOST_RECORDED, MOST_UNITS, waves
from spark_jobs.core.planning.unit_plan import UnitPlan
from spark_jobs.core.records.record_files import MOST_BYTES
from spark_jobs.core.rules.health import Thresholds, assess
from spark_jobs.core.values.model import FileEntry, FileListing, Unit

TARGET = 1000
_THRESHOLDS = Thresholds(block_size=TARGET)


def _unit(size: int, files: int = 2) -> UnitPlan:
    listing = FileListing.of(FileEntry(f"part-{n}", size // files, 0) for n in range(files))
    return UnitPlan.listed(Unit((), "file:/t"), listing, assess(listing, _THRESHOLDS))


def _sizes(units: Sequence[UnitPlan], parallelism: int = 2, jointly: bool = True) -> list[int]:
    return [len(wave) for wave in waves(units, parallelism, TARGET, jointly)]


def test_there_are_four_large_units_for_each_thread() -> None:
    assert _sizes([_unit(5 * TARGET)] * 17) == [8, 8, 1]
    assert _sizes([_unit(TARGET)] * 17) == [8, 8, 1]


def test_small_units_count_by_their_bytes() -> None:
    assert _sizes([_unit(TARGET // 10)] * 200) == [80, 80, 40]


def test_where_nothing_is_written_together_small_units_count_as_large_ones() -> None:
    assert _sizes([_unit(10)] * 17, jointly=False) == [8, 8, 1]


def test_a_wave_has_a_limit_of_units_and_of_files() -> None:
    assert _sizes([_unit(2)] * 600) == [MOST_UNITS, MOST_UNITS, 600 - 2 * MOST_UNITS]
    assert _sizes([_unit(0, MOST_FILES // 2)] * 5) == [2, 2, 1]


def test_the_record_of_a_wave_of_large_units_has_a_limit_of_files() -> None:
    """A record that is larger than `MOST_BYTES` cannot be read any more: nobody could undo what it is about."""
    files = MOST_RECORDED // 3
    large = _unit(files, files)
    assert large.target_files is not None
    assert large.target_files > 1
    assert _sizes([large] * 7) == [3, 3, 1]
    bytes_of_a_file = 140
    assert MOST_RECORDED * bytes_of_a_file < MOST_BYTES


def test_units_without_a_listing_are_taken_for_large_ones() -> None:
    unknown = UnitPlan(Unit((), "file:/t"), Fail("not listed"))
    assert _sizes([unknown] * 9) == [8, 1]


def test_all_units_are_in_their_order() -> None:
    units = [_unit(size) for size in (10, 5 * TARGET, 30, TARGET, 7)] * 40
    assert [unit for wave in waves(units, 4, TARGET, True) for unit in wave] == units


def test_no_units_are_no_wave() -> None:
    assert _sizes([]) == []
