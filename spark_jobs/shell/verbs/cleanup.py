"""cleanup: gives up the originals of runs that are past their retention. This cannot be undone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from spark_jobs.core import journal
from spark_jobs.core.eligibility import TableFacts
from spark_jobs.core.model import TableName
from spark_jobs.core.options import Options
from spark_jobs.core.retention import Candidate, expired
from spark_jobs.core.wire import TableReport
from spark_jobs.shell.backup import retire_backup
from spark_jobs.shell.cluster import Cluster
from spark_jobs.shell.job import Job
from spark_jobs.shell.journal_store import Run
from spark_jobs.shell.leftovers import remove_empty_folders
from spark_jobs.shell.retirement import Retirement
from spark_jobs.shell.runs import all_runs


def cleanup_table(job: Job, name: TableName) -> TableReport:
    """One table's part of the report."""
    facts = job.cluster.metastore.table(name)
    options = job.layers.resolve(str(name), facts.properties)
    units = [unit for unit, _ in job.cluster.metastore.units(facts)]
    locations = {unit.key: unit.location for unit in units}
    runs = _due(job.cluster, all_runs(job.cluster.fs, facts, units), options)
    report = TableReport(table=str(name), location=facts.storage.location, format=facts.storage.format)
    for run in runs:
        _clean(job.cluster, facts, run, locations, options, report)
    report.run_id = runs[-1].run_id if len({run.run_id for run in runs}) == 1 else None
    report.reason = None if report.units else "no originals are past the retention"
    return report.conclude(acted=("cleaned", "flagged"))


def _due(cluster: Cluster, runs: Sequence[Run], options: Options) -> list[Run]:
    """The runs past the retention; folders of one run in several homes stand and fall together."""
    ages: dict[str, Candidate] = {}
    for run in runs:
        at = run.state.committed_at
        if at is not None:
            known = ages.get(run.run_id)
            ages[run.run_id] = Candidate(run.run_id, max(at, known.committed_at) if known else at)
    due = {
        c.run_id for c in expired(list(ages.values()), cluster.now(), options.older_than, options.keep_last)
    }
    return [run for run in runs if run.run_id in due]


def _clean(
    cluster: Cluster,
    facts: TableFacts,
    run: Run,
    locations: Mapping[str, str],
    options: Options,
    report: TableReport,
) -> None:
    retirement = Retirement(cluster, run, locations, options.skip_trash)
    pending = run.state.of_kind(journal.COMMITTED, journal.CLEANUP_CLAIMED)
    retired = retirement.run(pending, options.parallelism, options.dry_run)
    report.units += [item.report for item in retired if item.report]
    report.freed_bytes += sum(item.freed for item in retired)
    report.trashed_bytes += sum(item.trashed for item in retired)
    if not options.dry_run:
        report.warnings += retire_backup(cluster, facts, run, options)
        remove_empty_folders(cluster, run)
