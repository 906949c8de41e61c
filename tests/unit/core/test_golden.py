"""The jobs' side of the wire, held to the same golden files as the provider's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from spark_jobs.core.messages.errors import UsageError
from spark_jobs.core.messages.outcomes import UnitOutcome
from spark_jobs.core.options.arguments import parse, report_nonce
from spark_jobs.core.options.definitions import DEFAULTS, OPTIONS
from spark_jobs.core.options.layers import Layers, parse_option
from spark_jobs.core.options.option import Layer
from spark_jobs.core.rules.health import Health
from spark_jobs.core.wire.report import Report, TableReport, UnitReport
from spark_jobs.core.wire.request import Request

GOLDEN = Path(__file__).parents[2] / "contract" / "golden"


def golden(name: str) -> Any:
    return json.loads((GOLDEN / name).read_text())


@pytest.mark.parametrize(("name", "values"), sorted(golden("values.json").items()))
def test_values_of_options(name: str, values: Any) -> None:
    """What the provider lets through is not refused only after Spark has started."""
    for value in values["accepted"]:
        parse_option(name, value, "a test")
    for value in values["refused"]:
        with pytest.raises(UsageError, match=name):
            parse_option(name, value, "a test")


#: Options that only a table's property sets.
PROPERTIES = {"bucketing", "enabled", "kafka_connect", "readers"}


def test_the_options_are_those_of_the_provider() -> None:
    assert OPTIONS.keys() == golden("options.json").keys() | PROPERTIES


@pytest.mark.parametrize(("name", "expected"), sorted(golden("options.json").items()))
def test_an_option_is_the_same_in_both_programs(name: str, expected: dict[str, Any]) -> None:
    """A default that differed would be lost: the command line of the provider leaves defaults out."""
    option, default = OPTIONS[name], getattr(DEFAULTS, name)
    assert expected == {
        "default": expected["default"],
        "flag": option.flag,
        "metavar": option.metavar,
        "off_flag": option.off_flag,
        "verbs": list(option.verbs) if option.flag else [],
        "help": option.help,
        "bounds": option.parse.bounds,
        "layers": [layer.value for layer in Layer if layer in option.layers],
    }
    assert not default if expected["default"] is None else option.parse(expected["default"]) == default


@pytest.mark.parametrize("case", golden("argv.json"), ids=lambda case: str(case["verb"]))
def test_the_operators_arguments_are_understood(case: dict[str, Any]) -> None:
    line = parse(case["verb"], case["argv"], "")
    assert (list(line.tables), line.database, line.run_id) == (
        case["tables"],
        case["database"],
        case["run_id"],
    )
    assert line.options == case["options"]
    own = case.get("own_flags", [])
    assert line.read_data == ("--read-data" in own)
    assert line.limit == (int(own[own.index("--limit") + 1]) if "--limit" in own else None)
    assert (line.request, line.report) == ("file:///r/request.json", "file:///r/report.json")
    assert report_nonce(case["argv"]) == "3f9c41aa"


@pytest.mark.parametrize("case", golden("flags.json"), ids=lambda case: str(case["verb"]))
def test_the_flags_of_the_command_line_mean_the_options_they_are_made_from(case: dict[str, Any]) -> None:
    line = parse(case["verb"], case["argv"], "")
    from_flags = Layers(command_line=line.options).resolve()
    assert from_flags == Layers(arguments=case["options"]).resolve()
    assert from_flags != Layers().resolve()


@pytest.mark.parametrize("name", sorted(path.name for path in GOLDEN.glob("request_*.json")))
def test_requests_are_understood(name: str) -> None:
    text = (GOLDEN / name).read_text()
    request, data = Request.from_json(text), json.loads(text)
    layers = Layers(arguments=request.arguments, tables=request.tables, settings=request.settings)
    layers.check()
    assert (request.units, request.runs) == (data.get("units"), data.get("runs"))


@pytest.mark.parametrize("name", sorted(path.name for path in GOLDEN.glob("report_*.json")))
def test_reports_are_what_the_jobs_write(name: str) -> None:
    """Rebuilt from its tables and units, a report has the keys, the totals and the outcome of the golden one."""
    expected = golden(name)
    tables = [_table(table) for table in expected["tables"]]
    report = Report(expected["verb"], expected["version"], expected["run_id"], by_name=True, tables=tables)
    report.error, report.usage = expected["error"], expected["outcome"] == "usage"
    made = report.to_json()
    assert made.keys() == expected.keys()
    assert made["outcome"] == expected["outcome"]
    for mine, theirs in zip(made["tables"], expected["tables"], strict=True):
        assert mine.keys() >= theirs.keys()
        assert {key: mine[key] for key in ("before", "after", "rows")} == {
            key: theirs[key] for key in ("before", "after", "rows")
        }


def _table(data: dict[str, Any]) -> TableReport:
    plain = {key: value for key, value in data.items() if key not in ("before", "after", "rows", "units")}
    return TableReport(**plain, units=[UnitReport(**unit) for unit in data["units"]])


def test_a_unit_on_the_wire_has_every_figure() -> None:
    health = Health(200, 104857, 524, 520, 13421772, 1, needs_compaction=True)
    unit = UnitReport.of(
        {"date": "2026-02-23"},
        UnitOutcome.COMPACTED,
        health,
        files_after=1,
        bytes_after=96670,
        rows=100000,
        fingerprint="sha256:...",
        seconds=3.2,
    )
    assert unit.to_json() == golden("report_compact_done.json")["tables"][0]["units"][0]


KNOWN = [line for line in golden("lakekeeper_0.0.6.json")["lines"] if "flags" in line]


@pytest.mark.parametrize("line", KNOWN, ids=lambda line: " ".join(line["argv"]))
def test_a_command_line_of_lakekeeper_0_0_6_after_spark_submit(line: dict[str, Any]) -> None:
    (verb, *given) = line["argv"]
    before, now = parse(verb, given, ""), parse(verb, line["flags"], "")
    assert (before.tables, before.database) == (now.tables, now.database)
    told = [
        {name: parse_option(name, value, "") for name, value in each.options.items()}
        for each in (before, now)
    ]
    assert told[0] == told[1]
