"""Units that were found day after day and never compacted: in the log, in XCom, and in the overview of a night."""

from __future__ import annotations

from typing import Any

from lakekeeper_provider.report import open_units
from lakekeeper_provider.report import summary as report_summary
from lakekeeper_provider.report import units as report_units
from lakekeeper_provider.report.overview import Overview
from tests.unit.provider.test_report import parsed, table, unit


def opened(name: str, days: int, *attempts: dict[str, Any], outcome: str = "flagged") -> dict[str, Any]:
    found = unit(outcome, open_since=f"2026-02-{10 - days:02}T01:00:00Z", open_days=days)
    return {**found, "unit": {"date": name}, "open_attempts": list(attempts)}


def attempt(day: int, outcome: str = "deferred", code: str | None = None) -> dict[str, Any]:
    return {"at": f"2026-02-{day:02}T01:00:00Z", "outcome": outcome, "code": code, "reason": f"why {day}"}


FOUND = [
    opened("a", 3, attempt(7), attempt(8, "failed")),
    opened("b", 5, attempt(8, "skipped", "ACTIVE_WRITER"), outcome="skipped"),
    opened("c", 4),
    opened("d", 2, attempt(8)),
]


def analysis() -> Any:
    return parsed("done", table(units=FOUND), table("sales.flat", units=[unit("flagged")]), verb="analyze")


def test_the_log_has_the_reason_of_each_night_of_those_that_are_open_for_three_days():
    lines = [line for line in report_units.lines(analysis().tables) if "open since" in line or "why" in line]
    assert lines == [
        "  date=b: open since 2026-02-05, found on 5 days",
        "    2026-02-08 skipped ACTIVE_WRITER: why 8",
        "  date=c: open since 2026-02-06, found on 4 days; no compaction has begun it",
        "  date=a: open since 2026-02-07, found on 3 days",
        "    2026-02-07 deferred: why 7",
        "    2026-02-08 failed: why 8",
    ]


def test_of_many_the_first_are_listed_and_the_others_counted():
    lines = open_units.lines({"units": [opened(f"{n}", 3) for n in range(25)]})
    assert len(lines) == 21
    assert lines[-1] == "  ... and 5 more that are open"


def test_xcom_has_how_many_they_are_since_when_and_what_the_last_night_has_met():
    events, flat = report_summary.summary(analysis(), None)["tables"]
    assert events["open"] == {
        "units": 2,
        "since": "2026-02-06T01:00:00Z",
        "names": [{"date": "c"}, {"date": "a"}],
        "last": {"not begun": 1, "failed": 1},
    }
    assert events["open_refused"] == {
        "units": 1,
        "since": "2026-02-05T01:00:00Z",
        "names": [{"date": "b"}],
        "last": {"skipped ACTIVE_WRITER": 1},
    }
    assert not {"open", "open_refused"} & flat.keys()


def test_the_overview_names_them_as_the_last_job_of_the_night_has_left_them():
    before = report_summary.summary(analysis(), None)
    text = Overview.of([before], None).text()
    assert (
        "3 partitions open since 2026-02-05 (date=c, date=a, date=b);"
        " last: 1 not begun, 1 failed, 1 skipped ACTIVE_WRITER" in text
    )
    left = parsed("done", table(units=[opened("a", 4, attempt(9), outcome="deferred")]), verb="compact")
    text = Overview.of([before], [report_summary.summary(left, None)]).text()
    # What the analysis has refused, a compaction by this analysis is not given.
    assert (
        "2 partitions open since 2026-02-05 (date=a, date=b); last: 1 deferred, 1 skipped ACTIVE_WRITER"
        in text
    )
    done = parsed("done", table(units=[unit("compacted")]), verb="compact")
    text = Overview.of([before], [report_summary.summary(done, None)]).text()
    assert "1 partition open since 2026-02-05 (date=b); last: 1 skipped ACTIVE_WRITER" in text
    sound = parsed("done", table(units=[unit("flagged")]), verb="analyze")
    before = report_summary.summary(sound, None)
    assert "open since" not in Overview.of([before], [report_summary.summary(done, None)]).text()


def test_without_an_analysis_the_compaction_says_which_are_left():
    units = [opened("a", 4, attempt(9), outcome="deferred"), FOUND[1]]
    left = report_summary.summary(parsed("done", table(units=units), verb="compact"), None)
    assert "2 partitions open since 2026-02-05 (date=a, date=b)" in Overview.of(None, [left]).text()


def test_more_of_them_than_are_named_are_counted():
    units = [opened(f"{n}", 3) for n in range(5)]
    found = open_units.brief({"units": units})["open"]
    assert "(date=0, date=1, date=2 and 2 more)" in open_units.sentence(found)
