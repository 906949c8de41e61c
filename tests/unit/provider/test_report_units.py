"""What the task's log says of the units of a report, and of its warnings."""

from __future__ import annotations

import json

import pytest

from lakekeeper_provider.report import summary as report_summary
from lakekeeper_provider.report import text as report_text
from lakekeeper_provider.report.units import TABLES_SHOWN, UNITS_SHOWN
from tests.unit.provider.test_report import parsed, table


def flagged(day: int, files: int = 200, **more):
    sizes = {"bytes": 1024 * files, "avg_file_size": 1024, "median_file_size": 2048, "threshold": 13421772}
    values = {"unit": {"date": f"2026-02-{day:02}"}, "outcome": "flagged", "code": None, "reason": None}
    return {**values, **sizes, "files": files, "target_files": 1, "needs_compaction": True, **more}


def lines(*units, verb: str = "analyze"):
    return report_text.render(parsed("done", table(units=list(units)), verb=verb)).splitlines()


def test_an_analysis_lists_the_flagged_units_with_their_figures_the_largest_first():
    assert lines(flagged(1, 20), flagged(2, 300))[-4:] == [
        "sales.events:",
        "  partition        files  bytes     average  median  threshold  files after (estimate)",
        "  date=2026-02-02  300    300.0 KB  1.0 KB   2.0 KB  12.8 MB    1",
        "  date=2026-02-01  20     20.0 KB   1.0 KB   2.0 KB  12.8 MB    1",
    ]


def test_a_plan_lists_the_units_in_the_order_of_execution_and_how_each_is_written_and_sums_them_up():
    units = (
        flagged(1, 20, score=97280.0, engine="copy", strategy="minor", estimated_seconds=90.0),
        flagged(2, 300, score=1.5, engine="spark", strategy="full", strategy_reason="its rows are sorted"),
    )
    head = "  partition        files  bytes     average  median  threshold  files after (estimate)"
    assert lines(*units, verb="plan")[-5:] == [
        f"{head}  score   engine  strategy  minutes (estimate)",
        f"  date=2026-02-01  20     20.0 KB   1.0 KB   2.0 KB  12.8 MB    1{'97,280':>29}  copy    minor     1.5",
        f"  date=2026-02-02  300    300.0 KB  1.0 KB   2.0 KB  12.8 MB    1{'1.50  ':>29}  spark   full",
        "  1 full: its rows are sorted",
        "to compact: 2 units, 320 files, 320.0 KB, 1.5 minutes for 1 of them (estimate)",
    ]


def test_a_plan_says_why_arrow_writes_some_units_and_not_others():
    units = [flagged(1, engine="arrow"), flagged(4, engine="spark")]
    units += [flagged(day, engine="spark", engine_reason="column 'at' is int96") for day in (2, 3)]

    assert lines(*units, verb="plan")[-2] == "  2 spark, not arrow: column 'at' is int96"


def test_a_plan_lists_all_units_of_all_tables_however_many_they_are():
    many = [table(units=[flagged(1, 10 + n) for n in range(UNITS_SHOWN + 2)])]
    many += [table(f"sales.t{n}", units=[flagged(1)]) for n in range(TABLES_SHOWN)]
    text = report_text.render(parsed("done", *many, verb="plan"))
    assert text.count("date=2026-02-01") == UNITS_SHOWN + 2 + TABLES_SHOWN
    assert text.endswith("time not known before a first compaction (estimate)")


@pytest.mark.parametrize("verb", ["plan", "compact"])
def test_the_bytes_that_are_held_as_originals_are_shown(verb):
    assert "originals held: 3.0 KB" in report_text.render(
        parsed("done", table(held_bytes=1024), table("sales.flat", held_bytes=2048), verb=verb)
    )


def test_many_flagged_units_are_counted_with_their_files_and_bytes():
    found = lines(*(flagged(1, 10 + n) for n in range(UNITS_SHOWN + 2)))
    assert found[-1] == "  ... and 2 more: 21 files, 21.0 KB"
    assert sum("date=" in line for line in found) == UNITS_SHOWN


def test_units_that_were_left_alone_are_named_with_code_and_reason():
    young = {
        "unit": {"date": "today"},
        "outcome": "skipped",
        "code": "ACTIVE_WRITER",
        "reason": "a file is open",
    }
    late = {"unit": {"date": "b"}, "outcome": "deferred", "code": None, "reason": "the deadline has passed"}
    small = {"unit": {"date": "c"}, "outcome": "healthy", "code": None, "reason": "it cannot be fewer files"}
    sound = {"unit": {"date": "d"}, "outcome": "healthy", "code": None, "reason": None}
    assert lines(young, late, small, sound)[-5:] == [
        "sales.events:",
        "  date=today: skipped ACTIVE_WRITER: a file is open",
        "  date=b: deferred: the deadline has passed",
        "  2 healthy",
        "  1 of them: it cannot be fewer files",
    ]


def test_many_units_that_were_left_alone_are_counted_by_code():
    skipped = {
        "unit": {"date": "a"},
        "outcome": "skipped",
        "code": "ACTIVE_WRITER",
        "reason": "a file is open",
    }
    found = lines(*[skipped] * (UNITS_SHOWN + 5), {**skipped, "code": "ATTRIBUTES"})
    assert found[-1] == "  ... and 5 skipped ACTIVE_WRITER, 1 skipped ATTRIBUTES"


def test_a_compaction_lists_what_it_made_of_each_unit():
    done = flagged(1, outcome="compacted", files_after=1, bytes_after=96670, rows=100000, seconds=3.21)
    assert lines(done, verb="compact")[-2:] == [
        "  partition        files     fewer files  bytes                average            rows    seconds  outcome",
        "  date=2026-02-01  200 -> 1  99.5 %       200.0 KB -> 94.4 KB  1.0 KB -> 94.4 KB  100000  3.2      compacted",
    ]


def test_the_dry_run_of_a_cleanup_lists_units_without_sizes_of_files():
    unit = {"unit": {"date": "a"}, "outcome": "flagged", "code": None, "reason": None, "files": 3, "bytes": 9}
    assert lines(unit, verb="cleanup")[-1] == "  date=a     3      9 B    -     -        flagged"


def test_of_a_large_database_the_units_of_the_first_tables_are_listed():
    tables = [table(f"sales.t{n}", units=[flagged(1)]) for n in range(TABLES_SHOWN + 7)]
    healthy = table("sales.sound", units=[{"unit": {}, "outcome": "healthy", "code": None, "reason": None}])
    text = report_text.render(parsed("done", healthy, *tables, verb="analyze"))
    assert next(line for line in text.splitlines() if line.startswith("sales.sound ")).count(" 1 healthy")
    assert text.count("date=2026-02-01") == TABLES_SHOWN
    assert "... the units of 7 more tables are in the report" in text
    assert "sales.sound:" not in text


def test_a_table_without_small_files_says_what_small_is():
    sound = {"unit": {"date": "a"}, "outcome": "healthy", "code": None, "reason": None, "threshold": 13421772}
    text = report_text.render(parsed("nothing", table(units=[sound, sound]), verb="compact"))
    assert "2 healthy (small is below 12.8 MB)" in text
    text = report_text.render(parsed("nothing", table(units=[sound, flagged(1)]), verb="analyze"))
    assert "small is below" not in text


def test_warnings_are_named_with_their_table_and_stand_in_the_summary():
    lost = "ATTRIBUTE_NOT_KEPT: the owner of /t is not kept: you are not a superuser"
    found = parsed("done", table(warnings=[lost]), table("sales.flat", warnings=[]))
    assert report_text.warnings(found) == [f"sales.events: {lost}"]
    summed = report_summary.summary(found, None)["tables"]
    assert [each["warnings"] for each in summed] == [[lost], []]
    assert [each["warning_codes"] for each in summed] == [{"ATTRIBUTE_NOT_KEPT": 1}, {}]


@pytest.mark.parametrize("verb", ["analyze", "compact"])
def test_of_many_warnings_the_summary_has_the_first_ones_and_counts_all_codes(verb):
    many = [f"PARTITION_UNREGISTERED: date={n}: {'x' * 100}" for n in range(1000)]
    found = parsed(
        "done", table(units=[flagged(1)], warnings=[*many, "LOG_NOT_UPDATED: no space"]), verb=verb
    )
    summed = report_summary.summary(found, None)
    assert len(json.dumps(summed)) < report_summary.XCOM_LIMIT
    assert summed["tables"][0]["warnings"] == many[:3]
    assert summed["tables"][0]["warning_codes"] == {"PARTITION_UNREGISTERED": 1000, "LOG_NOT_UPDATED": 1}


def test_of_many_tables_with_warnings_the_summary_has_the_codes_only():
    tables = [table(f"sales.t{n}", warnings=[f"LOG_NOT_UPDATED: {'x' * 900}"] * 2) for n in range(60)]
    summed = report_summary.summary(parsed("done", *tables), None)
    assert len(json.dumps(summed)) < report_summary.XCOM_LIMIT
    assert summed["tables"][0]["warnings"] == []
    assert summed["tables"][0]["warning_codes"] == {"LOG_NOT_UPDATED": 2}


def test_a_long_history_keeps_its_newest_rows_in_the_summary():
    rows = [{"run_id": f"r{n}", "kind": "compact", "who": "x" * 200} for n in range(500)]
    summed = report_summary.summary(parsed("done", table(history=rows), verb="history"), None)
    assert summed["tables"][0]["history"] == rows[:10]
    assert (
        report_summary.summary(parsed("done", table(history=rows[:20]), verb="history"), None)["tables"][0][
            "history"
        ]
        == rows[:20]
    )


def test_a_table_whose_small_files_stay_says_why_in_its_line():
    young = {"outcome": "healthy", "reason": "its newest file is 3h old; idle_for is 7d"}
    healthy = [{**flagged(1), **young}, {**flagged(2), "outcome": "healthy"}]
    text = report_text.render(parsed("done", table(outcome="nothing", units=healthy), verb="analyze"))
    line = next(line for line in text.splitlines() if line.startswith("sales.events  "))
    assert "  1 of 2 with small files, which stay: its newest file is 3h old; idle_for is 7d" in line


def test_a_cleanup_says_what_is_in_the_trash():
    cleaned = report_text.render(parsed("done", table(trashed_bytes=3_072), verb="cleanup"))
    assert "moved to the HDFS trash: 3.0 KB, which is free when the trash is emptied" in cleaned
    assert "trash" not in report_text.render(parsed("done", table(freed_bytes=3_072), verb="cleanup"))
