"""Rolls a run back: the mirrored swap, only where the live directory is still the one that the run put there."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from spark_jobs.core import journal
from spark_jobs.core.errors import LakekeeperError
from spark_jobs.core.journal import Swap, UnitState
from spark_jobs.core.outcomes import UnitOutcome
from spark_jobs.core.wire import UnitReport
from spark_jobs.protocol.execution.recovery import Recovery, unresolved_report
from spark_jobs.protocol.ports import FileSystemError, Pool
from spark_jobs.protocol.runs.journal_store import Run
from spark_jobs.protocol.services import Services
from spark_jobs.protocol.swap.reverse import ReverseSwap
from spark_jobs.protocol.swap.swap_executor import SwapResult

log = logging.getLogger("lakekeeper")


@dataclass(frozen=True)
class _Step:
    """One unit on its way back; `report` is set where the way ended early, `verdict` where it came to rest; `note` is
    what a person should know. `doubtful`: a call failed, and the server may still carry it out."""

    state: UnitState
    report: UnitReport | None = None
    result: SwapResult | None = None
    note: str | None = None
    outcome_unknown: bool = False


class Rollback:
    """Puts the originals of one run folder back. The run must have been `entered`; its folder gets another name where
    a server's answer left in doubt what it does."""

    def __init__(self, services: Services, run: Run, recovery: Recovery, on_new_data: str) -> None:
        self.entered = run
        self._services = services
        self._recovery = recovery
        self._on_new_data = on_new_data

    @property
    def _executor(self) -> ReverseSwap:
        return ReverseSwap(self._services, self.entered, self._recovery.policy)

    def run(self, units: Sequence[UnitState], parallelism: int) -> list[UnitReport]:
        """Waves of units side by side: one record before and one after serve a whole wave."""
        reports: list[UnitReport] = []
        wave = parallelism * 4
        with self._services.pool(parallelism) as pool:
            for start in range(0, len(units), wave):
                reports += self._wave(pool, units[start : start + wave])
        return reports

    def _wave(self, pool: Pool, units: Sequence[UnitState]) -> list[UnitReport]:
        started = time.monotonic()
        steps = list(pool.map(self._step(self._prepare), [_Step(unit) for unit in units]))
        begun = [{"unit": step.state.swap.unit.key} for step in steps if not step.report]
        if begun:
            self.entered.journal.append(journal.ROLLBACK_PREPARED, units=begun)
        steps = list(pool.map(self._step(self._return), steps))
        for kind in (journal.ROLLED_BACK, journal.COMMITTED):
            self._record(kind, steps)
        if any(step.outcome_unknown for step in steps):
            steps = self._recovered(steps)
        return [self._report(step, time.monotonic() - started) for step in steps]

    def _recovered(self, steps: Sequence[_Step]) -> list[_Step]:
        """As in a compaction: nothing is certain before the run's folder has another name."""
        recovered = self._recovery.run(self.entered)
        self.entered = recovered.run
        found = [(step, recovered.results.get(step.state.swap.unit.key)) for step in steps]
        return [
            replace(step, report=None, result=result) if step.outcome_unknown and result else step
            for step, result in found
        ]

    def _step(self, act: Callable[[_Step], _Step]) -> Callable[[_Step], _Step]:
        """One unit that cannot go back must not stop the others."""

        def guarded(step: _Step) -> _Step:
            if step.report:
                return step
            try:
                return act(step)
            except FileSystemError as error:
                return replace(step, report=unresolved_report(step.state.swap, error), outcome_unknown=True)
            except (LakekeeperError, OSError) as error:
                return replace(step, report=unresolved_report(step.state.swap, error))

        return guarded

    def _prepare(self, step: _Step) -> _Step:
        self._executor.prepare(step.state.swap, self._on_new_data)
        return replace(step, note=self._executor.unlike(step.state.swap))

    def _return(self, step: _Step) -> _Step:
        return replace(step, result=self._executor.finish(step.state.swap))

    def _record(self, kind: str, steps: Sequence[_Step]) -> None:
        """Journaled first, tidied up then: a crash in between leaves only what the next one deletes."""
        ended = [(step.state.swap, step.result) for step in steps if step.result and step.result.kind == kind]
        if not ended:
            return
        self.entered.journal.append(kind, units=[result.body(swap) for swap, result in ended])
        for swap, _ in ended:
            self._executor.delete_rewritten(swap)

    def _report(self, step: _Step, seconds: float) -> UnitReport:
        report = step.report or self._ended(step, seconds)
        reason = f": {report.reason}" if report.reason else ""
        log.info("%s: %s%s", step.state.swap.unit, report.outcome, reason)
        return report

    def _ended(self, step: _Step, seconds: float) -> UnitReport:
        swap, result = step.state.swap, step.result
        assert result is not None
        if result.kind != journal.ROLLED_BACK:
            return UnitReport.of(swap.unit.to_json(), UnitOutcome.FAILED, reason=result.problem)
        return restored_report(swap, result.moved_files, seconds, step.note)


def restored_report(swap: Swap, moved_files: int, seconds: float, note: str | None) -> UnitReport:
    """The line of a unit whose originals are back."""
    added = f"{moved_files} files that were added since stay in the table" if moved_files else None
    return UnitReport(
        unit=swap.unit.to_json(),
        outcome=UnitOutcome.RESTORED,
        reason="; ".join(text for text in (added, note) if text) or None,
        files=len(swap.compacted.data) + moved_files,
        bytes=swap.compacted.bytes,
        files_after=len(swap.originals.data) + moved_files,
        bytes_after=swap.originals.bytes,
        rows=swap.rows,
        seconds=round(seconds, 3),
    )
