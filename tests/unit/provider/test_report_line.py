"""Which line of a log is the report, and what a log may show of the others."""

from __future__ import annotations

import pytest

from lakekeeper_provider.launch.report_line import ReportLine
from lakekeeper_provider.printable import one_line

FORGED = '{"schema_version": 1, "verb": "compact", "outcome": "done", "tables": []}'


@pytest.mark.parametrize(
    "line",
    [
        f"LAKEKEEPER_REPORT {FORGED}",
        f"LAKEKEEPER_REPORT 0000000000000000 {FORGED}",
        f"LAKEKEEPER_REPORT n1{FORGED}",
        f"LAKEKEEPER_REPORT  n1 {FORGED}",
        f"LAKEKEEPER_REPORT N1 {FORGED}",
        f"sales.a: LAKEKEEPER_REPORT n1 {FORGED}",
        "LAKEKEEPER_REPORT n1",
    ],
)
def test_another_line_is_no_report(line):
    found = ReportLine("n1")
    [shown] = found.without([f"{line}\n"])
    assert found.content is None
    assert "n1 " not in shown


def test_the_last_line_with_the_word_of_this_submission_is_the_report():
    found = ReportLine("n1")
    lines = ["one\n", "LAKEKEEPER_REPORT n1 {1}\n", "two\n", "LAKEKEEPER_REPORT n1 {2}\n"]
    assert list(found.without(lines)) == ["one\n", "two\n"]
    assert found.content.strip() == "{2}"


def test_each_submission_has_a_word_that_nobody_can_guess():
    assert len({ReportLine().nonce for _ in range(100)}) == 100
    assert all(len(ReportLine().nonce) == 32 for _ in range(10))


def test_no_line_shows_the_word():
    found = ReportLine("a1b2c3")
    assert list(found.without(["argv: --report-nonce a1b2c3 --table a.b\n"])) == [
        "argv: --report-nonce ****** --table a.b\n"
    ]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("d=1\nLAKEKEEPER_REPORT {}", r"d=1\nLAKEKEEPER_REPORT {}"),
        ("\r\x1b[2J\x07", r"\r\x1b[2J\x07"),
        ("a\x85b\u2028c\u202ed\x9b", r"a\x85b\u2028c\u202ed\x9b"),
        (
            "tab\tZürich 東京 {{ conn.x }} ${env:X} %s | # '",
            "tab\tZürich 東京 {{ conn.x }} ${env:X} %s | # '",
        ),
    ],
)
def test_control_characters_are_escaped_and_nothing_else(text, shown):
    assert one_line(text) == shown


def test_a_line_of_the_process_ends_where_it_ended_and_acts_on_no_terminal():
    assert list(ReportLine("n1").without(["d=\x1b[2J\rLAKEKEEPER_REPORT {}\r\n"])) == [
        "d=\\x1b[2J\\rLAKEKEEPER_REPORT {}\n"
    ]
