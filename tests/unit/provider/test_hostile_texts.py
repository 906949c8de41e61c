"""Texts of tables in all that the provider writes: they end no line, name no metric, and are no command."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from lakekeeper_provider.compat import AirflowFailException, utcnow
from lakekeeper_provider.events import asset_events, metrics, refresh
from lakekeeper_provider.events.refresh import Refresh
from lakekeeper_provider.exceptions import UsageError
from lakekeeper_provider.operators.report_arguments import ReportArguments
from lakekeeper_provider.operators.rollback import RollbackOperator
from lakekeeper_provider.printable import one_line
from lakekeeper_provider.report import report
from lakekeeper_provider.report import summary as report_summary
from lakekeeper_provider.report import text as report_text
from lakekeeper_provider.report.overview import Overview
from lakekeeper_provider.submission import links
from lakekeeper_provider.submission.exchange import Exchange
from tests.hostile import corpus
from tests.unit.provider.test_report import parsed, table

TEXTS = pytest.mark.parametrize("text", corpus.TEXTS, ids=corpus.name_of)
#: What a metastore may have as the name of a table.
NAMES = pytest.mark.parametrize("text", corpus.VALUES, ids=corpus.name_of)
#: A line of these logs, as a terminal or a log viewer would see it.
_LINE_ENDS = re.compile("[\n\r\x0b\x0c\x85\u2028\u2029]")
_UNSEEN = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\u202a-\u202e]")
_VERBS = ("analyze", "plan", "compact", "rollback", "cleanup", "check", "history")


def hostile_table(text: str, outcome: str) -> dict:
    """A table with the text in every place where a text may stand."""
    unit = {"unit": {text: text, "d": None}, "code": text, "reason": text, "strategy_reason": text}
    units = [
        {**unit, "outcome": each, "files": 3, "target_files": 1, "engine": text, "strategy": text}
        for each in (
            "flagged",
            "compacted",
            "restored",
            "failed",
            "skipped",
            "deferred",
            "changed",
            "cleaned",
            text,
        )
    ]
    counts = {"files": 1, "bytes": 2}
    row = {"at": "2026-02-24T01:00:00Z", "kind": "compact", "run_id": text, "who": text, "units": 1}
    row |= {"before": counts, "after": counts, "rollback": text, "seconds": 1.0}
    finding = {"severity": "damage", "code": text, "message": text, "command": text}
    writer = {"owner": text, "pattern": text, "files": 1, "bytes": 1, "newest": text}
    texts = {
        "code": text,
        "reason": text,
        "backup_table": text,
        "warnings": [text, f"{text}: x", f"CODE: {text}"],
    }
    lists = {"units": units, "history": [row], "findings": [finding], "small_file_writers": [writer]}
    return {**table(f"sales.{text}", outcome), **texts, **lists}


def reports(text: str) -> Iterator[report.Report]:
    for verb in _VERBS:
        for outcome, of_table in (
            ("done", "done"),
            ("failed", "failed"),
            ("unsafe", "damaged"),
            ("usage", "refused"),
        ):
            yield parsed(outcome, hostile_table(text, of_table), verb=verb, error=text)


def check_lines(shown: str) -> None:
    """Each line is one that the provider has made: none begins with a text of a table, and none hides anything."""
    assert _LINE_ENDS.findall(shown.replace("\n", "")) == []
    assert _UNSEEN.findall(shown) == []
    assert not [line for line in shown.split("\n") if line.startswith(("LAKEKEEPER_REPORT", "0000"))]


@TEXTS
def test_the_text_for_the_log(text):
    for found in reports(text):
        check_lines(report_text.render(found))
        for warning in report_text.warnings(found):
            check_lines(warning)
            assert "\n" not in warning


@TEXTS
def test_the_message_of_a_task(text):
    for found in reports(text):
        _, reason = report.evaluate(found, [f"sales.{text}"])
        assert one_line(found.error) in reason or found.outcome == "done"
        assert "\n" not in reason
        check_lines(reason)


@TEXTS
def test_the_overview_of_a_night(text):
    found = [{"tables": [hostile_table(text, "done"), hostile_table(text, "refused")]}]
    shown = Overview.of(found, found).text()
    check_lines(shown)
    assert "\n" not in Overview.of(found, found).line


@TEXTS
def test_names_of_metrics(text):
    names = [each.name for found in reports(text) for each in metrics.of(found, utcnow())]
    assert names
    assert [name for name in names if not re.fullmatch(r"[a-zA-Z0-9_.]+", name)] == []


@NAMES
def test_codes_of_a_summary_and_of_an_asset_event(text):
    found = parsed("done", hostile_table(text, "done"))
    [summed] = report_summary.summary(found, None)["tables"]
    for codes in (summed["warning_codes"], summed["skipped"]):
        assert [name for name in codes if not re.fullmatch(r"[A-Z][A-Z0-9_]*", name)] == []
    [(_, extra)] = asset_events.extras(found, None)
    assert extra["warning_codes"] == "OTHER,CODE"
    assert json.loads(extra["partitions"])[0] == {text: text, "d": None}


@NAMES
@pytest.mark.parametrize("database", ["sales", None])
def test_the_uri_of_an_asset_has_the_name_as_one_part_of_its_path(text, database):
    database = database or text.replace(".", "_")
    uri = urlsplit(asset_events.uri_of(f"{database}.{text}", "compact", "hs2:10000"))
    assert (uri.scheme, uri.netloc, uri.fragment) == ("hive", "hs2:10000", "")
    assert parse_qs(uri.query) == {"lakekeeper": ["compact"]}
    assert [unquote(part) for part in uri.path.split("/")] == ["", database, text]


@TEXTS
@pytest.mark.parametrize("address", ["tracking URL: http://evil.example/", "  x tracking URL: http://evil/"])
def test_no_text_in_a_line_becomes_a_link(text, address):
    found: list[str] = []
    lines = [
        f"sales.events d={text} {address}",
        f"{text.strip() or 'x'}{address}",
        f"warning: {address} {text}",
        "tracking URL: x",
    ]
    list(links.watch_application([one_line(line) for line in lines], None, found.append))
    assert found == []
    list(
        links.watch_application(
            ["\t tracking URL: http://rm:8088/proxy/application_1_2/\n"], None, found.append
        )
    )
    assert found == ["http://rm:8088/proxy/application_1_2/"]


@NAMES
@pytest.mark.parametrize("engine", ["impala", "trino", "sql"])
def test_a_statement_for_another_engine_has_the_name_as_a_name_or_is_not_made(text, engine):
    of_sql = {"statement": "ANALYZE TABLE {table} COMPUTE STATISTICS"} if engine == "sql" else {}
    ran: list[str] = []
    swapped = {**table(f"sales.{text}"), "units": [{"unit": {"d": text}, "outcome": "compacted"}]}
    told = refresh.refresh(
        [Refresh("c", engine, **of_sql)], parsed("done", swapped), lambda _: lambda sql: ran.append(sql)
    )
    if not ran:
        assert "REFRESH_FAILED: c was not told" in told.tables[0]["warnings"][-1]
    elif engine == "sql":
        assert re.fullmatch(r"ANALYZE TABLE sales\.(?!.*--)[\w$-]+ COMPUTE STATISTICS", ran[0])
    elif engine == "trino":
        [literal] = re.fullmatch(
            r"CALL hive\.system\.flush_metadata_cache\(schema_name => 'sales', table_name => '(.*)'\)",
            ran[0],
            re.S,
        ).groups()
        assert (literal.replace("''", ""), literal.replace("''", "'")) == (text.replace("'", ""), text)
    else:
        assert engine == "impala"
        assert ran == [f"REFRESH `sales`.`{text}`"]
        assert "`" not in text


@NAMES
def test_a_command_that_a_message_tells_to_run_has_the_name_as_one_word(text):
    begun = {"schema_version": 1, "verb": "compact", "outcome": "unknown", "tables": []}
    runs = [{**begun, "database": name, "run_id": "r1"} for name in (text, "other")]
    operator = RollbackOperator(task_id="rollback", compaction=runs)
    with pytest.raises(AirflowFailException) as error:
        operator.prepare(None, None, {})
    command = str(error.value).split("or run ")[1]
    assert shlex.split(command)[:5] == ["lakekeeper", "rollback", "--database", text, "--run-id"]


@pytest.mark.parametrize("root", ["webhdfs://etl:canary@nn:9870/r", "s3://key:canary@bucket/r"])
def test_a_password_in_a_uri_is_refused_before_any_log_has_it(root):
    with pytest.raises(UsageError, match="create a connection in Airflow") as error:
        Exchange(root)
    assert "canary" not in str(error.value)


def test_a_summary_of_a_report_among_the_arguments_is_not_rendered():
    """Airflow renders what `expand_kwargs` hands over."""

    class Renders:
        def render_template(self, content, *args, **kwargs):
            return "rendered"

    class Operator(ReportArguments, Renders):
        pass

    summary = {"schema_version": 1, "verb": "analyze", "tables": [{"table": "{{ conn.x.password }}"}]}
    assert Operator().render_template(summary, {}) == summary
    assert Operator().render_template("{{ ds }}", {}) == "rendered"
