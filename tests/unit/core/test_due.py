"""Which of the flagged units are due: their age, the trigger conditions, and what a reason says."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_jobs.core.options.parsers import duration
from spark_jobs.core.rules.due import (
    Candidate,
    Conditions,
    FileFigures,
    Judge,
    LogFigures,
    exact,
    rounded,
    too_young,
)
from spark_jobs.core.values.model import FileEntry, FileListing

NOW = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)
NOW_MS = int(NOW.timestamp() * 1000)
HOUR = timedelta(hours=1)
NOTHING = LogFigures()
parse_duration = duration("0s", "60d")
DURATIONS = st.timedeltas(timedelta(seconds=1), timedelta(days=60)).map(
    lambda time: timedelta(seconds=int(time.total_seconds()))
)


def unit(
    key: str = "a", files: int = 10, average: int = 100, small: int = 10, age: timedelta = HOUR
) -> Candidate:
    newest = NOW_MS - int(age.total_seconds() * 1000)
    return Candidate(key, files, average, FileFigures(newest, small, 1000))


def reasons(
    conditions: Conditions, units: list[Candidate], log: LogFigures = NOTHING
) -> dict[str, str | None]:
    judge = Judge.of(conditions, units, log, NOW)
    return {each.key: judge.reason(each) for each in units}


def test_figures_are_of_data_files() -> None:
    sizes = {"a": 10, "b": 999, "c": 1000, "_SUCCESS": 0, ".hidden": 5}
    mtimes = {"a": 1, "b": 7, "c": 3, "_SUCCESS": 99, ".hidden": 99}
    files = FileListing.of(FileEntry(name, size, mtimes[name]) for name, size in sizes.items())
    assert FileFigures.of(files, 1000, 100) == FileFigures(7, 2, 1000, small_bytes=1009)
    assert FileFigures.of(files, 1000, 100, 1000) == FileFigures(7, 2, 1000, 1009, 1, 1000, 1000)
    assert FileFigures.of(FileListing(()), 1000, 100).newest is None


class TestIdleFor:
    @pytest.mark.parametrize("idle_for", ["7d", "168h", "10080m", "604800s", "1w"])
    def test_a_unit_is_due_from_this_age_on(self, idle_for: str) -> None:
        bound = parse_duration(idle_for)
        at = NOW_MS - 7 * 86_400_000
        assert too_young(at, bound, NOW) is None
        assert too_young(at + 1000, bound, NOW) == "its newest file is 6d old; idle_for is 7d"

    def test_a_reason_names_the_age_and_the_bound(self) -> None:
        found = reasons(
            Conditions(idle_for=timedelta(days=7)), [unit(age=2 * HOUR), unit("b", age=200 * HOUR)]
        )
        assert found == {"a": "its newest file is 2h old; idle_for is 7d", "b": None}

    def test_a_file_that_is_newer_than_now_has_the_age_0(self) -> None:
        text = too_young(NOW_MS + 86_400_000, timedelta(seconds=60), NOW)
        assert text == "its newest file is 0s old; idle_for is 1m"

    @given(st.integers(-(10**9), 10**10), DURATIONS)
    def test_the_reason_is_never_a_contradiction(self, age_ms: int, bound: timedelta) -> None:
        text = too_young(NOW_MS - age_ms, bound, NOW)
        assert (text is None) == (age_ms >= bound.total_seconds() * 1000)
        if text:
            age, limit = map(parse_duration, re.findall(r"\d+[smhdw]", text))
            assert limit == bound
            assert age < limit
            assert age <= timedelta(milliseconds=max(0, age_ms))

    @pytest.mark.parametrize("idle_for", [None, timedelta(0)])
    def test_without_a_time_no_unit_is_too_young(self, idle_for: timedelta | None) -> None:
        assert too_young(NOW_MS, idle_for, NOW) is None
        assert not Conditions(idle_for=idle_for).given


@given(DURATIONS)
def test_times_are_shown_as_options_are_written(time: timedelta) -> None:
    assert parse_duration(exact(time)) == time
    assert time / 2 < parse_duration(rounded(time)) <= time


COMPACTED = LogFigures(NOW - 2 * HOUR, {"a": 4})


@pytest.mark.parametrize(
    ("conditions", "reason"),
    [
        (Conditions(unit_files=11), "trigger_unit_files is 11, and it has 10 files"),
        (Conditions(small_files=21), "trigger_small_files is 21, and the table has 20 small files"),
        (Conditions(growth=17), "trigger_growth is 17, and 16 files were added since the last compaction"),
        (
            Conditions(interval=timedelta(days=1)),
            "trigger_interval is 1d, and the last compaction was 2h ago",
        ),
        (
            Conditions(average_size=100),
            "trigger_average_size is 100 bytes, and its average file has 100 bytes",
        ),
    ],
)
def test_each_condition_says_what_was_found(conditions: Conditions, reason: str) -> None:
    units = [unit("a"), unit("b")]
    assert reasons(conditions, units, COMPACTED) == {"a": reason, "b": reason}


@pytest.mark.parametrize(
    "conditions",
    [
        Conditions(unit_files=10),
        Conditions(small_files=20),
        Conditions(growth=16),
        Conditions(interval=2 * HOUR),
        Conditions(average_size=101),
    ],
)
def test_each_condition_holds_from_its_bound_on(conditions: Conditions) -> None:
    assert reasons(conditions, [unit("a"), unit("b")], COMPACTED) == {"a": None, "b": None}


@pytest.mark.parametrize("conditions", [Conditions(growth=10**6), Conditions(interval=timedelta(days=99))])
def test_a_table_that_was_never_compacted_has_grown_and_waited_long_enough(conditions: Conditions) -> None:
    assert reasons(conditions, [unit()]) == {"a": None}


def test_a_compaction_in_the_future_was_just_now() -> None:
    found = reasons(Conditions(interval=HOUR), [unit()], LogFigures(NOW + 9 * HOUR))
    assert found == {"a": "trigger_interval is 1h, and the last compaction was 0s ago"}


def test_units_that_are_too_young_do_not_count_for_the_table() -> None:
    conditions = Conditions(idle_for=HOUR, small_files=20)
    found = reasons(conditions, [unit("a"), unit("b", age=HOUR / 2)])
    assert found == {
        "a": "trigger_small_files is 20, and the table has 10 small files",
        "b": "its newest file is 30m old; idle_for is 1h",
    }


def test_a_deferred_unit_is_due_until_it_is_compacted() -> None:
    """Unless it is too young now: then somebody has written to it since."""
    units = [unit("a"), unit("b"), unit("c", age=HOUR / 2)]
    judge = Judge.of(Conditions(idle_for=HOUR, unit_files=11), units, NOTHING, NOW, {"a", "c"})
    assert [judge.reason(each) for each in units] == [
        None,
        "trigger_unit_files is 11, and it has 10 files",
        "its newest file is 30m old; idle_for is 1h",
    ]


def test_fewer_files_than_compactions_have_written_are_no_negative_growth() -> None:
    log = LogFigures(NOW - HOUR, {"a": 50})
    assert reasons(Conditions(growth=10), [unit("a"), unit("b")], log) == {"a": None, "b": None}


UNITS = st.lists(
    st.builds(
        unit,
        st.sampled_from("abcdef"),
        st.integers(2, 50),
        st.integers(0, 200),
        st.integers(0, 50),
        st.integers(0, 200).map(lambda hours: hours * HOUR),
    ),
    max_size=6,
    unique_by=lambda each: each.key,
)
BOUNDS = {
    "unit_files": st.integers(1, 50),
    "small_files": st.integers(1, 200),
    "growth": st.integers(1, 200),
    "interval": st.integers(1, 100).map(lambda hours: hours * HOUR),
    "average_size": st.integers(1, 200),
}
CONDITIONS = st.builds(
    Conditions,
    idle_for=st.none() | st.integers(0, 100).map(lambda hours: hours * HOUR),
    any_trigger=st.booleans(),
    **{name: st.none() | bound for name, bound in BOUNDS.items()},
)
LOGS = st.builds(
    LogFigures,
    st.none() | st.integers(0, 200).map(lambda hours: NOW - hours * HOUR),
    st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 60)),
)


@given(CONDITIONS, UNITS, LOGS)
def test_all_and_any_are_made_of_the_single_conditions(
    conditions: Conditions, units: list[Candidate], log: LogFigures
) -> None:
    found = reasons(conditions, units, log)
    given_ones = [name for name in BOUNDS if getattr(conditions, name) is not None]
    base = Conditions(idle_for=conditions.idle_for)
    young = reasons(base, units, log)
    singles = {
        name: reasons(replace(base, **{name: getattr(conditions, name)}), units, log) for name in given_ones
    }
    for key, reason in found.items():
        if young[key]:
            assert reason == young[key]
            continue
        failed = [singles[name][key] for name in given_ones if singles[name][key]]
        due = len(failed) < len(given_ones) if conditions.any_trigger else not failed
        assert (reason is None) == (due or not given_ones)
        assert reason is None or reason == "; ".join(map(str, failed))


@given(CONDITIONS, UNITS, LOGS)
def test_any_never_leaves_out_what_all_takes(
    conditions: Conditions, units: list[Candidate], log: LogFigures
) -> None:
    by_all = reasons(replace(conditions, any_trigger=False), units, log)
    by_any = reasons(replace(conditions, any_trigger=True), units, log)
    assert {key for key, reason in by_all.items() if reason is None} <= {
        key for key, reason in by_any.items() if reason is None
    }


@given(UNITS, LOGS)
def test_without_a_condition_all_are_due(units: list[Candidate], log: LogFigures) -> None:
    assert set(reasons(Conditions(any_trigger=True), units, log).values()) <= {None}


def test_figures_of_an_earlier_listing_count_only_if_they_are_of_what_is_asked() -> None:
    known = FileFigures(1, 2, 1000)
    for conditions in (Conditions(idle_for=HOUR), Conditions(small_files=1)):
        assert not conditions.can_judge(None, 1000, NOW)
        assert conditions.can_judge(known, 1000, NOW)
    assert not Conditions(small_files=1).can_judge(known, 999, NOW)
    assert Conditions(idle_for=HOUR).can_judge(known, 999, NOW)
    assert Conditions(unit_files=1).can_judge(None, 1000, NOW)
