"""The verb analyze: it finds tables and partitions that are full of small files. It changes nothing."""

from __future__ import annotations

from spark_jobs.core.values.model import TableName
from spark_jobs.core.wire.report import TableReport
from spark_jobs.protocol.planning.planner import Planner
from spark_jobs.verbs.job import Job
from spark_jobs.verbs.planned import PLANNED


def analyze_table(job: Job, name: TableName) -> TableReport:
    """Analyse a table, and return its part of the report."""
    plan = Planner(job.table(name), job.wanted_units(name)).analyze()
    return plan.report().conclude(acted=PLANNED)
