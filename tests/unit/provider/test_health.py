"""The records of the tables' health: what each job tells of every table that it has looked at."""

from __future__ import annotations

import json

import pytest

from lakekeeper_provider.report import health
from tests.unit.provider.test_report import parsed, table, unit


def record_of(*units, verb="compact", **more):
    [found] = health.records(parsed("done", table(units=list(units), **more), verb=verb))
    return found


def test_an_analysis_says_what_is_worth_a_compaction_the_largest_first():
    few, many = (
        unit("flagged", needs_compaction=True, files=files, bytes=files * 10, target_files=1)
        for files in (5, 500)
    )
    found = record_of(few, many, unit("healthy", files=1), verb="analyze", files_per_day=2.5)
    assert (found["flagged"], found["flagged_files"], found["target_files"]) == (2, 505, 2)
    assert [each["files"] for each in found["flagged_units"]] == [500, 5]
    assert found["outcomes"] == {"flagged": 2, "healthy": 1}
    assert found["files_per_day"] == 2.5


def test_a_compaction_says_what_it_has_rewritten_and_what_it_has_left_and_why():
    done = unit("compacted", files=600, bytes=6000, files_after=3, bytes_after=5000)
    failed = unit("failed", files=40, code="QUOTA", reason="no space")
    found = record_of(done, failed, unit("deferred", files=2), held_bytes=7, held_runs=1)
    rewritten = {"files_before": 600, "files_after": 3, "bytes_before": 6000, "bytes_after": 5000}
    assert found["rewritten"] == rewritten
    assert found["left_files"] == 42
    assert found["left"][0] == {
        "unit": {"date": "2026-02-23"},
        "files": 40,
        "bytes": None,
        "outcome": "failed",
        "code": "QUOTA",
        "reason": "no space",
    }
    assert (found["held_bytes"], found["held_runs"]) == (7, 1)


def test_a_table_that_nothing_was_done_to_has_a_record_too():
    found = record_of(outcome="refused", code="VIEW", reason="it is a view")
    assert (found["table"], found["outcome"], found["code"]) == ("sales.events", "refused", "VIEW")


def test_a_cleanup_says_nothing_of_the_files_of_the_table():
    """What it counts are originals."""
    found = record_of(unit("cleaned", files=9), verb="cleanup", freed_bytes=90)
    assert "files" not in found
    assert found["freed_bytes"] == 90


@pytest.mark.parametrize("key", ["reason", "warnings"])
def test_a_long_text_is_cut_and_stays_one_line(key):
    text = "X: " + "a\nb\u202e" * 1_000
    found = record_of(**{key: text if key == "reason" else [text]})
    shown = found[key] if key == "reason" else found[key][0]
    assert len(shown) == 200
    assert "\n" not in shown
    assert "\u202e" not in shown


def test_thousands_of_tables_go_into_pages_with_a_bound_and_none_is_missing():
    units = [unit("flagged", needs_compaction=True, files=9) for _ in range(100)]
    tables = [table(f"sales.t{number}", units=units) for number in range(5_000)]
    pages = health.pages(health.records(parsed("done", *tables, verb="analyze")))
    assert max(map(len, pages)) <= health.PAGE_BYTES + 2
    names = [each["table"] for page in pages for each in json.loads(page)]
    assert names == [f"sales.t{number}" for number in range(5_000)]


def test_without_tables_there_is_no_page():
    assert health.pages([]) == []
