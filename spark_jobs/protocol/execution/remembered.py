"""What a compaction has found of units that it has not rewritten, for the next analysis."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from spark_jobs.core.messages.outcomes import UnitOutcome
from spark_jobs.protocol.execution.rounds import TableState
from spark_jobs.protocol.execution.table_session import TableSession
from spark_jobs.protocol.execution.unit_results import UnitResult
from spark_jobs.protocol.planning.survey import Survey
from spark_jobs.protocol.runs.trust import Trust


def remember(session: TableSession, start: TableState, results: Sequence[UnitResult]) -> TableState:
    """Return the start with figures that keep the next analysis from flagging these units again."""
    return _remember_refused(session, _remember_irreducible(start, results), results)


def _remember_irreducible(start: TableState, results: Iterable[UnitResult]) -> TableState:
    """Return the start with figures that keep the next plan from reading the footers of settled units again."""
    files = {
        result.unit_key: result.report.target_files
        for result in results
        if result.report.outcome == UnitOutcome.HEALTHY
    }
    options = start.plan.options
    units = (
        unit.remember_irreducible(files[unit.unit.key] or 0, options) if unit.unit.key in files else unit
        for unit in start.plan.units
    )
    return replace(start, plan=replace(start.plan, units=tuple(units)))


def _remember_refused(session: TableSession, start: TableState, results: Iterable[UnitResult]) -> TableState:
    """Keep why units were refused. A run that has compacted nothing publishes no figures, so it is kept at once."""
    refused = {
        result.unit_key: result.refusal
        for result in results
        if result.refusal and result.refusal.of_planned_files  # guard: verdict_of_planned_files
    }
    if not refused:
        return start
    table = session.table
    survey = Survey(table, Trust(session.services.fs, table.root, table.options.trusted_owners))
    with session.services.phases.during("log"):
        return replace(start, plan=survey.remember(start.plan, refused))
