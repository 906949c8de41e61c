"""What a compaction keeps for later jobs: verdicts on units that it has not rewritten, and units left undone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from spark_jobs.core.messages.outcomes import UnitOutcome
from spark_jobs.core.records.open_units import Attempt, tried
from spark_jobs.core.wire.report import UnitReport, utc
from spark_jobs.protocol.commit_log.unit_hints import DeferredStore, OpenStore
from spark_jobs.protocol.execution.rounds import TableState
from spark_jobs.protocol.execution.table_session import TableSession
from spark_jobs.protocol.execution.unit_results import UnitResult
from spark_jobs.protocol.planning.survey import Survey
from spark_jobs.protocol.runs.trust import Trust

#: The outcomes after which nothing is left to do.
_DONE = (UnitOutcome.COMPACTED, UnitOutcome.HEALTHY)
#: The outcomes after which a unit is not deferred any more.
_ENDED = (*_DONE, UnitOutcome.SKIPPED)
#: The outcomes after which a deferred unit has had its turn, and comes after the others.
_FAILED = (UnitOutcome.FAILED, UnitOutcome.QUARANTINED)


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


def reports(start: TableState, results: Sequence[UnitResult]) -> list[UnitReport]:
    """Return the reports of results; a unit that stays open says since when."""
    known = {plan.unit.key: plan.open.to_json() for plan in start.plan.units if plan.open}
    return [
        result.report
        if result.report.outcome in _DONE
        else replace(result.report, **known.get(result.unit_key, {}))
        for result in results
    ]


def note_undone(session: TableSession, start: TableState, results: Sequence[UnitResult] = ()) -> None:
    """Let the next job take the deferred units first, and reports say why units stay open. Never raise."""
    done = {result.unit_key: result.report for result in results}
    _note_deferred(session, start, done)
    _note_open(session, start, done)


def _note_deferred(session: TableSession, start: TableState, done: Mapping[str, UnitReport]) -> None:
    outcomes = {unit.unit.key: unit.outcome for unit in start.plan.units}
    outcomes.update((key, report.outcome) for key, report in done.items())
    deferred = [key for key, outcome in outcomes.items() if outcome == UnitOutcome.DEFERRED]
    if not deferred and not any(unit.deferred_since for unit in start.plan.units):
        return
    ended = {key for key, outcome in outcomes.items() if outcome in _ENDED}
    had_turn = {key for key, report in done.items() if report.outcome in _FAILED}
    fs, facts = session.services.fs, start.plan.facts
    store = DeferredStore.of(fs, facts, _trust(session, start))
    units = {unit.key for unit in session.table.units}
    store.note(deferred, ended, had_turn, units, utc(session.services.now()))


def _note_open(session: TableSession, start: TableState, done: Mapping[str, UnitReport]) -> None:
    plans, now = start.plan.units, utc(session.services.now())
    reports = {**{plan.unit.key: plan.report() for plan in plans if plan.is_open}, **done}
    undone = {key: report for key, report in reports.items() if report.outcome not in _DONE}
    if not undone and not any(plan.was_open for plan in plans):
        return
    healthy = {plan.unit.key for plan in plans if plan.outcome == UnitOutcome.HEALTHY}
    attempts = {key: Attempt.of(report, now) for key, report in undone.items()}
    ended = {*healthy, *reports} - undone.keys()
    # What is refused each night, reports name anyhow: no home is created for it.
    worth = any(report.outcome != UnitOutcome.SKIPPED for report in undone.values())
    units = {unit.key for unit in session.table.units}
    store = OpenStore.of(session.services.fs, start.plan.facts, _trust(session, start))
    store.update(lambda before: tried(before, attempts, ended), units, worth_a_home=worth)


def _trust(session: TableSession, start: TableState) -> Trust:
    return Trust(session.services.fs, start.plan.facts.storage.location, session.options.trusted_owners)
