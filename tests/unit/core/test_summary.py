"""The line that a job logs for each table."""

from __future__ import annotations

import pytest

from spark_jobs.core.messages.outcomes import TableOutcome, UnitOutcome
from spark_jobs.core.wire.report import Report, TableReport, UnitReport
from spark_jobs.core.wire.summary import failure, summary


def flagged(files: int, **more: object) -> UnitReport:
    return UnitReport({"k": str(files)}, UnitOutcome.FLAGGED, needs_compaction=True, files=files, **more)  # type: ignore[arg-type]


COMPACTED = UnitReport({}, UnitOutcome.COMPACTED, files=600, bytes=9000, files_after=3, bytes_after=8000)


@pytest.mark.parametrize(
    ("report", "text"),
    [
        (
            TableReport("db.t", units=[flagged(500, target_files=2), flagged(100, target_files=1)]),
            "done, 2 units flagged, 600 -> 3 files (estimate)",
        ),
        (TableReport("db.t", units=[COMPACTED]), "done, 1 unit compacted, 600 -> 3 files, 8.8 KB -> 7.8 KB"),
        (TableReport("db.t", TableOutcome.NOTHING), "nothing"),
        (
            TableReport("db.t", TableOutcome.REFUSED, "VIEW", "db.t is a view"),
            "refused (VIEW: db.t is a view)",
        ),
        (
            TableReport("db.t", units=[UnitReport({}, UnitOutcome.FLAGGED, reason="would be forgotten")]),
            "done, 1 unit flagged (would be forgotten)",
        ),
    ],
)
def test_a_table_is_described_by_what_a_person_asked_for(report: TableReport, text: str) -> None:
    assert summary(report) == text


def test_a_reason_is_shown_if_it_is_that_of_all_units() -> None:
    one, other = (UnitReport({}, UnitOutcome.FAILED, reason=reason) for reason in ("no space", "no right"))

    assert (
        summary(TableReport("db.t", TableOutcome.FAILED, units=[one, one]))
        == "failed, 2 units failed (no space)"
    )
    assert summary(TableReport("db.t", TableOutcome.FAILED, units=[one, other])) == "failed, 2 units failed"


def test_the_message_of_an_error_is_one_line_with_the_reasons_of_the_first_tables() -> None:
    lost = UnitReport({"k": "a\nb"}, UnitOutcome.FAILED, "LOST", "no executor" + "!" * 2000)
    tables = [TableReport(f"db.t{n}", TableOutcome.PARTIAL, units=[COMPACTED, lost, lost]) for n in range(50)]
    text = failure(Report("compact", "1", tables=tables))
    assert text.startswith(r"compact ended as partial: db.t0: partial (k=a\nb: LOST: no executor!")
    assert "!, and 1 more); db.t1: " in text
    assert text.endswith("; and 30 more tables")
    assert (text.isprintable(), len(text) < 20_000) == (True, True)


def test_a_job_that_has_failed_as_a_whole_says_why() -> None:
    assert failure(Report("compact", "1", error="no metastore")) == "compact ended as failed: no metastore"
