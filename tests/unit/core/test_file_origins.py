"""Who makes the small files of a table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from spark_jobs.core.rules import file_origins
from spark_jobs.core.rules.file_origins import FileOrigins, pattern

NOW = 1_771_891_200_000  # 2026-02-24T00:00:00Z
DAY, HOUR = 86_400_000, 3_600_000
SMALL = 1000


class File(NamedTuple):
    name: str
    length: int = 10
    mtime: int = NOW - HOUR
    owner: str = "etl"


def origins(*units: list[File]) -> file_origins.Origins:
    counted = FileOrigins(SMALL, NOW)
    for files in units:
        counted.add_unit(files)
    return counted.origins()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("part-00000-8b0e61c8-4f3a-4d31-abcd-0123456789ab-c000.snappy.parquet", "part-*-*-c*.snappy.parquet"),
        ("part-00000-8b0e61c8-4f3a-4d31-abcd-0123456789ab.c000.snappy.parquet", "part-*-*.c*.snappy.parquet"),
        ("part-00003-tid-42-8b0e61c8-4f3a-4d31-abcd-0123456789ab-7-1-c000.txt", "part-*-tid-*-*-*-*-c*.txt"),
        ("000123_0", "000000_*"),
        ("000123_0_copy_12.orc", "000000_*_copy_*.orc"),
        ("part-r-00001.gz", "part-r-*.gz"),
        ("FlumeData.1456789012345.lz4", "FlumeData.*.lz4"),
        ("topic+0+0000000000+0000000099.avro", "topic+*+*+*.avro"),
        ("events20260224.csv", "events*.csv"),
        ("5a4b3c2d1e0f_data.0.parq", "*_data.*.parq"),
        ("chunk-5a4b3c2d1e0f.json", "chunk-*.json"),
        ("feedface-decade.json", "feedface-decade.json"),
        ("data.parquet", "data.parquet"),
    ],
)
def test_a_pattern_has_no_numbers_that_differ_between_files(name: str, expected: str) -> None:
    assert pattern(name) == expected


def test_the_writers_of_the_last_days_come_with_the_most_files_first() -> None:
    found = origins(
        [File(f"part-{n:05}-c000.parquet", n) for n in range(3)],
        [File(f"00000{n}_0", 7, NOW - n * HOUR, "hive") for n in range(4)],
        [File("part-00009-c000.parquet", 5, NOW - 6 * DAY)],
        [File("000009_0", 5, NOW - 8 * DAY, "hive")],
    )
    assert (
        found.writers
        == (
            {
                "owner": "etl",
                "pattern": "part-*-c*.parquet",
                "files": 4,
                "bytes": 8,
                "newest": "2026-02-23T23:00:00Z",
            },
            {
                "owner": "hive",
                "pattern": "000000_*",
                "files": 4,
                "bytes": 28,
                "newest": "2026-02-24T00:00:00Z",
            },
        )[::-1]
    )
    assert (found.files_per_day, found.listed_units) == (round(8 / 7, 1), 4)


def test_what_our_own_jobs_have_written_does_not_count() -> None:
    counted = FileOrigins(SMALL, NOW)
    counted.add_unit([File("part-1", 10, NOW - 5 * HOUR), File("part-2", 10, NOW - HOUR, "hive")])
    counted.add_unit([File("part-3", 10, NOW - HOUR), File("part-4", SMALL, NOW - HOUR)])
    found = counted.origins({"etl": [(NOW - 90 * 60_000, NOW - 30 * 60_000)]})
    assert [(writer["owner"], writer["files"]) for writer in found.writers] == [("etl", 1), ("hive", 1)]
    assert found.files_per_day == round(2 / 7, 1)


@pytest.mark.parametrize("ours_first", [True, False])
def test_where_all_new_files_are_ours_the_older_ones_tell_in_whatever_order_they_are_listed(
    ours_first: bool,
) -> None:
    new, old = [File("part-1")], [File(f"a-{n}", 10, NOW - 30 * 24 * HOUR, "loader") for n in range(50)]
    counted = FileOrigins(SMALL, NOW)
    for files in (new, old) if ours_first else (old, new):
        counted.add_unit(files)
    found = counted.origins({"etl": [(NOW - 2 * HOUR, NOW)]})
    assert [(writer["owner"], writer["files"]) for writer in found.writers] == [("loader", 50)]


def test_large_files_count_as_growth_but_have_no_small_file_writer() -> None:
    found = origins([File("part-0", SMALL, NOW), File("part-1", SMALL - 1, NOW)])
    assert [writer["files"] for writer in found.writers] == [1]
    assert found.files_per_day == round(2 / 7, 1)


def test_what_no_reader_reads_does_not_count() -> None:
    hidden = [File("_SUCCESS", 0), File(".part-0.crc"), File("_temporary"), File("DONE", 0)]
    assert origins(hidden) == file_origins.Origins((), 0.0, 1)
    assert origins([File("part-0", 0)]).writers[0]["files"] == 1, "an empty output of a task is a data file"


def test_a_quiet_table_shows_its_newest_thousand_small_files() -> None:
    old = [File(f"{'new' if n < 1000 else 'old'}-{n:05}.x", 1, NOW - 8 * DAY - n) for n in range(3000)]
    found = origins(old[::-1], [])
    assert [(writer["pattern"], writer["files"]) for writer in found.writers] == [("new-*.x", 1000)]
    assert (found.files_per_day, found.listed_units) == (0.0, 2)


def test_one_new_file_says_more_than_a_thousand_old_ones() -> None:
    old = [File(f"old-{n}", 1, NOW - 9 * DAY) for n in range(1500)]
    found = origins(old, [File("new-1")], old)
    assert [(writer["pattern"], writer["files"]) for writer in found.writers] == [("new-*", 1)]


def test_without_a_listing_nothing_is_known() -> None:
    assert origins() == file_origins.Origins((), None, 0)


def test_a_listing_without_owners_says_so() -> None:
    assert origins([File("part-0", owner="")]).writers[0]["owner"] is None


def test_at_most_five_writers_are_shown() -> None:
    found = origins([File(f"{'abcdefgh'[n % 8]}.x") for n in range(100)])
    assert [writer["pattern"] for writer in found.writers] == ["a.x", "b.x", "c.x", "d.x", "e.x"]


def test_the_memory_does_not_grow_with_the_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names without a pattern are counted together beyond the bound; files are not kept."""
    monkeypatch.setattr(file_origins, "_PAIRS", 100)
    counted = FileOrigins(SMALL, NOW)

    def files(mtime: int) -> Iterator[Any]:
        letters = "abcdefghijklmnopqrstuvwxyz"
        for n in range(26**3):
            yield File(letters[n % 26] + letters[n // 26 % 26] + letters[n // 676], 1, mtime)

    counted.add_unit(files(NOW - 30 * DAY))
    assert len(counted._newest) == 1000
    counted.add_unit(files(NOW))
    assert (len(counted._recent), len(counted._recent_small)) == (1, 101)
    assert counted.origins().writers[0] == {
        "owner": "etl",
        "pattern": "*",
        "files": 26**3 - 100,
        "bytes": 26**3 - 100,
        "newest": "2026-02-24T00:00:00Z",
    }
