"""The runner of one verb on the units of a run, wave by wave. A wave needs one journal record before it and one after.

First each unit is prepared (nothing is moved yet). Then the units that are ready are journaled. Then the verb acts on
each of them. Then the results are journaled. A unit that fails never stops the others.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Generic, TypeVar

from spark_jobs.core.values.amount import NONE, Amount
from spark_jobs.protocol.execution.recovery import Recovery
from spark_jobs.protocol.execution.unit_results import UnitResult, describe
from spark_jobs.protocol.measuring.progress import Progress
from spark_jobs.protocol.ports import Pool
from spark_jobs.protocol.runs.journal_store import Run
from spark_jobs.protocol.services import Services
from spark_jobs.protocol.swap.swap_executor import SwapResult

log = logging.getLogger("lakekeeper")

Item = TypeVar("Item")
Ready = TypeVar("Ready")


class UnitWork(ABC, Generic[Item, Ready]):
    """The work of a verb on the units of one run directory. The run must have been entered.

    Attributes:
        units_per_thread: the size of a wave is this number times `parallelism`: few records are written, and a kill
            loses little work.
    """

    units_per_thread = 4

    def __init__(self, services: Services, run: Run, recovery: Recovery) -> None:
        #: Replaced when the directory is renamed, because the effect of a call was unknown.
        self.entered = run
        self.services = services
        self.recovery = recovery

    def waves(self, items: Sequence[Item], parallelism: int) -> Iterable[Sequence[Item]]:
        """Divide the units into waves: few records are written, and a kill loses little work."""
        size = parallelism * self.units_per_thread
        return (items[start : start + size] for start in range(0, len(items), size))

    def amount(self, item: Item) -> Amount:  # noqa: ARG002
        """Return how much work a unit is. By default only the unit counts."""
        return Amount()

    def prepare_wave(self, pool: Pool, items: Sequence[Item]) -> list[Ready | UnitResult]:
        """Prepare the units of a wave. Return the result of a unit that was called off, else what `act` needs."""
        return list(pool.map(self._prepare_or_call_off, items))

    def _prepare_or_call_off(self, item: Item) -> Ready | UnitResult:
        try:
            return self.prepare(item)
        except Exception as error:
            return self.not_prepared(item, error)

    @abstractmethod
    def prepare(self, item: Item) -> Ready | UnitResult:
        """Do all that must be done before anything is moved. Return a result, or raise an error, to call it off."""

    @abstractmethod
    def not_prepared(self, item: Item, error: Exception) -> UnitResult:
        """Return the result of a unit that was called off, and delete what was written for it."""

    @abstractmethod
    def journal_intent(self, ready: Sequence[Ready]) -> None:
        """Publish the record that announces what `act` will do."""

    def start_acting(self) -> None:
        """Prepare what the units of a wave share. Called once for each wave, directly before its first `act`."""

    @abstractmethod
    def act(self, ready: Ready) -> UnitResult:
        """Do what was announced for a unit, and return its result. Raise an error if it fails."""

    @abstractmethod
    def not_acted(self, ready: Ready, error: Exception) -> UnitResult:
        """Return the result of a unit whose `act` failed, with `outcome_unknown` if the effect of a call is unknown."""

    def journaled(self, pool: Pool, ready: Sequence[Ready], results: Sequence[UnitResult]) -> None:
        """Do what must follow the journal records of these results. Called once for each wave, after publication."""

    def ended(self, results: Sequence[UnitResult]) -> None:
        """Take note of the results of a wave, before the next one is asked for."""

    def recovered(self, ready: Ready, result: UnitResult, swapped: SwapResult | None) -> UnitResult:  # noqa: ARG002
        """Return the result of a unit whose outcome was unknown. By default it is left to the next job.

        Args:
            swapped: what the recovery did with the unit. It is journaled already.
        """
        return result


class Waves(Generic[Item, Ready]):
    """The execution of a work on units, of which `parallelism` are processed at the same time."""

    def __init__(self, work: UnitWork[Item, Ready], parallelism: int) -> None:
        self._work = work
        self._parallelism = parallelism
        self._done = self._total = 0
        self._progress = Progress(NONE, 0)

    def run(self, items: Sequence[Item], ready: Sequence[Ready] = ()) -> list[UnitResult]:
        """Return the result of each unit. Those in `ready` are prepared and journaled already."""
        self._total = len(items) + len(ready)
        with self._work.services.pool(self._parallelism) as pool:
            results = self._act(pool, ready, ())
            self._work.ended(results)
            # Only what is still to be prepared takes long, so only that is measured.
            self._progress = Progress(sum(map(self._work.amount, items), NONE), self._now())
            for wave in self._work.waves(items, self._parallelism):
                results += self._run_wave(pool, wave)
        return results

    def _run_wave(self, pool: Pool, items: Sequence[Item]) -> list[UnitResult]:
        prepared = self._work.prepare_wave(pool, items)
        ready = [step for step in prepared if not isinstance(step, UnitResult)]
        called_off = [step for step in prepared if isinstance(step, UnitResult)]
        self._log_progress(called_off)
        if ready:
            with self._work.services.phases.during("swap"):
                self._work.journal_intent(ready)
        acted = iter(self._act(pool, ready, called_off))
        results = [step if isinstance(step, UnitResult) else next(acted) for step in prepared]
        self._work.ended(results)
        return results

    def _act(self, pool: Pool, ready: Sequence[Ready], called_off: Sequence[UnitResult]) -> list[UnitResult]:
        with self._work.services.phases.during("swap"):
            self._work.start_acting()
            results = list(pool.map(self._act_on, ready))
            self._journal(results)
            self._work.journaled(pool, ready, results)
        if any(result.outcome_unknown for result in [*called_off, *results]):
            results = self._recover(ready, results)
        self._log_progress(results)
        return results

    def _act_on(self, ready: Ready) -> UnitResult:
        try:
            return self._work.act(ready)
        except Exception as error:
            return self._work.not_acted(ready, error)

    def _journal(self, results: Sequence[UnitResult]) -> None:
        kinds = dict.fromkeys(result.kind for result in results if result.kind)
        for kind in kinds:
            units = [result.record for result in results if result.kind == kind]
            self._work.entered.journal.append(kind, units=units)

    def _recover(self, ready: Sequence[Ready], results: Sequence[UnitResult]) -> list[UnitResult]:
        """Recover the run, and return the results, also of units whose outcome was unknown.

        The server may still execute a call that it answered with an error. Then a record about the unit would be wrong.
        The server cannot do so after the recovery has renamed the run's directory, so the swap state is read only then.
        """
        recovered = self._work.recovery.run(self._work.entered)
        self._work.entered = recovered.run
        return [
            self._work.recovered(item, result, recovered.results.get(result.unit_key))
            if result.outcome_unknown
            else result
            for item, result in zip(ready, results)
        ]

    def _log_progress(self, results: Sequence[UnitResult]) -> None:
        for result in results:
            self._done += 1
            log.info("[%d/%d] %s", self._done, self._total, describe(result.report))
            done = Amount(1, result.report.files or 0, result.report.bytes or 0)
            if text := self._progress.add(done, self._now()):
                log.info("progress: %s", text)

    def _now(self) -> float:
        return self._work.services.clock.monotonic()
