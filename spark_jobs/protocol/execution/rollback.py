"""The rollback of a run by the reverse swap.

A unit is rolled back only if its live directory is still the one that the run put there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from spark_jobs.core.records import journal
from spark_jobs.core.records.journal import UnitState
from spark_jobs.core.records.swap import Swap
from spark_jobs.protocol.execution.ending import EndingWork
from spark_jobs.protocol.execution.recovery import Recovery
from spark_jobs.protocol.execution.unit_results import UnitResult, restored, unresolved
from spark_jobs.protocol.file_system import FileSystemError
from spark_jobs.protocol.ports import Pool
from spark_jobs.protocol.runs.journal_store import Run
from spark_jobs.protocol.runs.working_directories import WorkingDirectories
from spark_jobs.protocol.services import Services
from spark_jobs.protocol.swap.leftovers import delete_rewritten
from spark_jobs.protocol.swap.reverse import ReverseSwap
from spark_jobs.protocol.swap.swap_executor import SwapResult


@dataclass(frozen=True)
class _Ready:
    """A unit whose originals may be moved back.

    Attributes:
        note: a hint for the report.
        started: when its check began, by the monotonic clock in seconds.
        live_missing: the metastore has the unit, and its live directory does not exist.
    """

    swap: Swap
    note: str | None
    started: float
    live_missing: bool

    @property
    def intent(self) -> dict[str, object]:
        """Return the unit's part of the record that announces the renames."""
        missing = {"live_missing": True} if self.live_missing else {}
        return {"unit": self.swap.unit.key, **missing}


class Rollback(EndingWork[_Ready]):
    """The restoration of the originals of one run directory.

    Args:
        newer: in a dry run, by live directory the newer run that still has to be taken back, so that what is live does
            not count yet.
    """

    def __init__(
        self,
        services: Services,
        run: Run,
        recovery: Recovery,
        on_new_data: str,
        newer: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        super().__init__(services, run, recovery)
        self._newer = newer
        self._on_new_data = on_new_data
        self._directories = WorkingDirectories(services.fs)

    @property
    def _executor(self) -> ReverseSwap:
        return ReverseSwap(self.services, self.entered, self.recovery.policy)

    def announced(self, item: UnitState) -> str:
        newer = self._newer.get(item.swap.live)
        condition = f", if run {newer} has been taken back before" if newer else ""
        return f"its originals of run {self.entered.run_id} would be restored{condition}"

    def check(self, item: UnitState) -> None:
        """Raise an error if the originals cannot be moved back."""
        if item.swap.live in self._newer:
            self._executor.check_originals(item.swap)
        else:
            self._executor.prepare(item.swap, self._on_new_data)

    def prepare(self, item: UnitState) -> _Ready:
        started = self.services.clock.monotonic()
        missing = self._executor.prepare(item.swap, self._on_new_data)
        aside = self.entered.path(item.swap.aside)
        self._directories.create_above(aside, self.entered.directory, item.swap.live)
        return _Ready(item.swap, self._executor.changed_attributes_note(item.swap), started, missing)

    def not_prepared(self, item: UnitState, error: Exception) -> UnitResult:
        return self._failed(item.swap, error)

    def journal_intent(self, ready: Sequence[_Ready]) -> None:
        self.entered.journal.append(journal.ROLLBACK_PREPARED, units=[item.intent for item in ready])

    def act(self, ready: _Ready) -> UnitResult:
        executor = ReverseSwap(self.services, self.entered, self.recovery.policy, ready.live_missing)
        return self._restored(ready, executor.finish(ready.swap))

    def not_acted(self, ready: _Ready, error: Exception) -> UnitResult:
        return self._failed(ready.swap, error)

    def _failed(self, swap: Swap, error: Exception) -> UnitResult:
        unknown = isinstance(error, FileSystemError)
        return unresolved(swap, error, self.recovery.policy.target, self.entered.run_id, unknown=unknown)

    def journaled(self, pool: Pool, ready: Sequence[_Ready], results: Sequence[UnitResult]) -> None:
        """Delete the rewritten directories, after the results were journaled.

        After a crash in between, the next recovery deletes what is left.
        """
        ended = [item.swap for item, result in zip(ready, results) if result.kind]
        delete_rewritten(self.services.fs, self.entered.directory, ended, pool.map)

    def recovered(self, ready: _Ready, result: UnitResult, swapped: SwapResult | None) -> UnitResult:
        return self._restored(ready, swapped) if swapped else result

    def _restored(self, ready: _Ready, result: SwapResult) -> UnitResult:
        seconds = self.services.clock.monotonic() - ready.started
        return restored(ready.swap, result, seconds, ready.note)
