"""What a compaction has left undone, for the next one, and for the reports of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from spark_jobs.core.open_units import Attempt
from spark_jobs.core.outcomes import UnitOutcome
from spark_jobs.core.wire import UnitReport, utc
from spark_jobs.protocol.commit_log.waiting_store import WaitingStore
from spark_jobs.protocol.execution.rounds import Start
from spark_jobs.protocol.execution.table_session import TableSession
from spark_jobs.protocol.execution.unit_results import UnitResult
from spark_jobs.protocol.runs.trust import Trust

#: The outcomes after which nothing is left to do.
_DONE = (UnitOutcome.COMPACTED, UnitOutcome.HEALTHY)
#: The outcomes after which a deferred unit has had its turn, and comes after the others.
_FAILED = (UnitOutcome.FAILED, UnitOutcome.QUARANTINED)


def reports(start: Start, results: Sequence[UnitResult]) -> list[UnitReport]:
    """Return the reports of results; those of units that stay open say since when."""
    known = {plan.unit.key: plan.open.to_json() for plan in start.plan.units if plan.open}
    return [
        result.report
        if result.report.outcome in _DONE
        else replace(result.report, **known.get(result.unit_key, {}))
        for result in results
    ]


def note_undone(session: TableSession, start: Start, results: Sequence[UnitResult] = ()) -> None:
    """Let the next job take the deferred units first, and reports say why units stay open. Never raise."""
    plans = start.plan.units
    left = {plan.unit.key: plan.report() for plan in plans if plan.is_open or plan.deferred_since}
    found = {**left, **{result.unit_key: result.report for result in results}}
    undone = {key: report for key, report in found.items() if report.outcome not in _DONE}
    if not undone and not any(plan.deferred_since or plan.open for plan in plans):
        return
    fs, facts, now = session.services.fs, start.plan.facts, utc(session.services.now())
    store = WaitingStore.of(fs, facts, Trust(fs, facts.storage.location, session.options.trusted_owners))
    healthy = {plan.unit.key for plan in plans if plan.outcome == UnitOutcome.HEALTHY}
    before, ended = store.read(), {*healthy, *found} - undone.keys()

    def with_outcome(*outcomes: UnitOutcome) -> set[str]:
        return {key for key, report in undone.items() if report.outcome in outcomes}

    refused = with_outcome(UnitOutcome.SKIPPED)
    after = before.defer(
        with_outcome(UnitOutcome.DEFERRED), {*ended, *refused}, with_outcome(*_FAILED), now
    ).tried({key: Attempt.of(report, now) for key, report in undone.items()}, ended)
    units = {unit.key for unit in session.table.units}
    # What is refused each night, reports name anyhow: no home is created for it.
    store.replace(before, after.of(units), worth_a_home=refused != undone.keys())
