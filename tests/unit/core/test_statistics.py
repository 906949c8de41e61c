"""What a run remembers of the metastore's statistics, and what a rollback makes of it."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pytest

from spark_jobs.core.records import journal
from spark_jobs.core.records.record_files import packed, unpacked
from spark_jobs.core.records.statistics import ALL_STATISTICS, KeptStatistics, figures_of
from spark_jobs.core.values.model import FileEntry, Unit
from spark_jobs.core.values.parameters import (
    ParameterChange,
    UnitParameters,
    partition_name,
    partition_values,
)

#: `protocol/execution/statistics` writes those of so many units by one call, and keeps them in one record.
UNITS_OF_A_CALL = 300
BEFORE = {"numFiles": "8", "totalSize": "800"}
AFTER = {"numFiles": "1", "totalSize": "500"}


def now(**values: str) -> dict[str, str | None]:
    return {name: values.get(name) for name in ALL_STATISTICS}


def test_what_was_there_before_the_first_change_stays() -> None:
    kept = KeptStatistics(BEFORE, AFTER).with_change({**AFTER, "numRows": "7"}, {"numFiles": "2"})
    assert kept.before == {**BEFORE, "numRows": "7"}
    assert kept.after == {**AFTER, "numFiles": "2"}


def test_a_value_of_any_length_is_no_part_of_a_record() -> None:
    """Whoever may alter a table can set it, and a record that is too large makes the run unreadable."""
    long = {"numFiles": "9" * 1_000_000, "COLUMN_STATS_ACCURATE": "x" * 1_000_000}
    kept = KeptStatistics.of({**BEFORE, **long}, {**AFTER, **long}).with_change(long, long)
    assert kept.to_json() == {"before": {"totalSize": "800"}, "after": {"totalSize": "500"}}


def test_a_record_of_all_units_of_a_call_can_be_read_again() -> None:
    """Its bytes are bounded, and so are its values, which are counted by the characters before them."""
    longest = next(n for n in (1_000_000, 100_000, 10_000) if KeptStatistics.of(accurate(n), None).before)
    kept = KeptStatistics.of(accurate(longest), accurate(longest)).to_json()
    body = {"statistics": {f"k={number}": kept for number in range(UNITS_OF_A_CALL)}}
    assert unpacked(packed(body), "journal") == body


def accurate(length: int) -> dict[str, str]:
    return {"COLUMN_STATS_ACCURATE": "," * length}


def test_values_that_this_run_has_written_are_put_back() -> None:
    assert KeptStatistics(BEFORE, AFTER).to_put_back(now(**AFTER), AFTER) == BEFORE


def test_parameters_that_were_not_there_are_removed() -> None:
    before = {"numFiles": None, "totalSize": None}
    assert KeptStatistics(before, AFTER).to_put_back(now(**AFTER, numRows="3"), AFTER) == before


def test_nothing_is_written_where_they_are_back_already() -> None:
    assert KeptStatistics(BEFORE, AFTER).to_put_back(now(**BEFORE), AFTER) == {}


@pytest.mark.parametrize("after", [AFTER, None])
def test_those_of_somebody_else_stay(after: dict[str, str] | None) -> None:
    assert KeptStatistics(BEFORE, after).to_put_back(now(numFiles="2", totalSize="600"), AFTER) is None


def test_of_an_analysis_that_died_those_of_the_written_files_are_this_run_s() -> None:
    before = {**BEFORE, "COLUMN_STATS_ACCURATE": "{}"}
    kept = KeptStatistics(before, None)
    assert kept.to_put_back(now(**AFTER), AFTER) == before
    assert kept.to_put_back(now(**BEFORE, numRows="3"), AFTER) == before


def test_hidden_files_do_not_count() -> None:
    files = [FileEntry("part-1.parquet", 5, 0), FileEntry("DONE", 0, 0), FileEntry("_SUCCESS", 0, 0)]
    assert figures_of(files) == {"numFiles": "2", "totalSize": "5"}


@pytest.mark.parametrize(
    "body",
    [
        *(None, 7, "x", [], {}, {"before": 3, "after": 4}, {"before": {}}, {"after": AFTER}),
        {"before": {"location": "hdfs://elsewhere"}},
        {"before": {"numFiles": "eight"}},
        {"before": {"numFiles": 8}},
        {"before": {"COLUMN_STATS_ACCURATE": "x" * 100_001}},
    ],
)
def test_what_has_another_form_is_not_put_back(body: Any) -> None:
    assert KeptStatistics.from_json(body) is None


def test_a_record_is_read_as_it_was_written() -> None:
    kept = KeptStatistics({**BEFORE, "COLUMN_STATS_ACCURATE": None, "numRows": "-1"}, None)
    assert KeptStatistics.from_json(kept.to_json()) == kept


def record(kind: str, **body: Any) -> journal.Record:
    return journal.Record(kind, datetime(2026, 1, 1, tzinfo=timezone.utc), body)


def test_a_record_of_statistics_changes_no_state_of_a_unit() -> None:
    unit = Unit((), "hdfs://nn/w/flat")
    swap = {
        **{"spec": [], "live": unit.location, "live_id": "1", "new_id": "2", "rows": 1},
        **{"new": "n", "old": "o", "aside": "a", "conflict": "c", "originals": [], "compacted": []},
    }
    home = {"table": "s.flat", "location": unit.location, "home_id": "1", "directory_id": "2"}
    records = [
        record(journal.RUN, **home, homes=[], user="me"),
        record(journal.PREPARED, swaps=[swap]),
        record(journal.COMMITTED, units=[{"unit": unit.key}]),
        record(journal.STATISTICS, statistics={unit.key: {"before": BEFORE, "after": AFTER}, "[]x": {}}),
        record(journal.ROLLBACK_PREPARED, units=[{"unit": unit.key}]),
        record(journal.ROLLED_BACK, units=[{"unit": unit.key}]),
    ]
    state = journal.state_after(records)
    assert state is not None
    assert list(state.units) == [unit.key]
    found = state.units[unit.key]
    assert (found.kind, found.statistics) == (journal.ROLLED_BACK, KeptStatistics(BEFORE, AFTER))
    ended = journal.state_after([record(journal.STATISTICS, statistics={unit.key: None})], state)
    assert ended is not None
    assert (ended.units[unit.key].kind, ended.units[unit.key].statistics) == (journal.ROLLED_BACK, None)


def test_a_change_fits_only_what_was_seen() -> None:
    seen = UnitParameters("hdfs://nn/w/a", {"numFiles": "1"})
    change = ParameterChange(Unit((("k", "a"),), seen.location), seen, {"numFiles": "2"})
    assert change.fits(UnitParameters(seen.location, {"numFiles": "1"}))
    others = [None, UnitParameters("hdfs://nn/w/b", seen.parameters), UnitParameters(seen.location, {})]
    assert not any(change.fits(other) for other in others)


def test_partitions_are_named_as_hive_names_them() -> None:
    spec = (("Day", "2026-02-23"), ("k", None), ("odd", "a/b=c%d e{}\x7fä"), ("empty", ""))
    default = "__HIVE_DEFAULT_PARTITION__"
    name = f"day=2026-02-23/k={default}/odd=a%2Fb%3Dc%25d e%7B}}%7Fä/empty={default}"
    assert partition_name(spec) == name
    assert partition_values(spec)[1::2] == (default, default)
