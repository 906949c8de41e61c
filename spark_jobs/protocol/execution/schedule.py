"""The waves of a compaction: before each one, the admission says which units may still begin."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from spark_jobs.core.planning.unit_plan import UnitPlan
from spark_jobs.core.values.amount import NONE, Amount
from spark_jobs.protocol.execution.job_admission import JobAdmission
from spark_jobs.protocol.services import Services

#: Divides units into waves.
Divide = Callable[[Sequence[UnitPlan]], Iterable[Sequence[UnitPlan]]]


class Schedule:
    """The waves of a compaction."""

    def __init__(self, services: Services, admission: JobAdmission) -> None:
        self._compacted: frozenset[str] = frozenset()
        self._services = services
        self._admission = admission

    def waves(self, units: Sequence[UnitPlan], at_once: int, divide: Divide) -> Iterator[Sequence[UnitPlan]]:
        """Divide the units into waves, each when the one before it has ended. Those that are deferred come last.

        Args:
            at_once: the number of units that are processed at the same time.
        """
        left = list(units)
        while left:
            chosen = self._admission.now.wave(left, self._services.now(), at_once)
            wave = next(iter(divide(chosen)), [])
            if not wave:
                yield self._admission.now.not_begun(left)
                return
            yield from self._timed(wave)
            begun = {unit.unit.key for unit in wave}
            whole = chosen is left
            left = left[len(wave) :] if whole else [unit for unit in left if unit.unit.key not in begun]

    def _timed(self, wave: Sequence[UnitPlan]) -> Iterator[Sequence[UnitPlan]]:
        """Yield a wave, and learn from it how fast the job is. The caller asks for the next one when it has ended.

        Only units that were compacted count: one that was refused by its footers took no time.
        """
        clock = self._services.clock
        began = clock.monotonic()
        yield wave
        done = [unit for unit in wave if unit.unit.key in self._compacted]
        if done:
            amount, seconds = sum((unit.amount or Amount() for unit in done), NONE), clock.monotonic() - began
            self._admission.update(lambda admission: admission.timed(amount, seconds))

    def ended(self, compacted: Iterable[str]) -> None:
        """Take note of the units, by their keys, that the last wave has compacted."""
        self._compacted = frozenset(compacted)
