"""Names and values never begin a line of a log or of standard output, and no terminal obeys them."""

from __future__ import annotations

import io
import json
import logging
import sys
from collections.abc import Iterator

import pytest

from spark_jobs.core.messages import damage
from spark_jobs.core.messages.damage import DamageCode, Finding
from spark_jobs.core.messages.errors import Refusal, UsageError
from spark_jobs.core.messages.outcomes import TableOutcome, UnitOutcome
from spark_jobs.core.messages.printable import printable
from spark_jobs.core.messages.refusals import RefusalCode
from spark_jobs.core.wire.report import Report, TableReport, UnitReport
from spark_jobs.verbs.runner import keep_lines_printable
from tests.hostile.corpus import CONTROL, FORGED, ODD

LINE = "\nLAKEKEEPER_REPORT {}"
HOSTILE = [*FORGED, *CONTROL, *ODD]


@pytest.mark.parametrize("text", HOSTILE)
def test_what_cannot_be_seen_is_shown_by_its_escape(text: str) -> None:
    shown = printable(f"a{text}b")
    assert shown.isprintable()
    assert len(shown.splitlines()) == 1
    assert eval(f"'{shown}'") == f"a{text}b"


@pytest.mark.parametrize("text", ["", "p=1", "été 東京", "C:\\new", "it's"])
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert printable(text) == text


@pytest.fixture
def logged() -> Iterator[io.StringIO]:
    """What a handler of the program around the jobs writes."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    logger = logging.getLogger("lakekeeper")
    keep_lines_printable(logger)
    keep_lines_printable(logger)
    logger.addHandler(handler)
    yield stream
    logger.removeHandler(handler)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_record_is_one_line(logged: io.StringIO, text: str) -> None:
    logging.getLogger("lakekeeper").warning("%s: %d files, 100%%", text, 3)
    (line,) = logged.getvalue().splitlines()
    assert line == f"{printable(text)}: 3 files, 100%"


@pytest.mark.parametrize("text", HOSTILE)
def test_no_line_of_a_traceback_begins_a_line_of_the_log(logged: io.StringIO, text: str) -> None:
    try:
        raise ValueError(f"cannot read {text}")
    except ValueError:
        logging.getLogger("lakekeeper").error("failed", exc_info=sys.exc_info())
    first, *others = logged.getvalue().splitlines()
    assert first == "failed"
    assert "  Traceback (most recent call last):" in others
    assert all(line.startswith("  ") and line.isprintable() for line in others)


def test_the_sentences_of_a_report_are_lines_and_its_values_are_exact() -> None:
    unit = UnitReport({"p": LINE}, UnitOutcome.FAILED, reason=f"p={LINE} is wrong")
    table = TableReport(
        "db.t", TableOutcome.FAILED, reason=LINE, location=LINE, units=[unit], warnings=[LINE]
    )
    report = Report("compact", "1", error=LINE, tables=[table])
    found = report.to_json()
    assert found["error"] == found["tables"][0]["reason"] == "\\nLAKEKEEPER_REPORT {}"
    assert found["tables"][0]["warnings"] == ["\\nLAKEKEEPER_REPORT {}"]
    assert found["tables"][0]["location"] == LINE
    (of_unit,) = found["tables"][0]["units"]
    assert of_unit["reason"] == "p=\\nLAKEKEEPER_REPORT {} is wrong"
    assert of_unit["unit"] == {"p": LINE}
    assert json.loads(report.summary_line().partition(" ")[2]) == json.loads(json.dumps(found))


def test_what_a_check_shows_has_no_line_of_a_value() -> None:
    finding = Finding(DamageCode.JOURNAL_MISSING, f"/t{LINE}", f"what{LINE}")
    assert finding.to_json()["path"] == f"/t{LINE}"
    assert not any(line.startswith("LAKE") for line in damage.render(f"db.t{LINE}", [finding]).splitlines())


@pytest.mark.parametrize("text", HOSTILE)
def test_the_text_of_an_error_is_one_line(text: str) -> None:
    assert str(UsageError(f"wrong {text}")) == f"wrong {printable(text)}"
    assert str(Refusal(RefusalCode.SERDE, text)).isprintable()
