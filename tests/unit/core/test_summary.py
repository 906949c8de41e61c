"""The line that a job logs for each table."""

from __future__ import annotations

import pytest

from spark_jobs.core.outcomes import TableOutcome, UnitOutcome
from spark_jobs.core.summary import summary
from spark_jobs.core.wire import TableReport, UnitReport


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
        (
            TableReport("db.t", units=[COMPACTED]),
            "done, 1 unit compacted, 600 -> 3 files, 9000 -> 8000 bytes",
        ),
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
