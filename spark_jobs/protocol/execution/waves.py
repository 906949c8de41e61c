"""Carries out one verb on the units of a run, wave by wave: one journal record before and one after serve a wave.

A unit is prepared (nothing moves yet), then all that are ready are journaled, then each is acted on, then what has
become of them is journaled. One unit that fails never stops the others.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Generic, TypeVar, cast

from spark_jobs.protocol.execution.recovery import Recovery
from spark_jobs.protocol.execution.unit_results import UnitResult, describe
from spark_jobs.protocol.ports import Pool
from spark_jobs.protocol.runs.journal_store import Run
from spark_jobs.protocol.services import Services
from spark_jobs.protocol.swap.swap_executor import SwapResult

log = logging.getLogger("lakekeeper")

Item = TypeVar("Item")
Ready = TypeVar("Ready")
#: Units of a wave, for each that is worked on at the same time: records are few, and a kill costs little.
_UNITS_PER_THREAD = 4


class UnitWork(ABC, Generic[Item, Ready]):
    """What a verb does to the units of one run folder. The run must have been entered."""

    def __init__(self, services: Services, run: Run, recovery: Recovery) -> None:
        #: The folder gets another name where a call's effect was left open.
        self.entered = run
        self.services = services
        self.recovery = recovery

    @abstractmethod
    def prepare(self, item: Item) -> Ready:
        """Do all that must be done before anything moves; raise what calls the unit off."""

    @abstractmethod
    def not_prepared(self, item: Item, error: Exception) -> UnitResult:
        """Return what became of a unit that was called off, and delete what was written for it."""

    @abstractmethod
    def journal_intent(self, ready: Sequence[Ready]) -> None:
        """Publish the record that announces what `act` is going to do."""

    def start_acting(self) -> None:
        """Called once for a wave, right before its units are acted on."""

    @abstractmethod
    def act(self, ready: Ready) -> UnitResult:
        """Carry it out; raise on errors."""

    @abstractmethod
    def not_acted(self, ready: Ready, error: Exception) -> UnitResult:
        """Return what became of a unit whose act failed; `outcome_unknown` where a call's effect is open."""

    def journaled(self, ready: Sequence[Ready], results: Sequence[UnitResult]) -> None:
        """Called once the records of these results are published."""

    def recovered(self, ready: Ready, result: UnitResult, found: SwapResult | None) -> UnitResult:  # noqa: ARG002
        """Return what became of a unit whose outcome was unknown; `found` is what the recovery did to it, and is
        journaled already. By default it is left to the next job."""
        return result


class Waves(Generic[Item, Ready]):
    """Runs a work on units, so many at the same time."""

    def __init__(self, work: UnitWork[Item, Ready], parallelism: int) -> None:
        self._work = work
        self._parallelism = parallelism
        self._done = self._total = 0

    def run(self, items: Sequence[Item], ready: Sequence[Ready] = ()) -> list[UnitResult]:
        """Return what became of each unit; `ready` ones are prepared and journaled already."""
        size, self._total = self._parallelism * _UNITS_PER_THREAD, len(items) + len(ready)
        with self._work.services.pool(self._parallelism) as pool:
            results = self._act(pool, ready, ())
            for start in range(0, len(items), size):
                results += self._wave(pool, items[start : start + size])
        return results

    def _wave(self, pool: Pool, items: Sequence[Item]) -> list[UnitResult]:
        prepared = list(pool.map(self._prepare, items))
        ready = [cast(Ready, step) for step in prepared if not isinstance(step, UnitResult)]
        called_off = [step for step in prepared if isinstance(step, UnitResult)]
        self._progress(called_off)
        if ready:
            self._work.journal_intent(ready)
        acted = iter(self._act(pool, ready, called_off))
        return [step if isinstance(step, UnitResult) else next(acted) for step in prepared]

    def _prepare(self, item: Item) -> Ready | UnitResult:
        try:
            return self._work.prepare(item)
        except Exception as error:
            return self._work.not_prepared(item, error)

    def _act(self, pool: Pool, ready: Sequence[Ready], called_off: Sequence[UnitResult]) -> list[UnitResult]:
        self._work.start_acting()
        results = list(pool.map(self._act_on, ready))
        self._journal(ready, results)
        if any(result.outcome_unknown for result in [*called_off, *results]):
            results = self._recover(ready, results)
        self._progress(results)
        return results

    def _act_on(self, ready: Ready) -> UnitResult:
        try:
            return self._work.act(ready)
        except Exception as error:
            return self._work.not_acted(ready, error)

    def _journal(self, ready: Sequence[Ready], results: Sequence[UnitResult]) -> None:
        kinds = dict.fromkeys(result.kind for result in results if result.kind)
        for kind in kinds:
            units = [result.record for result in results if result.kind == kind]
            self._work.entered.journal.append(kind, units=units)
        self._work.journaled(ready, results)

    def _recover(self, ready: Sequence[Ready], results: Sequence[UnitResult]) -> list[UnitResult]:
        """A record of where a unit is would be wrong as soon as the server carries out what it answered with an error.
        It cannot any more once the run's folder has another name; only then is the unit looked at."""
        recovered = self._work.recovery.run(self._work.entered)
        self._work.entered = recovered.run
        return [
            self._work.recovered(item, result, recovered.results.get(result.unit_key))
            if result.outcome_unknown
            else result
            for item, result in zip(ready, results)
        ]

    def _progress(self, results: Sequence[UnitResult]) -> None:
        for result in results:
            self._done += 1
            log.info("[%d/%d] %s", self._done, self._total, describe(result.report))
