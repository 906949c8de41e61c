"""The recovery of runs that were interrupted. It comes before anything else is done to the table."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field

from spark_jobs.core.messages.errors import LakekeeperError
from spark_jobs.core.messages.warning_codes import WarningCode
from spark_jobs.core.records import journal
from spark_jobs.core.records.journal import UnitState
from spark_jobs.core.records.swap import Swap
from spark_jobs.core.records.swap_state import SwapState
from spark_jobs.core.values.layout import is_below, is_tmp_directory
from spark_jobs.core.wire.report import UnitReport
from spark_jobs.protocol.execution.unit_results import unresolved
from spark_jobs.protocol.file_system import DataDirectories, FileSystemError
from spark_jobs.protocol.runs.journal_store import Run
from spark_jobs.protocol.runs.lease import LeaseSet
from spark_jobs.protocol.runs.run_lifecycle import enter, take_over
from spark_jobs.protocol.runs.working_directories import WorkingDirectories
from spark_jobs.protocol.services import Services
from spark_jobs.protocol.swap.direction import executor_of
from spark_jobs.protocol.swap.leftovers import delete_rewritten
from spark_jobs.protocol.swap.policy import SwapPolicy
from spark_jobs.protocol.swap.swap_executor import SwapExecutor, SwapResult

log = logging.getLogger("lakekeeper")


#: The number of recoveries of a run in one job, while the effect of a call is unknown. Then the next job continues.
_MAX_RECOVERIES = 3


@dataclass
class RecoveredRun:
    """A run after its recovery.

    Attributes:
        ready: the units that are written and verified, and not yet swapped.
        unresolved: the units whose intent stays open.
        results: the results of the other units that had an open intent, by unit key.
        outcome_unknown: a call failed, and the server may still execute it.
    """

    run: Run
    ready: list[Swap] = field(default_factory=list)
    unresolved: list[UnitReport] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    results: dict[str, SwapResult] = field(default_factory=dict)
    outcome_unknown: bool = False


class Recovery:
    """The recovery of one run at a time.

    It takes the run over, and finishes each unit whose intent is open, or reports why the intent stays open.
    """

    def __init__(self, services: Services, leases: LeaseSet, policy: SwapPolicy, verb: str) -> None:
        self.policy = policy
        self._services = services
        self._leases = leases
        self._verb = verb

    def run(self, unfinished: Run, resume: bool = False) -> RecoveredRun:
        """Recover a run, whose lease must be held.

        Args:
            resume: keep the units that are ready to be swapped. Otherwise they are discarded.
        """
        recovered, results = self._recover_once(unfinished, resume), {}
        for _ in range(_MAX_RECOVERIES - 1):
            if not recovered.outcome_unknown:
                break
            results.update(recovered.results)
            recovered = self._recover_once(recovered.run, resume)
        recovered.results = {**results, **recovered.results}
        return recovered

    def _recover_once(self, unfinished: Run, resume: bool) -> RecoveredRun:
        """Recover a run once.

        The run's directory is renamed first. This fences off earlier attempts, and calls that a server executes late.
        """
        taken = take_over(self._services.fs, unfinished)
        self._make_directories(taken)
        recovered = RecoveredRun(enter(taken, self._leases, self._verb))
        units = recovered.run.state.units.values()
        ended = [unit.swap for unit in units if _has_ended(unit)]
        delete_rewritten(self._services.fs, recovered.run.directory, ended)
        for unit in recovered.run.state.of_kind(*journal.INTENTS):
            self._recover_unit(recovered, unit, resume)
        self._delete_unprepared(recovered)
        return recovered

    def _make_directories(self, run: Run) -> None:
        """Create every directory that a rename may need.

        This is done before the ENTERED record, which an attempt that is fenced off cannot publish.
        """
        directories = WorkingDirectories(self._services.fs)
        for swap in (unit.swap for unit in run.state.of_kind(*journal.INTENTS)):
            for path in (swap.aside, swap.old):
                directories.create_above(run.path(path), run.directory, swap.live)

    def _recover_unit(self, recovered: RecoveredRun, unit: UnitState, resume: bool) -> None:
        try:
            self._finish_open_unit(recovered, unit, resume)
        except FileSystemError as error:
            recovered.outcome_unknown = True
            recovered.unresolved.append(self._unresolved(recovered.run, unit.swap, error))
        except (LakekeeperError, OSError) as error:
            recovered.unresolved.append(self._unresolved(recovered.run, unit.swap, error))

    def _unresolved(self, run: Run, swap: Swap, error: Exception) -> UnitReport:
        return unresolved(swap, error, self.policy.target, run.run_id).report

    def _finish_open_unit(self, recovered: RecoveredRun, unit: UnitState, resume: bool) -> None:
        executor, swap = self._executor(recovered.run, unit), unit.swap
        where = executor.paths(swap).look()
        if resume and unit.kind == journal.PREPARED and where is SwapState.NOT_SWAPPED:
            recovered.ready.append(swap)
            return
        result = executor.finish(swap)
        record(self._services.fs, recovered.run, swap, result)
        recovered.results[swap.unit.key] = result
        interrupted = f"run {recovered.run.run_id} was interrupted (state: {where.value})"
        text = f"{swap.unit}: {interrupted}; {_describe_result(result)}"
        recovered.notes.append(WarningCode.RUN_RECOVERED.text(text))
        log.info(text)

    def _executor(self, run: Run, unit: UnitState) -> SwapExecutor:
        return executor_of(self._services, run, unit, self.policy)

    def _delete_unprepared(self, recovered: RecoveredRun) -> None:
        """Delete directories that were written but not prepared: they never were live, and only this run uses them.

        No later step depends on it, and no later write has the same path. So an error is logged: it must not keep the
        table from being compacted or rolled back.
        """
        try:
            self._delete_tmp(recovered)
        except OSError as error:
            log.warning(
                "did not delete all unused files that were written in %s: %s", recovered.run.directory, error
            )

    def _delete_tmp(self, recovered: RecoveredRun) -> None:
        kept = {recovered.run.path(unit.swap.new) for unit in recovered.run.state.units.values()}
        for entry in self._services.fs.list(recovered.run.directory):
            if entry.is_dir and is_tmp_directory(entry.name):
                self._delete_except(entry.path, kept)

    def _delete_except(self, directory: str, kept: set[str]) -> None:
        if directory in kept:
            return
        if not any(is_below(path, directory) for path in kept):
            self._services.fs.delete_tree(directory)
            return
        for entry in self._services.fs.list(directory):
            if entry.is_dir:
                self._delete_except(entry.path, kept)


def _has_ended(unit: UnitState) -> bool:
    """Tell whether a unit has no intent, so that its rewritten directory is not needed where it is not live."""
    if unit.forgotten:  # guard: forgotten_left_alone
        return False
    return unit.kind not in journal.INTENTS


def record(fs: DataDirectories, run: Run, swap: Swap, result: SwapResult) -> None:
    """Journal the result, and only then delete what is no longer needed.

    After a crash in between, a later recovery completes the deletion.
    """
    run.journal.append(result.kind, units=[result.body(swap)])
    if result.kind != journal.COMMITTED or result.problem:
        delete_rewritten(fs, run.directory, [swap])


_RESULT_TEXTS = {
    journal.COMMITTED: "the unit is compacted",
    journal.DISCARDED: "the unit is not compacted",
    journal.ROLLED_BACK: "the originals are restored",
}


def _describe_result(result: SwapResult) -> str:
    return f"{_RESULT_TEXTS[result.kind]}{f' ({result.problem})' if result.problem else ''}"
