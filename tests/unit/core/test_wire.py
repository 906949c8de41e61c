"""The jobs' side of the wire."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import datetime, timedelta, timezone

import pytest

from spark_jobs.core.messages.errors import UsageError
from spark_jobs.core.options.arguments import parse, report_nonce
from spark_jobs.core.wire.report import Report, TableReport, UnitReport
from spark_jobs.core.wire.request import Request


def table(*outcomes: str, name: str = "db.t") -> TableReport:
    units = [UnitReport({"p": str(n)}, outcome, files=10, bytes=100) for n, outcome in enumerate(outcomes)]
    return TableReport(name, units=units).conclude(acted=("compacted",))


def report(
    *tables: TableReport, by_name: bool = True, error: str | None = None, usage: bool = False
) -> Report:
    return Report("compact", "0.2.0.dev0", by_name=by_name, error=error, usage=usage, tables=list(tables))


@pytest.mark.parametrize(
    ("outcomes", "expected", "code"),
    [
        (["compacted", "healthy"], "done", 0),
        (["healthy"], "nothing", 0),
        ([], "nothing", 0),
        (["compacted", "failed"], "partial", 1),
        (["failed"], "failed", 1),
        (["changed", "deferred", "skipped"], "nothing", 0),
        (["compacted", "changed"], "done", 0),
    ],
)
def test_a_table_concludes_from_its_units(outcomes: list[str], expected: str, code: int) -> None:
    made = report(table(*outcomes))
    assert (made.tables[0].outcome, made.outcome, made.exit_code) == (expected, expected, code)


def test_the_gravest_outcome_wins() -> None:
    refused = TableReport("db.v", "refused", "VIEW", "it is a view")
    assert report(refused).exit_code == 1
    assert report(refused, by_name=False).exit_code == 0
    assert report(refused, table("compacted")).outcome == "partial"
    assert report(refused, table("compacted"), by_name=False).outcome == "done"
    assert report(TableReport("db.t", "busy")).exit_code == 1
    assert (report(table("compacted", "quarantined")).outcome, report(table("quarantined")).exit_code) == (
        "unsafe",
        3,
    )
    assert report(TableReport("db.t", "failed", "UNSAFE", "an unreadable journal")).exit_code == 3
    assert report(table("quarantined"), error="bad", usage=True).exit_code == 2


def test_a_job_that_did_not_get_through_never_looks_done() -> None:
    assert report(error="the metastore is gone").outcome == "failed"
    assert report(table("compacted"), error="the metastore is gone").outcome == "partial"
    unfinished = report(table("compacted"))
    unfinished.complete = False
    assert unfinished.exit_code == 1


def test_totals_are_derived() -> None:
    done = UnitReport({}, "compacted", files=500, bytes=300, files_after=1, bytes_after=200, rows=7)
    data = TableReport("db.t", units=[done, UnitReport({}, "healthy", files=2, bytes=50)]).to_json()
    assert (data["before"], data["after"]) == ({"files": 502, "bytes": 350}, {"files": 3, "bytes": 250})
    assert data["rows"] == 7
    assert TableReport("db.t").to_json()["rows"] is None


def test_the_last_line_of_stdout_leaves_healthy_units_out() -> None:
    made = report(table("compacted", "healthy"))
    made.started = datetime(2026, 2, 24, 1, tzinfo=timezone.utc)
    word, _, text = made.summary_line().partition(" ")
    data = json.loads(text)
    assert (word, len(text.splitlines()), data["started"]) == ("LAKEKEEPER_REPORT", 1, "2026-02-24T01:00:00Z")
    assert [unit["outcome"] for unit in data["tables"][0]["units"]] == ["compacted"]
    assert len(made.to_json()["tables"][0]["units"]) == 2


def test_the_line_begins_with_the_word_of_the_caller() -> None:
    first, nonce, text = report(table("compacted")).summary_line("3f9c41aa").split(" ", 2)
    assert (first, nonce, json.loads(text)["verb"]) == ("LAKEKEEPER_REPORT", "3f9c41aa", "compact")


@pytest.mark.parametrize(
    ("argv", "nonce"),
    [
        (["--table", "a.b", "--report-nonce", "n1"], "n1"),
        (["--table", "a.b", "--report-nonce=n1"], "n1"),
        (["--no-such-flag", "x", "--report-nonce", "n1"], "n1"),  # the report of a usage error counts too
        (["--report-nonce", "n1", "--tables"], "n1"),
        (["--table", "a.b"], None),
        (["--table", "a.b", "--report-nonce"], None),
        (["--table", "a.b", "--report-nonce", "two words"], None),
        (["--table", "a.b", "--report-nonce", "a\nb"], None),
    ],
)
def test_the_word_is_read_from_any_command_line(argv: list[str], nonce: str | None) -> None:
    assert report_nonce(argv) == nonce


def test_a_word_that_could_end_the_line_is_a_usage_error_and_no_option() -> None:
    with pytest.raises(UsageError, match=r"--report-nonce: expected up to 64 letters.*'a b'"):
        parse("analyze", ["--table", "a.b", "--report-nonce", "a b"], "")
    assert parse("analyze", ["--table", "a.b", "--report-nonce", "n1"], "").options == {}


@pytest.mark.parametrize(
    ("calls", "seconds", "average"), [(0, 100, 0.0), (631, 100, 6.3), (5, 0, None), (5, None, None)]
)
def test_calls_per_second_are_the_average_over_the_job(
    calls: int, seconds: int | None, average: float | None
) -> None:
    made, started = report(), datetime(2026, 2, 24, tzinfo=timezone.utc)
    made.namenode_calls, made.started = calls, started
    made.ended = None if seconds is None else started + timedelta(seconds=seconds)
    data = made.to_json()
    assert (data["namenode_calls"], data["namenode_calls_per_second"]) == (calls, average)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not valid JSON"),
        ("[]", "must be a JSON object"),
        ('{"unit": {}}', "unknown key 'unit'"),
        ('{"units": []}', "'units' in the request must be an object"),
        ('{"schema_version": 2}', "schema_version 2"),
        (
            '{"units": {"sales.a": [{}]}, "fingerprints": {"sales.a": []}}',
            "1 units of sales.a, and fingerprints of 0",
        ),
        (
            '{"fingerprints": {"sales.a": []}}',
            "units and fingerprints of sales.a in the request must be lists",
        ),
    ],
)
def test_a_bad_request_is_a_usage_error(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Request.from_json(text)


def test_a_request_may_leave_everything_out() -> None:
    assert Request.from_json("{}") == Request()
    assert Request.from_json('{"units": null}').units is None


def test_the_jobs_never_import_airflow_or_the_provider() -> None:
    blocked = "import sys; sys.modules['airflow'] = sys.modules['lakekeeper_provider'] = None; "
    verbs = ", ".join(f"spark_jobs.verbs.{verb}" for verb in ("analyze", "compact", "rollback", "cleanup"))
    done = subprocess.run(
        [sys.executable, "-c", f"{blocked}import {verbs}"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_core_needs_nothing_but_the_standard_library() -> None:
    code = (
        "import sys, pkgutil, importlib; sys.modules['pyspark'] = sys.modules['py4j'] = sys.modules['yaml'] = None\n"
        "import spark_jobs.core as core\n"
        "[importlib.import_module(m.name) for m in pkgutil.walk_packages(core.__path__, 'spark_jobs.core.')]"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
