"""The report of a job: parsing and evaluation. `text.py` renders it for the task log, `summary.py` for XCom."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from lakekeeper_provider.exceptions import ReportError
from lakekeeper_provider.options.option import CLEANUP, COMPACT, ROLLBACK
from lakekeeper_provider.printable import one_line
from lakekeeper_provider.report import document

#: The outcomes of jobs, with the exit code of each.
EXIT_CODES: Mapping[str, int] = {"done": 0, "nothing": 0, "partial": 1, "failed": 1, "usage": 2, "unsafe": 3}
OUTCOMES = tuple(EXIT_CODES)
TABLE_OUTCOMES = ("done", "nothing", "refused", "busy", "partial", "failed", "damaged")
#: The outcomes of units whose files were swapped.
SWAPPED = ("compacted", "restored")
_TROUBLE = ("failed", "quarantined")
ORIGINALS_DELETED = "ORIGINALS_DELETED"
#: Refusals by which a rollback has left a run that it was to undo.
NOT_ROLLED_BACK = ("OTHER_VERSION", "NEWER_COMMITS", "NO_CATALOG")
_CODE = re.compile(r"[A-Z][A-Z0-9_]{0,63}")


class TaskResult(Enum):
    """The result of a task, as its report determines it."""

    DONE = "done"
    NOTHING = "nothing"
    RETRY = "retry"
    FAIL = "fail"
    REFUSED = "refused"


@dataclass(frozen=True)
class Report:
    """A validated report; ``tables`` keep the format of docs/wire.md."""

    verb: str
    run_id: str | None
    outcome: str
    error: str | None
    started: str | None
    ended: str | None
    tables: tuple[Mapping[str, Any], ...]
    phases: Mapping[str, float]
    namenode_calls: int | None = None
    namenode_calls_per_second: float | None = None
    checks: tuple[Any, ...] | None = None

    @property
    def exit_code(self) -> int:
        """Return the exit code of a job with this report."""
        return EXIT_CODES[self.outcome]


@dataclass(frozen=True)
class ProcessFailure:
    """The failure of a process, which may have left a report.

    Args:
        exit_code: the job's; None where it is not passed on (cluster mode)
        text: the error
    """

    exit_code: int | None
    text: str

    def is_told_by(self, report: Report) -> bool:
        """Tell whether the job has failed as its report says, and so did not die afterwards."""
        # guard: told_by_the_report
        return report.exit_code != 0 and self.exit_code in (None, report.exit_code)

    def __str__(self) -> str:
        code = self.exit_code
        if code is None:
            return "spark-submit failed"
        return (
            f"spark-submit ended with exit code {code}"
            if code >= 0
            else f"spark-submit died of signal {-code}"
        )


def parse(content: str | bytes, verb: str) -> Report:
    """Parse and validate a report.

    Raises:
        ReportError: the content is no report of ``verb`` as docs/wire.md defines it
    """
    data = document.read(content)
    if not isinstance(data, dict) or data.get("schema_version") != 1:
        raise ReportError(f"expected a report of schema_version 1, got {str(content)[:200]!r}")
    if data.get("verb") != verb:  # guard: report_of_the_verb
        raise ReportError(f"expected the report of {verb}, got the one of {data.get('verb')!r}")
    if data.get("outcome") not in OUTCOMES:  # guard: known_outcomes_of_jobs
        raise ReportError(f"the report has an unknown outcome {data.get('outcome')!r}")
    return Report(
        verb=verb,
        run_id=document.text(data, "run_id"),
        outcome=data["outcome"],
        error=document.text(data, "error"),
        started=document.text(data, "started"),
        ended=document.text(data, "ended"),
        tables=tuple(_table(table) for table in document.items(data, "tables")),
        phases=data.get("phases") or {},
        namenode_calls=data.get("namenode_calls"),
        namenode_calls_per_second=data.get("namenode_calls_per_second"),
        checks=None if data.get("checks") is None else document.items(data, "checks"),
    )


def _table(table: Any) -> Mapping[str, Any]:
    if not isinstance(table, dict) or not isinstance(table.get("table"), str):
        raise ReportError(f"the report has a table without a name: {table!r}")
    if table.get("outcome") not in TABLE_OUTCOMES:  # guard: known_outcomes_of_tables
        raise ReportError(f"{table['table']}: unknown outcome {table.get('outcome')!r} in the report")
    return table


def evaluate(
    report: Report, named: Iterable[str] = (), failure: ProcessFailure | None = None
) -> tuple[TaskResult, str]:
    """Return the result of the task and the reason for it: the worse one of what the report and the process say.

    Args:
        named: tables that were selected by name; a refused one of them is an error, while refused tables
            of a selected database are expected
        failure: how the process failed, if it did; a report that says otherwise makes no success of it
    """
    result, reason = _evaluated(report, named)
    if failure is None or failure.is_told_by(report):  # guard: worse_of_report_and_process
        return result, one_line(reason)  # guard: reason_is_one_line
    # The job died after its report, or somebody else has written it: either way more may be left to do than it says.
    # guard: worse_result
    worse = result if result in (TaskResult.RETRY, TaskResult.FAIL) else TaskResult.RETRY
    # guard: worse_reason_is_one_line
    return worse, one_line(f"{failure}, whatever its report says ({reason})")


def _evaluated(report: Report, named: Iterable[str]) -> tuple[TaskResult, str]:
    problems, names = _problems(report), set(named)
    of_refused = [table for table in report.tables if table["outcome"] == "refused"]
    refused = [
        _because(table) for table in of_refused if table["table"] in names or _hides_a_run(report, table)
    ]
    if report.outcome == "usage":
        return TaskResult.FAIL, f"{report.verb} could not start: {report.error or '; '.join(refused)}"
    if report.outcome == "unsafe":
        return TaskResult.FAIL, f"a person must look at this before anything else runs: {_join(problems)}"
    damaged = [_because(table) for table in report.tables if table["outcome"] == "damaged"]
    if damaged:
        return TaskResult.FAIL, f"{report.verb} {report.outcome}: {_join([*damaged, *problems, *refused])}"
    if _is_permanent(report):
        return TaskResult.FAIL, f"{report.verb} {report.outcome}: {_join(problems)}"
    if problems or (report.outcome in ("partial", "failed") and not refused):
        return (
            TaskResult.RETRY,
            f"{report.verb} {report.outcome}: {_join([*problems, *refused], report.error)}",
        )
    if refused:
        return TaskResult.REFUSED, f"{report.verb}: {'; '.join(refused)}"
    if report.outcome == "nothing":
        undone = "restored" if report.verb == ROLLBACK else "changed"
        what = f"dry run, nothing was {undone}" if was_dry_run(report) else "nothing to do"
        return TaskResult.NOTHING, _join([f"{report.verb}: {what}", *_left(report)])
    return TaskResult.DONE, totals(report)


def _hides_a_run(report: Report, refused: Mapping[str, Any]) -> bool:
    """Tell whether a rollback has left a run that it was to undo: it could not read it, or rows were added since."""
    # guard: hidden_runs_of_a_rollback
    return report.verb == ROLLBACK and refused.get("code") in NOT_ROLLED_BACK


def was_dry_run(report: Report) -> bool:
    """Tell whether the job was to change nothing, and has left flagged what it would have worked on."""
    writes = report.verb in (COMPACT, ROLLBACK, CLEANUP)
    return writes and any(units_with(table, ("flagged",)) for table in report.tables)


def _is_permanent(report: Report) -> bool:
    """Return whether a retry would not change the result: a rollback has restored all units that it could.

    The others were compacted too, and their originals do not exist any more. A retry would end as ``nothing``, and
    so turn a rollback that is incomplete into a success.
    """
    tables = [table for table in report.tables if table["outcome"] in ("busy", "partial", "failed")]
    return (
        report.error is None
        and bool(tables)
        and all(_deleted(table) and not units_with(table, _TROUBLE) for table in tables)
    )


def _deleted(table: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the units that a rollback could not restore because their originals were deleted."""
    return [unit for unit in units_with(table, ("skipped",)) if unit.get("code") == ORIGINALS_DELETED]


def _left(report: Report) -> list[str]:
    """Describe up to five units that are left to the next run."""
    left = [(table, unit) for table in report.tables for unit in units_with(table, ("changed", "deferred"))]
    return [f"{t['table']} {unit_name(u['unit'])}: {u['outcome']} {_reason(u)}".rstrip() for t, u in left[:5]]


def _join(problems: Sequence[str], error: str | None = None) -> str:
    return "; ".join(filter(None, [error, *problems])) or "the report names no reason"


def _problems(report: Report) -> list[str]:
    tables = [table for table in report.tables if table["outcome"] in ("busy", "partial", "failed")]
    if report.outcome == "unsafe":
        tables = [t for t in report.tables if t in tables or units_with(t, _TROUBLE)]
    return [_because(table) for table in tables]


def _because(table: Mapping[str, Any]) -> str:
    reason = " ".join(filter(None, [table.get("code"), table.get("reason")]))
    units = "; ".join(
        f"{unit_name(unit['unit'])}: {unit['outcome']} {_reason(unit)}".rstrip()
        for unit in [*units_with(table, _TROUBLE), *_deleted(table)][:5]
    )
    detail = "; ".join(filter(None, [reason, units]))
    return f"{table['table']} {table['outcome']}" + (f" ({detail})" if detail else "")


def _reason(unit: Mapping[str, Any]) -> str:
    return " ".join(filter(None, [unit.get("code"), unit.get("reason")]))


def units_with(table: Mapping[str, Any], outcomes: Sequence[str]) -> list[Mapping[str, Any]]:
    """Return the units of a table that have one of these outcomes."""
    return [unit for unit in table.get("units") or () if unit.get("outcome") in outcomes]


def written(table: Mapping[str, Any]) -> dict[str, int]:
    """Return ``files_before``, ``files_after``, ``bytes_before`` and ``bytes_after`` of the units that were swapped."""
    units = units_with(table, SWAPPED)
    keys = {
        "files_before": "files",
        "files_after": "files_after",
        "bytes_before": "bytes",
        "bytes_after": "bytes_after",
    }
    return {name: sum(unit.get(key) or 0 for unit in units) for name, key in keys.items()}


def warning_codes(table: Mapping[str, Any]) -> dict[str, int]:
    """Return how often each code is among the warnings of a table."""
    return dict(Counter(code(text.partition(":")[0]) for text in table.get("warnings") or ()))


def skipped_codes(table: Mapping[str, Any]) -> dict[str, int]:
    """Return how many units of a table were skipped, by the code of their refusal."""
    return dict(
        Counter(code(str(unit["code"])) for unit in units_with(table, ("skipped",)) if unit.get("code"))
    )


def code(text: str) -> str:
    """Return a code of warnings or refusals; ``OTHER`` for any text that is none: it becomes the name of a metric."""
    return text if _CODE.fullmatch(text) else "OTHER"  # guard: codes_are_codes


def unit_name(unit: Mapping[str, str | None]) -> str:
    """Return a unit as a person writes it."""
    parts = (f"{key}={'<default>' if value is None else value}" for key, value in unit.items())
    return "/".join(parts) or "the whole table"


def totals(report: Report) -> str:
    """Say in one line what the job has done."""
    tables = len(report.tables)
    outcomes = {table["outcome"] for table in report.tables}
    outcome = "refused" if outcomes == {"refused"} else report.outcome
    counted = f"{report.verb}: {outcome}, {tables} table{'' if tables == 1 else 's'}"
    return f"{counted}; dry run, nothing was changed" if was_dry_run(report) else counted
