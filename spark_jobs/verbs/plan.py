"""The verb plan: it lists what a compaction would do, in its order and within its limits. It changes nothing."""

from __future__ import annotations

import logging
from dataclasses import replace

from spark_jobs.core.planning.plan_file import options_of
from spark_jobs.core.rules.strategy import FULL
from spark_jobs.core.values.model import TableName
from spark_jobs.core.wire.report import Report, TableReport
from spark_jobs.protocol.commit_log.publisher import learned_pace, log_of
from spark_jobs.protocol.execution.rounds import held_by
from spark_jobs.protocol.execution.table_session import TableSession
from spark_jobs.protocol.planning.chosen_units import WantedUnits
from spark_jobs.protocol.planning.planner import Planner
from spark_jobs.verbs.job import Job
from spark_jobs.verbs.planned import PLANNED, estimated, is_flagged_by_files, limited
from spark_jobs.verbs.table_order import rank

log = logging.getLogger("lakekeeper")


def plan_table(job: Job, name: TableName) -> TableReport:
    """Plan a table without limits: they are applied when all tables are known (`arrange`)."""
    with job.session(name) as session:
        return _report(job, session, job.wanted_units(name))


def dry_run(job: Job, session: TableSession, wanted: WantedUnits | None) -> TableReport:
    """Return what a compaction of this table would do, after those before it in the same job."""
    log.info("%s: dry run, nothing is written", session.facts.name)
    return limited(job, _report(job, session, wanted))


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
    return estimated(replace(report, units=units), pace).conclude(acted=PLANNED)


def complete_dry_run(job: Job, report: Report) -> None:
    """Estimate the time of those tables of a dry run that were looked at before any pace was known.

    Only a table that was planned has `options`: those that were compacted stay as they are, and no option is read
    again, so that no error in one can hide what was done.
    """
    report.tables = [
        estimated(table, job.admission.now.pace) if table.options is not None else table
        for table in report.tables
    ]


def arrange(job: Job, report: Report) -> None:
    """Put the tables into the order of their compaction, and defer what does not fit into the limits of the job.

    A table that was never compacted has the estimates of the pace of another one.
    """
    tables = sorted(report.tables, key=rank) if job.layers.resolve().order == "score" else report.tables
    report.tables = [limited(job, estimated(table, job.admission.now.pace)) for table in tables]
