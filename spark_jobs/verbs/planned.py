"""What a plan reports of its units: the time that they take, and which of them the limits of the job leave out."""

from __future__ import annotations

from dataclasses import replace

from spark_jobs.core.messages.outcomes import UnitOutcome
from spark_jobs.core.planning.decisions import on_wire
from spark_jobs.core.planning.pace import Pace
from spark_jobs.core.wire.report import TableReport, UnitReport
from spark_jobs.verbs.job import Job

#: The outcomes that a plan has for units that were analysed.
PLANNED = (
    UnitOutcome.FLAGGED,
    UnitOutcome.HEALTHY,
    UnitOutcome.SKIPPED,
    UnitOutcome.GONE,
    UnitOutcome.DEFERRED,
)


def is_flagged_by_files(unit: UnitReport) -> bool:
    """Tell whether the unit is flagged because of its files, and not because it must be recovered."""
    return unit.outcome == UnitOutcome.FLAGGED and unit.reason is None


def estimated(table: TableReport, pace: Pace) -> TableReport:
    """Return the table with the time that each of its units takes, where it has none and the pace is known."""
    lacking = [
        (is_flagged_by_files(unit) or unit.outcome == UnitOutcome.DEFERRED)
        and unit.estimated_seconds is None
        and pace.known
        for unit in table.units
    ]
    units = [
        replace(unit, estimated_seconds=round(pace.seconds_for(unit.amount), 1)) if lacks else unit
        for unit, lacks in zip(table.units, lacking)
    ]
    return replace(table, units=units)


def limited(job: Job, table: TableReport) -> TableReport:
    """Return the table with the units DEFERRED that do not fit, and spend the budget of the job."""
    if not any(map(is_flagged_by_files, table.units)):
        return table
    most, held = job.layers.resolve(table.table).max_held_bytes, table.held_bytes or 0
    job.admission.update(lambda admission: admission.of_table(most, held))
    units = [_limited_unit(job, unit) if is_flagged_by_files(unit) else unit for unit in table.units]
    return replace(table, units=units).conclude(acted=PLANNED)


def _limited_unit(job: Job, unit: UnitReport) -> UnitReport:
    deferral = job.admission.take(lambda admission: admission.take(unit.amount))
    if deferral is None:
        return unit
    outcome, _, reason = on_wire(deferral)
    return replace(unit, outcome=outcome, reason=reason)
