"""The decision, before each wave, which units are still begun: the deadline, and the limits of the job."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime

from spark_jobs.core.planning.job_limits import JobLimits
from spark_jobs.core.planning.pace import too_late
from spark_jobs.core.planning.unit_plan import UnitPlan
from spark_jobs.core.values.progress import NONE, Amount
from spark_jobs.protocol.services import Services

#: Divides units into waves.
Divide = Callable[[Sequence[UnitPlan]], Iterable[Sequence[UnitPlan]]]


class Schedule:
    """The waves of a compaction. The unit that is not begun costs nothing, and the next job takes it first.

    Attributes:
        not_begun: by unit key, why the unit is not begun.
    """

    def __init__(self, services: Services, deadline: datetime | None, limits: JobLimits) -> None:
        self.not_begun: dict[str, str] = {}
        self._compacted: frozenset[str] = frozenset()
        self._services = services
        self._deadline = deadline
        self._limits = limits

    def waves(self, units: Sequence[UnitPlan], at_once: int, divide: Divide) -> Iterator[Sequence[UnitPlan]]:
        """Divide the units into waves, each when the one before it has ended. Units that are not begun come last.

        Args:
            at_once: the number of units that are processed at the same time.
        """
        left = list(units)
        while left:
            chosen = self._to_begin(left, at_once)
            wave = next(iter(divide(chosen)), [])
            if not wave:
                self._leave(left)
                yield left
                return
            yield from self._timed(wave)
            begun = {unit.unit.key for unit in wave}
            whole = chosen is left
            left = left[len(wave) :] if whole else [unit for unit in left if unit.unit.key not in begun]

    def _to_begin(self, left: Sequence[UnitPlan], at_once: int) -> Sequence[UnitPlan]:
        return self._limits.fitting(left, self._deadline, self._services.now(), at_once)

    def _leave(self, units: Iterable[UnitPlan]) -> None:
        why = self._limits.stopped or (too_late(self._deadline) if self._deadline else "")
        self.not_begun.update({unit.unit.key: why for unit in units})

    def _timed(self, wave: Sequence[UnitPlan]) -> Iterator[Sequence[UnitPlan]]:
        """Yield a wave, and learn from it how fast the job is. The caller asks for the next one when it has ended.

        Only units that were compacted count: one that was refused by its footers took no time.
        """
        clock = self._services.clock
        began = clock.monotonic()
        yield wave
        done = [unit for unit in wave if unit.unit.key in self._compacted]
        if done:
            amount = sum((unit.amount or Amount() for unit in done), NONE)
            self._limits.pace = self._limits.pace.plus(amount, clock.monotonic() - began)

    def ended(self, compacted: Iterable[str]) -> None:
        """Take note of the units, by their keys, that the last wave has compacted."""
        self._compacted = frozenset(compacted)
