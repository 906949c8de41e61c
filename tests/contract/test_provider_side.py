"""The provider's side of the wire: it writes these requests and arguments, and understands these reports.

The jobs' side is held to the same files.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from lakekeeper_provider.exceptions import UsageError
from lakekeeper_provider.launch.commands import job_arguments
from lakekeeper_provider.launch.report_line import ReportLine
from lakekeeper_provider.launch.request import build_request, dump
from lakekeeper_provider.options.config import Config
from lakekeeper_provider.options.definitions import OPTIONS, parse_options
from lakekeeper_provider.options.selection import Selection
from lakekeeper_provider.report import report
from lakekeeper_provider.report import summary as report_summary
from lakekeeper_provider.report import text as report_text
from lakekeeper_provider.report.report import TaskResult
from lakekeeper_provider.shell import parsers, spark_command

GOLDEN = Path(__file__).with_name("golden")
DOCS = Path(__file__).parents[2] / "docs"
WIRE = DOCS / "wire.md"


def golden(name: str) -> Any:
    return json.loads((GOLDEN / name).read_text())


def test_the_page_shows_the_golden_files():
    request, found = (json.loads(block) for block in re.findall(r"```json\n(.*?)```", WIRE.read_text(), re.S))
    assert request == golden("request_all.json")
    assert found == golden("report_compact_done.json")


def test_every_option_key_is_on_the_page():
    listed = WIRE.read_text().partition("<!-- generated: option keys -->")[2].partition("<!--")[0]
    only_properties = {"bucketing", "enabled", "kafka_connect", "readers"}
    assert set(re.findall(r"`(\w+)`", listed)) == set(OPTIONS) | only_properties


def test_options_are_the_same_in_both_programs():
    found = {
        key: {
            "default": option.default,
            "flag": option.flag.name if option.flag else None,
            "metavar": option.flag.metavar if option.flag else None,
            "off_flag": option.flag.off if option.flag else None,
            "verbs": list(option.flag.verbs) if option.flag else [],
            "help": option.help,
            "bounds": option.parse.bounds,
            "layers": list(option.layers),
        }
        for key, option in OPTIONS.items()
    }
    assert found == golden("options.json")


@pytest.mark.parametrize("name", sorted(path.name for path in GOLDEN.glob("request_*.json")))
def test_requests(name):
    expected = golden(name)
    config = Config(settings=expected.get("settings", {}), tables=expected.get("tables", {}))
    arguments = parse_options(expected["arguments"])
    built = build_request(config, arguments, units=expected.get("units"), runs=expected.get("runs"))
    assert json.loads(dump(built)) == expected


@pytest.mark.parametrize(("name", "values"), sorted(golden("values.json").items()))
def test_values_of_options(name, values):
    for value in values["accepted"]:
        parse_options({name: value})
    for value in values["refused"]:
        with pytest.raises(UsageError, match=name):
            parse_options({name: value})


@pytest.mark.parametrize("case", golden("argv.json"), ids=lambda case: case["verb"])
def test_arguments_of_an_operator(case):
    selection = Selection(tables=tuple(case["tables"]), database=case["database"])
    where = {"request": "file:///r/request.json", "report": "file:///r/report.json"}
    more = {"run_id": case["run_id"], "own_flags": case.get("own_flags", ())}
    more["nonce"] = ReportLine("3f9c41aa").flags
    assert job_arguments(selection, options=case["options"], **more, **where) == case["argv"]


@pytest.mark.parametrize(
    "case", golden("flags.json"), ids=lambda case: f"{case['verb']} {len(case['options'])}"
)
def test_flags_of_the_command_line(case):
    arguments = parsers.build_parser().parse_args([case["verb"], *case["argv"]])
    given = {key: getattr(arguments, key, None) for key in OPTIONS}
    assert {key: value for key, value in given.items() if value is not None} == case["options"]
    assert sorted(spark_command.job_flags(arguments, Config())) == sorted(case["argv"])


TASK_RESULTS = {
    "report_analyze_done.json": TaskResult.DONE,
    "report_analyze_nothing.json": TaskResult.NOTHING,
    "report_compact_done.json": TaskResult.DONE,
    "report_compact_changed.json": TaskResult.NOTHING,
    "report_compact_partial.json": TaskResult.RETRY,
    "report_compact_busy.json": TaskResult.RETRY,
    "report_compact_refused.json": TaskResult.REFUSED,
    "report_compact_unsafe.json": TaskResult.FAIL,
    "report_compact_usage.json": TaskResult.FAIL,
    "report_rollback_done.json": TaskResult.DONE,
    "report_rollback_nothing.json": TaskResult.NOTHING,
    "report_rollback_partial.json": TaskResult.FAIL,
    "report_cleanup_done.json": TaskResult.DONE,
    "report_history_done.json": TaskResult.DONE,
    "report_forget_done.json": TaskResult.DONE,
    "report_check_done.json": TaskResult.DONE,
    "report_check_damaged.json": TaskResult.FAIL,
}


@pytest.mark.parametrize("name", sorted(path.name for path in GOLDEN.glob("report_*.json")))
def test_reports(name):
    data = golden(name)
    found = report.parse(json.dumps(data), data["verb"])
    result, why = report.evaluate(found, [table["table"] for table in data["tables"]])
    assert result is TASK_RESULTS[name]
    assert why
    summed = report_summary.summary(found, None)
    assert [table["before"] for table in summed["tables"]] == [table["before"] for table in data["tables"]]
    assert data["verb"] in report_text.render(found)


def test_the_line_on_stdout_is_the_report_behind_a_word_and_the_nonce():
    written = json.dumps(golden("report_compact_done.json"))
    found = ReportLine("3f9c41aa")
    assert list(found.without(["a line\n", f"LAKEKEEPER_REPORT 3f9c41aa {written}\n"])) == ["a line\n"]
    assert report.parse(found.content, "compact").outcome == "done"


def test_the_exit_codes_of_outcomes_are_those_of_the_page():
    rows = re.findall(r"^\| `(\w+)` \| (\d) \|", (DOCS / "codes.md").read_text(), re.M)
    assert {outcome: int(code) for outcome, code in rows} == report.EXIT_CODES
