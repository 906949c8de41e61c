"""What is left after a night, how many nights it takes, and who is told of it."""

from __future__ import annotations

from typing import Any

import pytest

from lakekeeper_provider.events.notify import limit, message, notify
from lakekeeper_provider.report.backlog import NIGHTS, Backlog, Night
from lakekeeper_provider.report.overview import Overview
from tests.unit.provider.test_overview import analysed, compacted


def backlog(*left: int, removed: int = 100) -> Backlog:
    nights = [Night(found=removed + files, removed=removed, left=files) for files in left]
    return Backlog.after(nights[-1], Backlog(nights[:-1]).to_json())


def test_the_nights_that_are_left_follow_from_the_pace_of_the_last_week():
    assert backlog(1000, 950).line == (
        "backlog: 950 files of flagged partitions are not compacted; at the pace of the last 2 nights, about 10 nights"
        " more"
    )
    assert backlog(90).line.endswith("at the pace of the last 1 night, about 1 night more")
    assert backlog(0).line == Backlog([]).line == ""
    assert "no file was removed" in backlog(50, removed=0).line
    assert len(backlog(*range(30)).nights) == NIGHTS


def test_it_grows_if_each_of_three_nights_leaves_more():
    assert backlog(950, 900, 920, 930).grows
    assert not backlog(0, 900, 850).grows
    assert not backlog(900, 950).grows
    assert not Backlog([]).grows


def test_a_night_counts_what_was_found_and_what_was_left():
    night = Overview.of(
        [analysed("db.a", flagged_files=600), analysed("db.b", flagged_files=50), analysed("db.c")],
        [compacted("db.a", left_files=10)],
    ).night
    assert night == Night(found=650, removed=597, left=60)


@pytest.mark.parametrize(
    ("outcome", "left"), [("busy", 500), ("failed", 500), ("unknown", 500), ("nothing", 0)]
)
def test_a_compaction_that_could_not_work_has_left_all_and_knows_nothing_of_originals(
    outcome: str, left: int
):
    held = {"held_runs": 2, "held_bytes": 5 << 40, "held_since": "2026-02-20T01:00:00Z"}
    overview = Overview.of([analysed("db.a", flagged_files=500, **held)], [compacted("db.a", outcome)])
    assert overview.night.left == left
    assert overview.held_bytes == 5 << 40
    assert overview.held_line.startswith("2 compactions can be rolled back, 5.0 TB held")


def test_what_the_next_night_does_by_itself_is_no_reason_to_write():
    waits = Overview.of(
        [
            analysed("db.a", skipped={"ACTIVE_WRITER": 2}),
            analysed("db.c", "refused", code="ACTIVE_WRITER", reason="it is written"),
            analysed("db.d", "refused", code="NOT_FOUND", reason="it was dropped"),
        ],
        [compacted("db.b", "busy")],
    )
    assert message(waits, Backlog([])) is None
    assert waits.waiting() == ["db.c", "db.d", "db.b"]
    told = message(waits, Backlog([]), overdue=["db.b"])
    assert told is not None
    assert told["subject"] == "lakekeeper: 1 table needs a look"


def test_a_night_that_could_do_nothing_is_told_by_its_failed_tasks():
    told = message(Overview.of([], []), Backlog([]), failed=["analyze", "only_flagged"])
    assert told is not None
    assert told["subject"] == "lakekeeper: analyze, only_flagged failed"


def test_partitions_that_are_open_are_told_although_another_job_works_on_the_table():
    units = {"units": 1, "since": "2026-02-20T01:00:00Z", "names": [{"k": "a"}], "last": {"not begun": 1}}
    night = Overview.of([analysed("db.a", open=units)], [compacted("db.a", "busy")])
    (problem,) = night.problems()
    assert "1 partition open since 2026-02-20" in problem


def test_a_night_of_another_version_is_no_night():
    assert (
        len(Backlog.after(Night(1, 1, 0), [{"found": 1}, {"found": 1, "removed": 1, "left": 0}]).nights) == 2
    )


def test_a_table_with_several_reasons_is_one_table():
    night = Overview.of(
        [analysed("db.a", skipped={"QUOTA": 2})], [compacted("db.a", "failed", reason="disk full")]
    )
    found = message(night, Backlog([]))
    assert found is not None
    assert found["subject"] == "lakekeeper: 1 table needs a look"
    assert "db.a: 2 partitions skipped: QUOTA; failed: disk full" in found["text"]


def test_nobody_is_told_of_a_night_after_which_there_is_nothing_to_do():
    quiet = Overview.of(
        [analysed("db.a"), analysed("db.v", "refused", code="VIEW", reason="x")], [compacted("db.a")]
    )
    assert message(quiet, backlog(950, 900)) is None
    sent: list[Any] = []
    assert not notify(sent.append, None, {})
    assert sent == []


@pytest.mark.parametrize(
    ("night", "left", "held_over", "subject"),
    [
        (
            Overview.of([], [compacted("db.a", "failed", reason="disk full")]),
            (0,),
            None,
            "1 table needs a look",
        ),
        (Overview.of([analysed("db.a")], []), (900, 950, 980), None, "the backlog grows"),
        (
            Overview.of(
                [analysed("db.a", held_runs=2, held_bytes=3 << 40, held_since="2026-02-20T01:00:00Z")], []
            ),
            (0,),
            "1tb",
            "3.0 TB of originals are held, more than 1.0 TB",
        ),
    ],
)
def test_each_reason_is_named_in_the_subject(
    night: Overview, left: tuple[int, ...], held_over: str | None, subject: str
):
    found = message(night, backlog(*left), limit(held_over))
    assert found is not None
    assert found["subject"] == f"lakekeeper: {subject}"
    assert found["text"].startswith(night.line)


def test_a_notifier_that_fails_fails_no_night_and_the_others_are_told():
    sent: list[Any] = []

    def broken(_: Any) -> None:
        raise ConnectionError("no mail server")

    assert notify([broken, sent.append], {"subject": "s", "text": "t"}, {"ti": "x"})
    assert sent == [{"ti": "x", "lakekeeper": {"subject": "s", "text": "t"}}]
    for wrong in ([broken], 42, object(), "name"):
        assert not notify(wrong, {"subject": "s", "text": "t"}, {})  # type: ignore[arg-type]
