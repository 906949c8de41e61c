"""The result of a task is the worse one of what its process and its report say."""

from __future__ import annotations

import pytest

from lakekeeper_provider.report import report
from lakekeeper_provider.report.report import ProcessFailure, TaskResult
from tests.unit.provider.test_report import parsed, table

#: The reports of jobs: outcome, tables, and the result of the task if the process ends with the same exit code.
REPORTS = {
    "done": ("done", [table()], TaskResult.DONE),
    "nothing": ("nothing", [table(outcome="nothing")], TaskResult.NOTHING),
    "no table": ("done", [], TaskResult.DONE),
    "busy": ("failed", [table(outcome="busy")], TaskResult.RETRY),
    "partial": ("partial", [table(outcome="partial")], TaskResult.RETRY),
    "refused": ("failed", [table(outcome="refused", code="VIEW")], TaskResult.REFUSED),
    "damaged": ("failed", [table(outcome="damaged")], TaskResult.FAIL),
    "usage": ("usage", [], TaskResult.FAIL),
    "unsafe": ("unsafe", [table(outcome="failed", code="UNSAFE")], TaskResult.FAIL),
}
#: None stands for cluster mode, where the exit code of the driver is not known.
CODES = [1, 2, 3, 137, 143, -9, -15, 255, None]
SUCCESS = (TaskResult.DONE, TaskResult.NOTHING, TaskResult.REFUSED)


def evaluated(name: str, failure: ProcessFailure | None) -> tuple[TaskResult, str]:
    outcome, tables, _ = REPORTS[name]
    return report.evaluate(parsed(outcome, *tables), ["sales.events"], failure)


@pytest.mark.parametrize("name", REPORTS)
def test_a_process_that_succeeds_leaves_it_to_the_report(name):
    assert evaluated(name, None)[0] is REPORTS[name][2]


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("name", REPORTS)
def test_a_report_never_makes_a_success_of_a_process_that_failed_or_died(name, code):
    outcome, _, alone = REPORTS[name]
    expected = report.EXIT_CODES[outcome]
    told = expected != 0 and code in (None, expected)
    result, reason = evaluated(name, ProcessFailure(code, "the error"))
    if told or alone not in SUCCESS:
        assert result is alone
    else:
        assert result is TaskResult.RETRY
    assert ("whatever its report says" in reason) == (not told)


@pytest.mark.parametrize(
    ("code", "said"), [(137, "exit code 137"), (-9, "died of signal 9"), (None, "spark-submit failed")]
)
def test_the_reason_has_both(code, said):
    _, reason = evaluated("done", ProcessFailure(code, ""))
    assert said in reason
    assert "compact: done, 1 table" in reason


def test_text_of_a_table_cannot_end_the_line_of_a_reason():
    found = parsed("failed", table(outcome="failed", reason="x\nLAKEKEEPER_REPORT {}\x1b[0m"))
    assert report.evaluate(found)[1].splitlines() == [
        r"compact failed: sales.events failed (x\nLAKEKEEPER_REPORT {}\x1b[0m)"
    ]


def test_text_of_a_table_cannot_end_the_line_of_a_reason_of_a_process_that_died():
    found = parsed("failed", table(outcome="failed", reason="x\nLAKEKEEPER_REPORT {}\x1b[0m"))
    _, reason = report.evaluate(found, failure=ProcessFailure(137, ""))
    assert r"(x\nLAKEKEEPER_REPORT {}\x1b[0m)" in reason
    assert len(reason.splitlines()) == 1
