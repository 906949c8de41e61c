"""Units that analyses find day after day: since when, on how many days, and what each one has met."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_jobs.core.messages.outcomes import UnitOutcome
from spark_jobs.core.records.open_units import Attempt, OpenUnit, analysed, decode, encode, tried
from spark_jobs.core.records.record_files import DECODING_ERRORS
from spark_jobs.core.records.snapshots import packed
from spark_jobs.core.wire.report import UnitReport


def at(day: int, hour: int = 1) -> str:
    return f"2026-02-{day:02}T{hour:02}:00:00Z"


def attempt(day: int, reason: str = "the deadline has passed") -> Attempt:
    return Attempt(at(day), "deferred", None, reason)


def test_a_unit_is_open_since_the_first_analysis_and_counted_once_a_day() -> None:
    left: dict[str, OpenUnit] = {}
    for day, hour in ((1, 1), (2, 1), (2, 9), (4, 1)):
        left = analysed(left, {"a"}, set(), at(day, hour))
    assert left == {"a": OpenUnit(at(1), 3, "2026-02-04")}


def test_nothing_is_said_of_a_unit_on_its_first_day() -> None:
    first = OpenUnit(at(1)).seen(at(1))
    assert first.on(at(1, 9)) is None
    assert first.on(at(2)) == replace(first, days=2, last="2026-02-02")


def test_a_unit_that_no_analysis_has_found_for_long_begins_anew() -> None:
    old = OpenUnit(at(1), 5, "2026-02-05", (attempt(5),))
    assert old.seen(at(13)).days == 6
    assert old.seen(at(14)) == OpenUnit(at(14), 1, "2026-02-14")
    assert old.on(at(14)) is None


def test_what_ends_it_is_a_compaction_or_an_analysis_that_finds_nothing() -> None:
    left = analysed({}, {"a", "b", "c"}, set(), at(1))
    left = analysed(tried(left, {}, {"a"}), {"c"}, {"b"}, at(2))
    assert left == {"c": OpenUnit(at(1), 2, "2026-02-02")}


def test_the_reason_of_each_night_is_kept_and_the_same_one_once_a_day() -> None:
    left = analysed({}, {"a"}, set(), at(1))
    for day in range(1, 10):
        left = tried(left, {"a": attempt(day)}, set())
        left = tried(left, {"a": attempt(day, "again")}, set())
    assert [each.at for each in left["a"].attempts] == [at(day) for day in range(3, 10)]
    assert {each.reason for each in left["a"].attempts} == {"the deadline has passed"}
    failed = Attempt(at(9), "failed", None, "no space")
    assert tried(left, {"a": failed}, set())["a"].attempts[-1] == failed


def test_a_reason_is_as_long_as_a_person_reads() -> None:
    report = UnitReport.of({"k": "a"}, UnitOutcome.SKIPPED, code="TYPE", reason="x" * 1000)
    assert Attempt.of(report, at(1)) == Attempt(at(1), "skipped", "TYPE", "x" * 300)


_TEXT = st.one_of(st.none(), st.text(max_size=5))
_ATTEMPTS = st.builds(Attempt, st.just(at(3)), st.text(max_size=5), _TEXT, _TEXT)
_OPEN = st.builds(
    OpenUnit,
    st.just(at(1)),
    st.integers(0, 9),
    st.sampled_from(["", "2026-02-03"]),
    st.lists(_ATTEMPTS, max_size=3).map(tuple),
)


@given(st.dictionaries(st.text(max_size=3), _OPEN, max_size=3))
def test_what_was_written_is_read(units: dict[str, OpenUnit]) -> None:
    assert decode(encode(units), "open-1") == units


@pytest.mark.parametrize(
    "row",
    [
        {"since": "soon"},
        {"since": 1},
        {"last": "2026"},
        {"days": "1"},
        {"attempts": [1]},
        {"attempts": "a"},
        {"more": 1},
        {"since": "2026-02-01T01:00:00Z" + " " * 99},
    ],
)
def test_what_is_no_such_file_is_not_read(row: dict[str, object]) -> None:
    good = {"since": at(1), "days": 1, "last": "2026-02-01", "attempts": [0]}
    body = {"attempts": [vars(attempt(1))], "open": {"a": good}}
    assert decode(packed(body), "open-1")["a"].days == 1
    with pytest.raises(DECODING_ERRORS):
        decode(packed({**body, "open": {"a": {**good, **row}}}), "open-1")


@pytest.mark.parametrize("key", ["at", "outcome", "code"])
def test_texts_that_no_job_has_written_are_not_read(key: str) -> None:
    good = {"since": at(1), "days": 1, "last": "2026-02-01", "attempts": [0]}
    body = {"attempts": [{**vars(attempt(1)), key: "x" * 65}], "open": {"a": good}}
    with pytest.raises(DECODING_ERRORS):
        decode(packed(body), "open-1")
    long = {**vars(attempt(1)), "reason": "x" * 9999}
    assert len(decode(packed({**body, "attempts": [long]}), "open-1")["a"].attempts[0].reason or "") == 300
