"""The verb check: it compares the journals of a table with its directories, and lists what does not fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from spark_jobs.core.messages.damage import damage, reason, render
from spark_jobs.core.messages.errors import Refusal
from spark_jobs.core.messages.outcomes import TableOutcome
from spark_jobs.core.messages.printable import printable
from spark_jobs.core.messages.refusals import RefusalCode
from spark_jobs.core.options.layers import PROPERTY_PREFIX
from spark_jobs.core.rules.eligibility import TableFacts, check_place
from spark_jobs.core.values.model import TableName
from spark_jobs.core.wire.report import Report, TableReport
from spark_jobs.protocol.checking.journals import readable_tables
from spark_jobs.protocol.checking.table_check import TableCheck, own_properties
from spark_jobs.protocol.native.runs import TAG
from spark_jobs.protocol.planning.table import Table
from spark_jobs.verbs.cleanup_location import nothing_left, root_at
from spark_jobs.verbs.job import Job
from spark_jobs.verbs.table_errors import report_of

#: How many names of what is left are shown; the report has all of them.
_NAMED = 50


def check_table(job: Job, name: TableName) -> TableReport:
    """Return one table's part of the report. Also print the findings to stdout."""
    facts = job.services.metastore.table(name)
    try:
        _refuse(facts)
    except Refusal as refusal:
        # A backup table is counted as such, with the properties that name its run.
        left = [] if refusal.code == RefusalCode.BACKUP.name else own_properties(facts)
        return replace(report_of(job, str(name), refusal), left=left)
    return _check(job, lambda: job.table(name))


def check_location(job: Job, location: str) -> list[TableReport]:
    """Check what dropped tables left at a location, and return a report for each of them."""
    root = root_at(job, location)
    tables = readable_tables(job.services, job.layers, root)
    return [_check(job, partial(_unchanged, table)) for table in tables] or [nothing_left(root)]


def say_what_is_left(job: Job, report: Report) -> None:
    """Say whether anything of ours is left in the tables, after the findings of each."""
    job.show(left_text(report.tables, _unseen(job)))


def left_text(tables: Sequence[TableReport], unseen: str) -> str:
    """Return a line about what the tables have of ours, after the names of it.

    Args:
        unseen: what was not looked at; empty if all was.
    """
    names = [_left_name(table, name) for table in tables for name in table.left or ()]
    properties, tags = (
        sum(name.startswith(kind) for table in tables for name in table.left or ())
        for kind in (PROPERTY_PREFIX, TAG)
    )
    looked_at = [table for table in tables if table.left is not None]
    unknown = (t for t in tables if t.left is None and t.outcome != TableOutcome.NOTHING)
    counts = {
        "findings": sum(len(table.findings or ()) for table in tables),
        "hidden directories": len(names) - properties - tags,
        "names of commits": tags,
        "backup tables": sum(table.code == RefusalCode.BACKUP.name for table in tables),
        "properties of tables": properties,
        "tables that could not be checked": sum(1 for _ in unknown),
    }
    found = [f"{what}: {number}" for what, number in counts.items() if number]
    not_seen = f"; not looked at: {unseen}" if unseen else ""
    if found:
        lines = [*(["what is left:"] if names else []), *(f"  {printable(name)}" for name in names[:_NAMED])]
        lines += (
            [f"  ... and {len(names) - _NAMED} more in the report (--json)"] if len(names) > _NAMED else []
        )
        head = f"left of ours: {', '.join(found)} (docs/guides/leaving.md says how to remove them){not_seen}"
        return "\n".join([*lines, head])
    return f"nothing of ours is left (tables looked at: {len(looked_at)}{not_seen})"


def _left_name(table: TableReport, name: str) -> str:
    return f"{table.table}: {name}" if name.startswith((PROPERTY_PREFIX, TAG)) else name


def _unseen(job: Job) -> str:
    options = job.layers.resolve()
    if job.invocation.location:
        return "other places than this one"
    if not job.invocation.database:
        return "backup tables, for which check --database looks"
    return "tables that are excluded" if options.include or options.exclude else ""


def _unchanged(table: Table) -> Table:
    """Return a dropped table as it was found: the metastore has nothing to read again."""
    return table


def _check(job: Job, read: Callable[[], Table]) -> TableReport:
    table = read()
    check = TableCheck(read, job.invocation.read_data)
    with job.services.phases.during("verify"):
        findings = check.findings()
    job.show(render(table.facts.name, findings))
    ended = TableOutcome.DONE if check.runs or findings else TableOutcome.NOTHING
    return TableReport(
        table=table.facts.name,
        outcome=TableOutcome.DAMAGED if damage(findings) else ended,
        reason=reason(findings),
        location=table.root,
        format=table.facts.storage.format,
        warnings=list(check.warnings),
        findings=[finding.to_json() for finding in findings],
        left=check.left,
    )


def _refuse(facts: TableFacts) -> None:
    if "VIEW" in facts.kind:
        raise Refusal(RefusalCode.VIEW, f"{facts.name} is a view and has no files of its own")
    if "lakekeeper.run_id" in facts.properties:
        raise Refusal(
            RefusalCode.BACKUP,
            f"{facts.name} is a backup made by a compaction; the check of its source covers it",
        )
    check_place(facts.storage.location)
