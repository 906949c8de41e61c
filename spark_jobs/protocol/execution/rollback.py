"""Rolls a run back: the mirrored swap, only where the live directory is still the one that the run put there."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from spark_jobs.core import journal
from spark_jobs.core.errors import LakekeeperError
from spark_jobs.core.journal import Swap, UnitState
from spark_jobs.core.wire import UnitReport
from spark_jobs.protocol.execution.recovery import Settlement, stuck_report
from spark_jobs.protocol.ports import FileSystemError, Pool
from spark_jobs.protocol.runs.journal_store import Run
from spark_jobs.protocol.services import Services
from spark_jobs.protocol.swap.reverse import Returning
from spark_jobs.protocol.swap.swap_executor import Verdict

log = logging.getLogger("lakekeeper")


@dataclass(frozen=True)
class _Step:
    """One unit on its way back; `report` is set where the way ended early, `verdict` where it came to rest; `note` is
    what a person should know. `doubtful`: a call failed, and the server may still carry it out."""

    state: UnitState
    report: UnitReport | None = None
    verdict: Verdict | None = None
    note: str | None = None
    doubtful: bool = False


class Restoration:
    """Puts the originals of one run folder back. The run must have been `entered`; its folder gets another name where
    a server's answer left in doubt what it does."""

    def __init__(self, cluster: Services, run: Run, settlement: Settlement, on_new_data: str) -> None:
        self.entered = run
        self._cluster = cluster
        self._settlement = settlement
        self._on_new_data = on_new_data

    @property
    def _executor(self) -> Returning:
        return Returning(self._cluster, self.entered, self._settlement.policy)

    def run(self, units: Sequence[UnitState], parallelism: int) -> list[UnitReport]:
        """Waves of units side by side: one record before and one after serve a whole wave."""
        reports: list[UnitReport] = []
        wave = parallelism * 4
        with self._cluster.pool(parallelism) as pool:
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
        if any(step.doubtful for step in steps):
            steps = self._settled(steps)
        return [self._report(step, time.monotonic() - started) for step in steps]

    def _settled(self, steps: Sequence[_Step]) -> list[_Step]:
        """As in a compaction: nothing is certain before the run's folder has another name."""
        settled = self._settlement.run(self.entered)
        self.entered = settled.run
        found = [(step, settled.verdicts.get(step.state.swap.unit.key)) for step in steps]
        return [
            replace(step, report=None, verdict=verdict) if step.doubtful and verdict else step
            for step, verdict in found
        ]

    def _step(self, act: Callable[[_Step], _Step]) -> Callable[[_Step], _Step]:
        """One unit that cannot go back must not stop the others."""

        def guarded(step: _Step) -> _Step:
            if step.report:
                return step
            try:
                return act(step)
            except FileSystemError as error:
                return replace(step, report=stuck_report(step.state.swap, error), doubtful=True)
            except (LakekeeperError, OSError) as error:
                return replace(step, report=stuck_report(step.state.swap, error))

        return guarded

    def _prepare(self, step: _Step) -> _Step:
        self._executor.prepare(step.state.swap, self._on_new_data)
        return replace(step, note=self._executor.unlike(step.state.swap))

    def _return(self, step: _Step) -> _Step:
        return replace(step, verdict=self._executor.settle(step.state.swap))

    def _record(self, kind: str, steps: Sequence[_Step]) -> None:
        """Journaled first, tidied up then: a crash in between leaves only what the next one deletes."""
        ended = [
            (step.state.swap, step.verdict) for step in steps if step.verdict and step.verdict.kind == kind
        ]
        if not ended:
            return
        self.entered.journal.append(kind, units=[verdict.body(swap) for swap, verdict in ended])
        for swap, _ in ended:
            self._executor.tidy(swap)

    def _report(self, step: _Step, seconds: float) -> UnitReport:
        report = step.report or self._ended(step, seconds)
        reason = f": {report.reason}" if report.reason else ""
        log.info("%s: %s%s", step.state.swap.unit, report.outcome, reason)
        return report

    def _ended(self, step: _Step, seconds: float) -> UnitReport:
        swap, verdict = step.state.swap, step.verdict
        assert verdict is not None
        if verdict.kind != journal.ROLLED_BACK:
            return UnitReport.of(swap.unit.to_json(), "failed", reason=verdict.problem)
        return restored_report(swap, verdict.carried, seconds, step.note)


def restored_report(swap: Swap, carried: int, seconds: float, note: str | None) -> UnitReport:
    """The line of a unit whose originals are back."""
    added = f"{carried} files that were added since stay in the table" if carried else None
    return UnitReport(
        unit=swap.unit.to_json(),
        outcome="restored",
        reason="; ".join(text for text in (added, note) if text) or None,
        files=len(swap.compacted.data) + carried,
        bytes=swap.compacted.bytes,
        files_after=len(swap.originals.data) + carried,
        bytes_after=swap.originals.bytes,
        rows=swap.rows,
        seconds=round(seconds, 3),
    )
