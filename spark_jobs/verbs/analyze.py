"""analyze: which tables and partitions are full of small files? Writes nothing."""

from __future__ import annotations

from spark_jobs.core.model import TableName
from spark_jobs.core.wire import TableReport
from spark_jobs.protocol.planning.footer_inspection import inspected
from spark_jobs.protocol.planning.hdfs_constraints import grounded
from spark_jobs.protocol.planning.planner import survey, table_report
from spark_jobs.verbs.job import Job

LOOKED_AT = ("flagged", "healthy", "skipped")


def analyze_table(job: Job, name: TableName) -> TableReport:
    """One table's part of the report."""
    found = grounded(job.cluster, survey(job.cluster, name, job.layers, job.wanted_units(name)))
    return table_report(inspected(job.cluster, found)).conclude(acted=LOOKED_AT)
