"""What a job says of a report in one line: of each table, and of a job that did not end well."""

from __future__ import annotations

from collections.abc import Sequence

from spark_jobs.core.messages.outcomes import TableOutcome, UnitOutcome
from spark_jobs.core.messages.printable import printable
from spark_jobs.core.messages.readable import human
from spark_jobs.core.values.model import Unit
from spark_jobs.core.wire.report import BAD_UNITS, Report, TableReport, UnitReport

#: At most this many tables are named in the message of an error, and this many characters of a reason.
_MOST_NAMED, _LONGEST_REASON = 20, 500


def summary(table: TableReport) -> str:
    """Return the outcome of a table in one line, for example `done, 2 units flagged, 600 -> 3 files (estimate)`."""
    why = f" ({table.code}: {table.reason})" if table.code else f" ({table.reason})" if table.reason else ""
    return ", ".join([f"{table.outcome}{why}", *_outcomes(table.units), *_gain(table)])


def _outcomes(units: Sequence[UnitReport]) -> list[str]:
    """Return the number of units of each outcome, with the reason if it is the same for all of them."""
    by_outcome: dict[UnitOutcome, list[str | None]] = {}
    for unit in units:
        by_outcome.setdefault(unit.outcome, []).append(unit.reason)
    return [_counted(outcome, reasons) for outcome, reasons in by_outcome.items()]


def _counted(outcome: UnitOutcome, reasons: Sequence[str | None]) -> str:
    why = f" ({reasons[0]})" if reasons[0] and len(set(reasons)) == 1 else ""
    return f"{len(reasons)} unit{'' if len(reasons) == 1 else 's'} {outcome}{why}"


def _gain(table: TableReport) -> list[str]:
    """Return files and bytes before and after. Of units that are only flagged, the files after are an estimate."""
    data = table.to_json()
    before, after = data["before"], data["after"]
    if expected := sum(map(_expected, table.units)):
        return [f"{before['files']} -> {before['files'] - expected} files (estimate)"]
    if before["files"] or after["files"]:
        sizes = f"{human(before['bytes'])} -> {human(after['bytes'])}"
        return [f"{before['files']} -> {after['files']} files", sizes]
    return []


def _expected(unit: UnitReport) -> int:
    """Return how many files less a flagged unit would have after its compaction."""
    flagged = unit.outcome == UnitOutcome.FLAGGED and unit.needs_compaction
    return (unit.files or 0) - (unit.target_files or 0) if flagged else 0


def failure(report: Report) -> str:
    """Return one line about a job that did not end well: each table that is not done, and why.

    Of a table some of whose units have failed, the first one has its reason, and the others are counted.
    """
    ended = (TableOutcome.DONE, TableOutcome.NOTHING)
    bad = [table for table in report.tables if table.outcome not in ended]
    each = [f"{table.table}: {table.outcome} ({_why(table)})" for table in bad[:_MOST_NAMED]]
    if len(bad) > _MOST_NAMED:
        each.append(f"and {len(bad) - _MOST_NAMED} more tables")
    return printable(f"{report.verb} ended as {report.outcome}: {'; '.join(each) or report.error}")


def _why(table: TableReport) -> str:
    if table.code or table.reason:
        return _reason(table.code, table.reason)
    failed = [unit for unit in table.units if unit.outcome in BAD_UNITS]
    more = f", and {len(failed) - 1} more" if failed[1:] else ""
    first = [
        f"{Unit(tuple(unit.unit.items()), '')}: {_reason(unit.code, unit.reason)}" for unit in failed[:1]
    ]
    return f"{''.join(first)}{more}" or "see the report"


def _reason(code: str | None, reason: str | None) -> str:
    return ": ".join(filter(None, (code, reason and reason[:_LONGEST_REASON])))
