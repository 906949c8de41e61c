"""What a rollback and a cleanup share: both end units of a run that a compaction has swapped."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TypeVar

from spark_jobs.core.messages.outcomes import UnitOutcome
from spark_jobs.core.records.journal import UnitState
from spark_jobs.protocol.execution.unit_results import UnitResult, not_deleted
from spark_jobs.protocol.execution.waves import UnitWork

Ready = TypeVar("Ready")


class EndingWork(UnitWork[UnitState, Ready]):
    """The end of units of one run directory."""

    #: Nothing is written for a unit, so that a kill loses no work.
    units_per_thread = 16

    @abstractmethod
    def check(self, item: UnitState) -> object:
        """Raise an error if the unit cannot be ended. Nothing is changed."""

    @abstractmethod
    def announced(self, item: UnitState) -> str:
        """Return what would be done with a unit, for a dry run."""

    def would(self, units: Sequence[UnitState], parallelism: int) -> list[UnitResult]:
        """Return what the work would do. Nothing is changed."""
        with self.services.pool(parallelism) as pool:
            return list(pool.map(self._would, units))

    def _would(self, item: UnitState) -> UnitResult:
        try:
            self.check(item)
        except Exception as error:
            return self.not_prepared(item, error)
        return not_deleted(item.swap, UnitOutcome.FLAGGED, f"dry run: {self.announced(item)}")
