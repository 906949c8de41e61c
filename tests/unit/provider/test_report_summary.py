"""The summary of a large analysis: what is moved to pages, and how urgent its tables are."""

from __future__ import annotations

import json

import pytest

from lakekeeper_provider.events.notify import message
from lakekeeper_provider.report import summary as report_summary
from lakekeeper_provider.report.backlog import Backlog
from lakekeeper_provider.report.overview import Overview
from tests.airflow.support import TaskInstance
from tests.unit.provider.test_report import analysis, parsed, table, unit


def test_a_large_analysis_moves_its_units_to_pages_and_keeps_the_refused_tables():
    found = parsed(
        "done",
        table(units=[{"unit": {"date": f"{i:010}"}, "outcome": "flagged"} for i in range(5000)]),
        table("sales.view", outcome="refused", code="VIEW", reason="it is a view"),
        verb="analyze",
    )
    instance = TaskInstance()
    summed = report_summary.summary(found, None, instance)
    assert len(json.dumps(summed)) < report_summary.XCOM_LIMIT
    flagged, view = summed["tables"]
    assert (flagged["flagged"], flagged["flagged_at"]) == (None, [0, 5000])
    assert (view["code"], view["flagged"]) == ("VIEW", [])
    assert [f"flagged_{n}" for n in range(len(summed["flagged_in"]["pages"]))] == list(instance.pushed)


def test_a_small_analysis_pushes_nothing_more():
    instance = TaskInstance()
    summed = report_summary.summary(analysis(2, 3), None, instance)
    assert "flagged_in" not in summed
    assert instance.pushed == {}


def test_an_analysis_that_keeps_its_report_pushes_nothing_more():
    instance = TaskInstance()
    report_summary.summary(analysis(1, 5000), "hdfs://nn/r.json", instance)
    assert instance.pushed == {}


def test_summary_of_an_analysis_says_how_urgent_a_table_is():
    units = [
        unit("flagged", score=100.0, bytes=1000, deferred_since="2026-02-22T01:00:00Z"),
        unit("flagged", score=10.0, bytes=9000, deferred_since="2026-02-20T01:00:00Z"),
        unit("flagged"),  # of an unfinished run: it has no score
        unit("healthy", score=7.0, bytes=5),
    ]
    found = parsed("done", table(units=units), table("sales.flat", units=[unit("healthy")]), verb="analyze")
    events, flat = report_summary.summary(found, None)["tables"]
    assert (events["score"], events["flagged_bytes"]) == (19.0, 10000)
    assert events["deferred_since"] == "2026-02-20T01:00:00Z"
    assert not {"score", "flagged_bytes", "deferred_since"} & flat.keys()


@pytest.mark.parametrize("failed", [1, 20_000])
def test_a_large_analysis_tells_of_the_tables_that_have_failed_and_of_what_all_of_them_hold(failed: int):
    held = {"held_runs": 1, "held_bytes": 10, "held_since": "2026-02-20T01:00:00Z"}
    tables = [table(f"sales.quiet_{n}", outcome="nothing", **held) for n in range(5000)]
    tables += [
        table(f"sales.broken_{n}", outcome="failed", reason="disk full", **held) for n in range(failed)
    ]
    summed = report_summary.summary(parsed("failed", *tables, verb="analyze"), None, TaskInstance())
    assert len(json.dumps(summed)) < report_summary.XCOM_LIMIT
    night = Overview.of([summed], [])
    assert (night.held_bytes, night.held_line.split()[0]) == ((5000 + failed) * 10, str(5000 + failed))
    told = "sales.broken_0: failed: disk full" if failed == 1 else f"{failed} more tables"
    assert any(line.startswith(told) for line in night.problems())
    found = message(night, Backlog([]))
    assert found is not None
    assert found["subject"].startswith(f"lakekeeper: {failed:,} table")


@pytest.mark.parametrize("uri", [None, "hdfs://nn/r.json"])
def test_a_large_analysis_with_flagged_units_keeps_what_is_to_be_told_and_makes_no_problem_of_the_rest(uri):
    units = [{"unit": {"date": f"{i:010}"}, "outcome": "flagged"} for i in range(800)]
    opened = {"open_since": "2026-02-20T01:00:00Z", "open_days": 9, "open_attempts": []}
    tables = [table(f"sales.t{n}", units=units) for n in range(20)]
    tables += [table(f"sales.b{n}", outcome="refused", code="BACKUP", reason="a backup") for n in range(300)]
    tables += [table("sales.busy", outcome="refused", code="ACTIVE_WRITER", reason="it is written")]
    tables += [table("sales.broken", outcome="failed", reason="disk full")]
    tables += [table("sales.open", outcome="nothing", units=[{**unit("healthy"), **opened}])]
    summed = report_summary.summary(parsed("failed", *tables, verb="analyze"), uri, TaskInstance())
    assert len(json.dumps(summed)) < report_summary.XCOM_LIMIT
    problems = Overview.of([summed], []).problems()
    assert [line.split(":")[0] for line in problems] == ["sales.broken", "sales.open"]
    assert problems[0] == "sales.broken: failed: disk full"


def test_the_preview_of_a_cleanup_of_many_tables_keeps_those_in_which_it_has_found_something():
    tables = [
        table(f"sales.quiet_with_a_long_name_{n}", outcome="nothing", reason="x" * 50) for n in range(3000)
    ]
    found = parsed("done", *tables, table("sales.old", units=[unit("flagged")]), verb="cleanup")
    summed = report_summary.summary(found, None)
    assert [each["table"] for each in summed["tables"]] == ["sales.old"]
    assert summed["left_out"]["done"] == 0
    many = [table(f"sales.a_table_with_a_long_name_{n}", units=[unit("flagged")]) for n in range(2000)]
    summed = report_summary.summary(parsed("done", *many, verb="cleanup"), None)
    assert (summed["tables"], summed["left_out"]["done"]) == ([], 2000)
