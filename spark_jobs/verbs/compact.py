"""The verb compact: it rewrites the flagged units of a table, and keeps the originals for a rollback."""

from __future__ import annotations

from dataclasses import replace

from spark_jobs.core.messages.errors import LakekeeperError, Refusal
from spark_jobs.core.messages.refusals import RefusalCode
from spark_jobs.core.messages.remedies.runs import swapped_before
from spark_jobs.core.planning.plan_file import changed_since
from spark_jobs.core.values.model import TableName
from spark_jobs.core.wire.report import TableReport
from spark_jobs.protocol.execution.folding import fold_settled_runs
from spark_jobs.protocol.execution.table_compaction import TableCompaction
from spark_jobs.verbs.job import Job
from spark_jobs.verbs.plan import dry_run


def compact_table(job: Job, name: TableName) -> TableReport:
    """Compact a table, and return its part of the report."""
    wanted = job.wanted_units(name)
    with job.session(name) as session:
        if session.options.dry_run:
            return dry_run(job, session, wanted)
        compaction = TableCompaction(session, job.run_id, wanted, job.admission)
        try:
            report = compaction.run()
        except (PermissionError, Refusal) as error:
            # Units may be swapped: a refusal would say that nothing was done.
            if compaction.begun:  # guard: swapped_is_not_refused
                raise LakekeeperError(f"{error}. {swapped_before(compaction.begun)}") from error
            if isinstance(error, Refusal):
                raise
            raise Refusal(RefusalCode.NOT_WRITABLE, str(error)) from None  # guard: not_writable_refused
        changed = changed_since(report, job.planned_units(name))
        notes = [*([changed] if changed else []), *fold_settled_runs(session)]
        return replace(report, warnings=[*report.warnings, *notes])
