from __future__ import annotations

import json

import pytest

from lakekeeper_provider.exceptions import ReportError, UsageError
from lakekeeper_provider.report import report
from lakekeeper_provider.report import summary as report_summary
from lakekeeper_provider.report import text as report_text
from lakekeeper_provider.report.report import TaskResult


def table(name: str = "sales.events", outcome: str = "done", **more):
    return {
        "table": name,
        "outcome": outcome,
        "code": None,
        "reason": None,
        "run_id": "r1",
        "before": {"files": 600, "bytes": 314572},
        "after": {"files": 3, "bytes": 290012},
        "rows": 300000,
        "backup_table": "sales.__bkp_20260224_010000_events",
        "units": [],
        **more,
    }


def unit(outcome: str, **more):
    return {"unit": {"date": "2026-02-23"}, "outcome": outcome, "code": None, "reason": None, **more}


def parsed(outcome: str, *tables, verb: str = "compact", error: str | None = None):
    data = {"schema_version": 1, "verb": verb, "run_id": "r1", "outcome": outcome, "error": error}
    return report.parse(json.dumps({**data, "tables": list(tables)}), verb)


DOCUMENT = {"schema_version": 1, "verb": "rollback", "run_id": None, "outcome": "done", "error": None}


def evaluate(*args, named=(), **kwargs):
    return report.evaluate(parsed(*args, **kwargs), named)


def test_a_rollback_that_restored_all_that_is_left_is_a_failure_that_a_retry_does_not_change():
    deleted = unit("skipped", code="ORIGINALS_DELETED", reason="its originals were deleted")
    partial = table(outcome="partial", reason="the originals of 1 of 2 units were deleted", units=[deleted])
    found, why = evaluate("partial", partial, table("sales.flat"), verb="rollback")
    assert found is TaskResult.FAIL
    assert "date=2026-02-23: skipped ORIGINALS_DELETED its originals were deleted" in why
    busy = table("sales.flat", outcome="busy")
    assert evaluate("partial", partial, busy, verb="rollback")[0] is TaskResult.RETRY
    failing = table(outcome="partial", units=[deleted, unit("failed", reason="timeout")])
    assert evaluate("partial", failing, verb="rollback")[0] is TaskResult.RETRY


def test_a_dry_run_of_a_rollback_is_told_from_one_that_had_nothing_to_restore():
    dry = table(outcome="nothing", reason="nothing was restored: dry_run is set", units=[unit("flagged")])
    found, why = evaluate("nothing", dry, verb="rollback")
    assert (found, "dry run, nothing was restored" in why) == (TaskResult.NOTHING, True)
    assert report.was_dry_run(parsed("nothing", dry, verb="rollback"))
    nothing = table(outcome="nothing", reason="nothing to restore")
    assert "nothing to do" in evaluate("nothing", nothing, verb="rollback")[1]
    assert not report.was_dry_run(parsed("nothing", nothing, verb="rollback"))


@pytest.mark.parametrize("text", ["\x00", "a\x00b", "\udc80", "a\ud83d", "\udc80\ud83d"])
def test_what_no_database_stores_is_replaced_and_other_texts_stay(text):
    """Airflow stores an XCom as JSON in UTF-8, and PostgreSQL no zero byte: a text of a record would fail the task."""
    kept = "\\u0000 \\udc80 \U0001f600 \x1b \n"
    found = parsed("done", table(history=[{"who": text, text: kept}])).tables[0]["history"][0]
    assert "\x00" not in "".join(found)
    assert "\x00" not in found["who"]
    json.dumps(found, ensure_ascii=False).encode()
    assert kept in found.values()


def test_done_and_nothing():
    assert evaluate("done", table())[0] is TaskResult.DONE
    assert evaluate("nothing", table(outcome="nothing"))[0] is TaskResult.NOTHING


@pytest.mark.parametrize("outcome", ["partial", "failed", "busy"])
def test_what_a_retry_can_mend_is_retried_and_named(outcome):
    broken = table(outcome=outcome, reason="no space", units=[unit("failed", reason="disk full")])
    found, why = evaluate("failed" if outcome == "busy" else outcome, broken)
    assert found is TaskResult.RETRY
    assert "sales.events" in why
    assert "no space" in why
    assert "date=2026-02-23: failed disk full" in why


def test_usage_and_unsafe_are_not_retried():
    assert evaluate("usage", error="no such table property") == (
        TaskResult.FAIL,
        "compact could not start: no such table property",
    )
    found, why = evaluate("unsafe", table(outcome="partial", units=[unit("quarantined", reason="X L N")]))
    assert found is TaskResult.FAIL
    assert "date=2026-02-23: quarantined X L N" in why


def test_a_table_asked_for_by_name_must_not_be_refused():
    refused = table(outcome="refused", code="MANAGED", reason="the table is managed")
    found, why = evaluate("failed", refused, named=["sales.events"])
    assert found is TaskResult.REFUSED
    assert why == "compact: sales.events refused (MANAGED the table is managed)"
    assert evaluate("nothing", refused)[0] is TaskResult.NOTHING


@pytest.mark.parametrize("code", ["OTHER_VERSION", "NEWER_COMMITS", "NO_CATALOG"])
def test_a_rollback_of_a_database_fails_by_a_run_that_it_has_left(code):
    refused = table(outcome="refused", code=code, reason="version 0.3 has written it")
    found, why = evaluate("failed", refused, verb="rollback")
    assert found is TaskResult.REFUSED
    assert why == f"rollback: sales.events refused ({code} version 0.3 has written it)"
    assert evaluate("nothing", refused)[0] is TaskResult.NOTHING


def test_a_refused_table_does_not_hide_one_that_a_retry_can_mend():
    refused, busy = table(outcome="refused", code="VIEW"), table("sales.flat", "busy")
    found, why = evaluate("failed", refused, busy, named=["sales.events", "sales.flat"])
    assert found is TaskResult.RETRY
    assert "VIEW" in why


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "not valid JSON"),
        ("[]", "schema_version 1"),
        ('{"schema_version": 2}', "schema_version 1"),
        ('{"schema_version": 1, "verb": "analyze"}', "got the one of 'analyze'"),
        ('{"schema_version": 1, "verb": "compact", "outcome": "great"}', "unknown outcome 'great'"),
        ('{"schema_version": 1, "verb": "compact", "outcome": "done", "tables": [{}]}', "without a name"),
        (
            '{"schema_version": 1, "verb": "compact", "outcome": "done", "tables": [{"table": "a.b"}]}',
            "a.b: unknown outcome None",
        ),
    ],
)
def test_a_report_that_breaks_the_wire_is_refused(content, message):
    with pytest.raises(ReportError, match=message):
        report.parse(content, "compact")


def test_log_shows_files_and_bytes_before_and_after():
    lines = report_text.render(parsed("done", table())).splitlines()
    assert lines[0] == "compact: done, 1 table, run r1"
    assert "600 -> 3" in lines[2]
    assert "307.2 KB -> 283.2 KB" in lines[2]
    assert "sales.__bkp_20260224_010000_events" in lines[2]


def flagged_table(**more):
    """600 files, of which a compaction would make 3 in one unit, and leave 100 healthy ones alone."""
    flagged = unit("flagged", files=500, target_files=3, needs_compaction=True)
    healthy = unit("healthy", files=99, target_files=1, needs_compaction=False)
    # One large file, whose unit is flagged because of an unfinished run.
    interrupted = unit("flagged", files=1, target_files=8, needs_compaction=False)
    return table(after={"files": 600, "bytes": 314572}, units=[flagged, healthy, interrupted], **more)


@pytest.mark.parametrize("verb", ["analyze", "compact"])
def test_log_labels_an_estimate_as_one(verb):
    lines = report_text.render(parsed("done", flagged_table(), verb=verb)).splitlines()
    assert "600 -> 103 (estimate)" in lines[2]
    assert "NameNode" not in "".join(lines)  # the table is not on HDFS


def test_log_estimates_the_objects_of_the_namenode():
    on_hdfs = {"location": "hdfs://nn/sales/events"}
    for found, saved in ((table(**on_hdfs), 597), (flagged_table(**on_hdfs), 497)):
        last = report_text.render(parsed("done", found, table("sales.local"))).splitlines()[-1]
        assert last == (
            f"estimate: at most {2 * saved} objects less for the NameNode (a file and a block for each of {saved}"
            " files), once a cleanup has deleted the originals"
        )


@pytest.mark.parametrize("verb", ["compact", "rollback", "cleanup"])
def test_the_first_line_says_that_it_was_a_dry_run(verb):
    first = report_text.render(parsed("done", table(units=[unit("flagged")]), verb=verb)).splitlines()[0]
    assert first.startswith(f"{verb}: done, 1 table; dry run, nothing was changed")
    done = report_text.render(parsed("done", table(units=[unit("compacted")]), verb=verb)).splitlines()[0]
    assert "dry run" not in done
    analysis = report_text.render(parsed("done", table(units=[unit("flagged")]), verb="analyze"))
    assert "dry run" not in analysis


def test_what_a_cleanup_has_deleted_is_not_shown_as_files_of_the_table():
    files = {"before": {"files": 50, "bytes": 1024}, "after": {"files": 0, "bytes": 0}}
    sizes = {"files": 50, "files_after": 0, "bytes": 1024, "bytes_after": 0}
    cleaned = table("sales.old", **files, units=[unit("cleaned", **sizes)])
    others = [table(f"sales.t{number}", outcome="nothing") for number in range(2)]
    lines = report_text.render(parsed("done", cleaned, *others, verb="cleanup")).splitlines()
    assert lines[1].split() == ["table", "outcome", "files", "deleted", "bytes", "deleted", "note"]
    assert lines[2].split()[:5] == ["sales.old", "done", "50", "1.0", "KB"]
    assert lines[3] == "2 tables with nothing to delete"
    assert not any("->" in line or "fewer files" in line for line in lines)


def test_the_first_line_names_the_run_also_where_only_the_table_knows_it():
    found = parsed("done", table(run_id="nightly-1"), table("sales.b", run_id="nightly-2"), verb="rollback")
    one = report.parse(json.dumps({**DOCUMENT, "tables": [table(run_id="nightly-1")]}), "rollback")
    assert report_text.render(one).splitlines()[0].endswith(", run nightly-1")
    assert report_text.render(found).splitlines()[0].endswith(", run r1")


def test_a_dry_run_of_a_cleanup_has_no_estimate():
    found = table(units=[unit("flagged", files=600)], location="hdfs://nn/t")
    assert "estimate" not in report_text.render(parsed("done", found, verb="cleanup"))


def test_log_shows_where_the_time_went():
    done = {
        "schema_version": 1,
        "verb": "compact",
        "outcome": "done",
        "phases": {"start": 6.12, "write": 2.3},
    }
    assert report_text.render(report.parse(json.dumps(done), "compact")).endswith(
        "phases: start 6.1 s, write 2.3 s"
    )
    del done["phases"]
    assert "phases" not in report_text.render(report.parse(json.dumps(done), "compact"))


def test_log_shows_how_often_the_namenode_was_asked():
    done = {
        "schema_version": 1,
        "verb": "compact",
        "outcome": "done",
        "namenode_calls": 1200,
        "namenode_calls_per_second": 6.31,
    }
    assert report_text.render(report.parse(json.dumps(done), "compact")).endswith(
        "NameNode calls of the driver: 1200, 6.3 per second on average"
    )
    for few in ({**done, "namenode_calls": 0}, {"schema_version": 1, "verb": "compact", "outcome": "done"}):
        assert "NameNode" not in report_text.render(report.parse(json.dumps(few), "compact"))


def analysis(tables: int, units: int):
    found = [
        table(
            f"sales.t{n}", units=[{"unit": {"date": f"{i:010}"}, "outcome": "flagged"} for i in range(units)]
        )
        for n in range(tables)
    ]
    return parsed("done", *found, verb="analyze")


def test_summary_of_an_analysis_holds_the_flagged_units():
    found = parsed("done", table(units=[unit("flagged"), unit("healthy")]), verb="analyze")
    [summed] = report_summary.summary(found, None)["tables"]
    assert summed["flagged"] == [{"date": "2026-02-23"}]
    assert "units" not in summed


def test_a_large_analysis_points_to_its_report():
    summed = report_summary.summary(analysis(1, 5000), "hdfs://nn/r.json")
    assert summed["report"] == "hdfs://nn/r.json"
    assert [t["flagged"] for t in summed["tables"]] == [None]
    assert len(json.dumps(summed)) < report_summary.XCOM_LIMIT


def test_an_analysis_of_a_large_database_leaves_healthy_tables_to_the_log():
    healthy = [table(f"sales.t{n}", outcome="nothing", units=[unit("healthy")]) for n in range(1000)]
    found = parsed("done", *healthy, table("sales.small", units=[unit("flagged")]), verb="analyze")
    summed = report_summary.summary(found, None)
    assert len(json.dumps(summed)) < report_summary.XCOM_LIMIT
    assert [(t["table"], t["flagged"]) for t in summed["tables"]] == [
        ("sales.small", [{"date": "2026-02-23"}])
    ]
    assert report_text.render(found).count("sales.t") == 1000


def test_a_large_analysis_without_a_place_for_reports_is_an_error():
    with pytest.raises(UsageError, match="set report_dir"):
        report_summary.summary(analysis(1, 5000), None)


def test_many_tables_keep_what_rollback_needs():
    done = parsed("done", *(table(f"sales.t{n}", reason="x" * 200) for n in range(200)))
    summed = report_summary.summary(done, None)
    assert len(json.dumps(summed)) < report_summary.XCOM_LIMIT
    assert summed["tables"][7] == {"table": "sales.t7", "outcome": "done", "run_id": "r1"}


def finding(code: str = "ORIGINALS_MISSING", severity: str = "damage", **more):
    message, command = (
        "hdfs://nn/old does not exist",
        "lakekeeper forget --table sales.events --run-id r1 --yes",
    )
    return {"code": code, "severity": severity, "message": message, "command": command, **more}


def test_log_shows_findings_with_the_damage_first():
    notice = finding("LEASE_STALE", "notice", message="its job has died", command=None)
    damaged = table(outcome="damaged", findings=[notice, finding()])
    lines = report_text.render(parsed("failed", damaged, verb="check")).splitlines()
    assert lines[-2:] == [
        "sales.events damage ORIGINALS_MISSING: hdfs://nn/old does not exist; command: lakekeeper forget"
        " --table sales.events --run-id r1 --yes",
        "sales.events notice LEASE_STALE: its job has died",
    ]


def test_log_says_how_many_findings_it_leaves_out():
    damaged = table(outcome="damaged", findings=[finding()] * 60)
    lines = report_text.render(parsed("failed", damaged, verb="check")).splitlines()
    assert lines[-1] == "... and 10 more findings in the report"
    assert sum("ORIGINALS_MISSING" in line for line in lines) == 50


def test_a_check_of_a_large_database_leaves_sound_tables_to_the_log():
    sound = [table(f"sales.t{n}", findings=[]) for n in range(1000)]
    found = parsed("partial", *sound, table(outcome="damaged", findings=[finding()] * 3), verb="check")
    summed = report_summary.summary(found, None)
    assert len(json.dumps(summed)) < report_summary.XCOM_LIMIT
    assert [(t["table"], t["damage"], t["codes"]) for t in summed["tables"]] == [
        ("sales.events", 3, {"ORIGINALS_MISSING": 3})
    ]


def test_a_check_with_much_damage_keeps_tables_and_codes():
    many = [table(f"sales.t{n}", "damaged", reason="x" * 200, findings=[finding()]) for n in range(200)]
    summed = report_summary.summary(parsed("failed", *many, verb="check"), None)
    assert len(json.dumps(summed)) < report_summary.XCOM_LIMIT
    assert summed["tables"][7] == {
        "table": "sales.t7",
        "outcome": "damaged",
        "run_id": "r1",
        "codes": {"ORIGINALS_MISSING": 1},
    }
