"""The verb plan: it lists what a compaction would do, in its order and within its limits. It changes nothing."""

from __future__ import annotations

import logging
from dataclasses import replace

from spark_jobs.core.messages.outcomes import UnitOutcome
from spark_jobs.core.planning.decisions import on_wire
from spark_jobs.core.planning.pace import Pace
from spark_jobs.core.planning.plan_file import options_of
from spark_jobs.core.rules.strategy import FULL
from spark_jobs.core.values.model import TableName
from spark_jobs.core.wire.report import Report, TableReport, UnitReport
from spark_jobs.protocol.commit_log.publisher import learned_pace, log_of
from spark_jobs.protocol.execution.rounds import held_by
from spark_jobs.protocol.execution.table_session import TableSession
from spark_jobs.protocol.planning.planner import Planner, WantedUnits
from spark_jobs.verbs.analyze import PLANNED
from spark_jobs.verbs.job import Job
from spark_jobs.verbs.table_order import is_flagged_by_files, rank

log = logging.getLogger("lakekeeper")


def plan_table(job: Job, name: TableName) -> TableReport:
    """Plan a table without limits: they are applied when all tables are known (`arrange`)."""
    with job.session(name) as session:
        return _report(job, session, job.wanted_units(name))


def dry_run(job: Job, session: TableSession, wanted: WantedUnits | None) -> TableReport:
    """Return what a compaction of this table would do, after those before it in the same job."""
    log.info("%s: dry run, nothing is written", session.facts.name)
    return _limited(job, _report(job, session, wanted))


def _report(job: Job, session: TableSession, wanted: WantedUnits | None) -> TableReport:
    plan = Planner(session.table, wanted).plan(footers=True)
    held = held_by(session.runs())
    report = replace(plan.report(), **held.report(), options=options_of(session.options))
    pace = learned_pace(
        log_of(session.services.fs, session.facts, session.services.now, session.options.trusted_owners)
    )
    job.admission.update(lambda admission: admission.learned(pace))
    units = [
        replace(unit, strategy=unit.strategy or FULL) if is_flagged_by_files(unit) else unit
        for unit in report.units
    ]
    return _estimated(replace(report, units=units), pace).conclude(acted=PLANNED)


def _estimated(table: TableReport, pace: Pace) -> TableReport:
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


def complete_dry_run(job: Job, report: Report) -> None:
    """Estimate the time of those tables of a dry run that were looked at before any pace was known.

    Only a table that was planned has `options`: those that were compacted stay as they are, and no option is read
    again, so that no error in one can hide what was done.
    """
    report.tables = [
        _estimated(table, job.admission.now.pace) if table.options is not None else table
        for table in report.tables
    ]


def arrange(job: Job, report: Report) -> None:
    """Put the tables into the order of their compaction, and defer what does not fit into the limits of the job.

    A table that was never compacted has the estimates of the pace of another one.
    """
    tables = sorted(report.tables, key=rank) if job.layers.resolve().order == "score" else report.tables
    report.tables = [_limited(job, _estimated(table, job.admission.now.pace)) for table in tables]


def _limited(job: Job, table: TableReport) -> TableReport:
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
