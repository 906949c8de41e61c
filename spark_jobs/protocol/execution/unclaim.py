"""Moves originals back that a cleanup has claimed and not deleted, so that a rollback can restore them."""

from __future__ import annotations

from collections.abc import Sequence

from spark_jobs.core.messages.errors import DamagedOriginals, LakekeeperError
from spark_jobs.core.records import journal
from spark_jobs.core.records.journal import UnitState
from spark_jobs.core.records.swap import Swap
from spark_jobs.protocol.execution.cleanup import Cleanup
from spark_jobs.protocol.execution.unit_results import UnitResult
from spark_jobs.protocol.runs.working_directories import WorkingDirectories
from spark_jobs.protocol.swap.directories import list_originals
from spark_jobs.protocol.swap.late_files import differences


class Unclaim:
    """Moves the claimed originals of one run back to where the journal has them."""

    def __init__(self, cleanup: Cleanup) -> None:
        self._cleanup = cleanup

    def move_back(self, units: Sequence[UnitState]) -> None:
        """Move originals back that a cleanup claimed and did not delete, and journal them as COMMITTED."""
        fs = self._cleanup.services.fs
        directories = WorkingDirectories(fs)
        for state in units:
            swap = state.swap
            claimed, old = self._cleanup.claimed_path(swap), self._cleanup.entered.path(swap.old)
            whole = fs.identity(claimed) == swap.live_id and not self._damage(swap, claimed)
            if whole:
                directories.create_above(old, self._cleanup.entered.directory, claimed)
                fs.move(claimed, old, swap.live_id)
            if whole or fs.identity(old) == swap.live_id:
                self._cleanup.entered.journal.append(journal.COMMITTED, units=[{"unit": swap.unit.key}])

    def not_moved_back(self, units: Sequence[UnitState]) -> list[UnitResult]:
        """Return a result for each unit whose claimed originals still exist, but not as the journal lists them."""
        results = [self._not_moved_back(item) for item in units]
        return [result for result in results if result is not None]

    def _not_moved_back(self, item: UnitState) -> UnitResult | None:
        try:
            text = self._damage(item.swap, self._cleanup.claimed_path(item.swap))
        except OSError as error:
            return self._cleanup.failed_result(item, error)
        return self._cleanup.failed_result(item, DamagedOriginals(text)) if text else None

    def _damage(self, swap: Swap, claimed: str) -> str | None:
        """Return why what a cleanup has claimed cannot be rolled back; None if it is whole, or does not exist."""
        if self._cleanup.services.fs.status(claimed) is None:
            return None
        try:
            changes = differences(swap.originals, list_originals(self._cleanup.services.fs, claimed))
        except LakekeeperError as error:
            return str(error)
        text = f"{claimed}, which a cleanup has begun to delete, does not hold the originals that the journal lists"
        return f"{text} ({changes}); nothing was moved" if changes else None
