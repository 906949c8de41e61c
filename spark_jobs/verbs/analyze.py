"""analyze: which tables and partitions are full of small files? Writes nothing."""

from __future__ import annotations

from spark_jobs.core.model import TableName
from spark_jobs.core.outcomes import UnitOutcome
from spark_jobs.core.wire import TableReport
from spark_jobs.protocol.planning.footer_inspection import check_footers
from spark_jobs.protocol.planning.hdfs_constraints import check_hdfs_constraints
from spark_jobs.protocol.planning.planner import plan, table_report
from spark_jobs.verbs.job import Job

LOOKED_AT = (UnitOutcome.FLAGGED, UnitOutcome.HEALTHY, UnitOutcome.SKIPPED)


def analyze_table(job: Job, name: TableName) -> TableReport:
    """One table's part of the report."""
    found = check_hdfs_constraints(job.services, plan(job.services, name, job.layers, job.wanted_units(name)))
    return table_report(check_footers(job.services, found)).conclude(acted=LOOKED_AT)
