"""The report of a table: the parts for its units are merged, and its texts are collected."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from spark_jobs.core.messages.outcomes import UnitOutcome
from spark_jobs.core.wire.report import TableReport, UnitReport


def with_units(report: TableReport, units: Sequence[UnitReport]) -> TableReport:
    """Replace the reports of these units, and append the reports of other units."""
    new = {unit_values(unit): unit for unit in units}
    kept = [new.pop(unit_values(unit), unit) for unit in report.units]
    return replace(report, units=[*kept, *new.values()])


def unit_values(report: UnitReport) -> tuple[tuple[str, str | None], ...]:
    """Return the partition values of a unit, to compare them."""
    return tuple(sorted(report.unit.items()))


def unique(*texts: Iterable[str]) -> list[str]:
    """Return all texts in their order, each of them once."""
    return list(dict.fromkeys(text for each in texts for text in each))


def describe_restored(reports: Sequence[UnitReport]) -> str:
    """Return which units could not be restored."""
    left = [
        "/".join(f"{key}={value}" for key, value in report.unit.items()) or "the table"
        for report in reports
        if report.outcome != UnitOutcome.RESTORED
    ]
    return f"{', '.join(left)} could not be restored" if left else "the others were restored"
