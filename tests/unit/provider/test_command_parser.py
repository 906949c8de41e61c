"""What the command line says about words that it does not know, and the times of day that it takes."""

from __future__ import annotations

import time
from datetime import datetime, timedelta

import pytest

from lakekeeper_provider.shell import cli, time_of_day
from lakekeeper_provider.shell.parsers import build_parser


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["compact", "--table", "a.b", "--dryrun"],
            "lakekeeper compact: error: there is no option --dryrun (did you mean '--dry-run'?)",
        ),
        (
            ["compact", "--table", "a.b", "--max-file", "3"],
            "lakekeeper compact: error: there is no option --max-file (did you mean '--max-files'?)",
        ),
        (
            ["analyze", "sales.events"],
            "lakekeeper analyze: error: unrecognized argument 'sales.events' (did you mean --table or --database?)",
        ),
        (
            ["--verbos", "analyze"],
            "lakekeeper: error: there is no option --verbos (did you mean '--version'?)",
        ),
        (["analyse"], "lakekeeper: error: there is no command 'analyse' (did you mean 'analyze'?)"),
        (
            ["compact", "--table", "a.b", "--max-bytes", "much"],
            "lakekeeper compact: error: argument --max-bytes: expected a size such as 512mb",
        ),
        (["explain", "QUOTA", "again"], "lakekeeper explain: error: unrecognized argument 'again';"),
    ],
)
def test_a_wrong_word_is_named_in_one_line(spark_submit, capsys, words, said):
    with pytest.raises(SystemExit) as ended:
        cli.main(words)
    assert ended.value.code == 2
    error = capsys.readouterr().err
    assert error.startswith(said)
    assert error.count("\n") == 1
    assert "--help` has all options" in error
    assert not spark_submit.exists()


def test_options_are_not_abbreviated():
    """`--part` would be `--partitions` today, and something else with the next option."""
    with pytest.raises(SystemExit):
        build_parser().parse_args(["compact", "--table", "a.b", "--part", "[]"])


@pytest.fixture
def paris(monkeypatch):
    monkeypatch.setenv("TZ", "Europe/Paris")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("value", "now", "instant"),
    [
        ("05:00", "2026-02-23T22:00:00", "2026-02-24T05:00:00+01:00"),
        ("5:00", "2026-02-24T04:59:59", "2026-02-24T05:00:00+01:00"),
        ("05:00", "2026-02-24T05:00:00", "2026-02-25T05:00:00+01:00"),
        # In this night the clock goes from 02:00 to 03:00, in the other one back.
        ("05:00", "2026-03-28T22:00:00", "2026-03-29T05:00:00+02:00"),
        ("05:00", "2026-10-24T22:00:00", "2026-10-25T05:00:00+01:00"),
        ("2026-02-24T05:00:00Z", "2026-02-23T22:00:00", "2026-02-24T05:00:00Z"),
        ("24:00", "2026-02-23T22:00:00", "24:00"),
    ],
)
def test_a_time_of_day_is_the_next_one_of_this_machine(paris, value, now, instant):
    assert time_of_day.instant(value, datetime.fromisoformat(now)) == instant


def test_a_deadline_reaches_the_job_as_an_instant(spark_submit):
    arguments = build_parser().parse_args(["compact", "--table", "a.b", "--deadline", "05:00"])
    deadline = datetime.fromisoformat(arguments.deadline)
    assert (deadline.hour, deadline.minute) == (5, 0)
    assert timedelta() < deadline - datetime.now().astimezone() <= timedelta(hours=25)


def test_a_deadline_that_is_no_time_is_refused(capsys):
    with pytest.raises(SystemExit):
        build_parser().parse_args(["compact", "--table", "a.b", "--deadline", "25:00"])
    assert "expected an ISO 8601 time" in capsys.readouterr().err
