"""Recovery: finishes runs that were interrupted, before anything else is done to the table."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field

from spark_jobs.core import journal
from spark_jobs.core.errors import LakekeeperError
from spark_jobs.core.journal import Swap, UnitState
from spark_jobs.core.layout import is_below, is_tmp_folder
from spark_jobs.core.model import parent
from spark_jobs.core.swap_state import SwapState
from spark_jobs.core.wire import UnitReport
from spark_jobs.protocol.execution.unit_results import unresolved
from spark_jobs.protocol.file_system import FileSystemError
from spark_jobs.protocol.runs.journal_store import Run
from spark_jobs.protocol.runs.lease import LeaseSet
from spark_jobs.protocol.runs.run_lifecycle import enter, take_over
from spark_jobs.protocol.services import Services
from spark_jobs.protocol.swap.forward import ForwardSwap
from spark_jobs.protocol.swap.reverse import ReverseSwap
from spark_jobs.protocol.swap.swap_executor import SwapExecutor, SwapPolicy, SwapResult

log = logging.getLogger("lakekeeper")


#: How often a recovery is repeated because the effect of a call is unknown; then the next job continues.
_ATTEMPTS = 3


@dataclass
class RecoveredRun:
    """A run after its recovery.

    Attributes:
        ready: units that are written and verified, and not yet swapped.
        unresolved: units whose intent stays open.
        results: of the other open units, by unit key.
        outcome_unknown: a call failed, and the server may still carry it out.
    """

    run: Run
    ready: list[Swap] = field(default_factory=list)
    unresolved: list[UnitReport] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    results: dict[str, SwapResult] = field(default_factory=dict)
    outcome_unknown: bool = False


class Recovery:
    """Takes one run over, and finishes every open unit of it, or reports why it stays open."""

    def __init__(self, services: Services, leases: LeaseSet, policy: SwapPolicy, verb: str) -> None:
        self.policy = policy
        self._services = services
        self._leases = leases
        self._verb = verb

    def run(self, found: Run, resume: bool = False) -> RecoveredRun:
        """Recover a run; its lease must be held. `resume` keeps units that are ready to be swapped; else they are
        discarded."""
        recovered, results = self._run(found, resume), {}
        for _ in range(_ATTEMPTS - 1):
            if not recovered.outcome_unknown:
                break
            results.update(recovered.results)
            recovered = self._run(recovered.run, resume)
        recovered.results = {**results, **recovered.results}
        return recovered

    def _run(self, found: Run, resume: bool) -> RecoveredRun:
        """Renaming the run's directory fences off earlier attempts, and calls that a server carries out late."""
        taken = take_over(self._services.fs, found)
        self._make_folders(taken)
        recovered = RecoveredRun(enter(taken, self._leases, self._verb))
        for unit in recovered.run.state.units.values():
            self._unit(recovered, unit, resume)
        self._clear(recovered)
        return recovered

    def _make_folders(self, run: Run) -> None:
        """Create every directory that a rename may need, before the record that a fenced attempt cannot publish."""
        open_units = [unit.swap for unit in run.state.of_kind(*journal.INTENTS)]
        needed = {parent(run.path(path)) for swap in open_units for path in (swap.aside, swap.old)}
        for folder in sorted(needed):
            self._services.fs.mkdirs(folder)

    def _unit(self, recovered: RecoveredRun, unit: UnitState, resume: bool) -> None:
        if unit.kind not in journal.INTENTS:
            self._executor(recovered.run, unit).delete_rewritten(unit.swap)
            return
        try:
            self._open_unit(recovered, unit, resume)
        except FileSystemError as error:
            recovered.outcome_unknown = True
            recovered.unresolved.append(unresolved(unit.swap, error).report)
        except (LakekeeperError, OSError) as error:
            recovered.unresolved.append(unresolved(unit.swap, error).report)

    def _open_unit(self, recovered: RecoveredRun, unit: UnitState, resume: bool) -> None:
        executor, swap = self._executor(recovered.run, unit), unit.swap
        where = executor.paths(swap).look()
        if resume and unit.kind == journal.PREPARED and where is SwapState.NOT_SWAPPED:
            recovered.ready.append(swap)
            return
        result = executor.finish(swap)
        record(recovered.run, executor, swap, result)
        recovered.results[swap.unit.key] = result
        recovered.notes.append(
            f"{swap.unit}: run {recovered.run.run_id} had stopped {where.value}; {_now(result)}"
        )
        log.info(recovered.notes[-1])

    def _executor(self, run: Run, unit: UnitState) -> SwapExecutor:
        backwards = unit.kind in (journal.ROLLBACK_PREPARED, journal.ROLLED_BACK)
        return (ReverseSwap if backwards else ForwardSwap)(self._services, run, self.policy)

    def _clear(self, recovered: RecoveredRun) -> None:
        """Delete what was written and never prepared: it never was live, and is in a directory of this run alone."""
        kept = {recovered.run.path(unit.swap.new) for unit in recovered.run.state.units.values()}
        for entry in self._services.fs.list(recovered.run.folder):
            if entry.is_dir and is_tmp_folder(entry.name):
                self._prune(entry.path, kept)

    def _prune(self, folder: str, kept: set[str]) -> None:
        if folder in kept:
            return
        if not any(is_below(path, folder) for path in kept):
            self._services.fs.delete_tree(folder)
            return
        for entry in self._services.fs.list(folder):
            if entry.is_dir:
                self._prune(entry.path, kept)


def record(run: Run, executor: SwapExecutor, swap: Swap, result: SwapResult) -> None:
    """Journal the result, and only then delete what is not needed any more: a crash in between is completed later."""
    run.journal.append(result.kind, units=[result.body(swap)])
    if result.kind != journal.COMMITTED or result.problem:
        executor.delete_rewritten(swap)


_NOW = {
    journal.COMMITTED: "it is compacted",
    journal.DISCARDED: "it is as it was",
    journal.ROLLED_BACK: "its originals are back",
}


def _now(result: SwapResult) -> str:
    return f"{_NOW[result.kind]}{f' ({result.problem})' if result.problem else ''}"
