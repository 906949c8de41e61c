"""Settles what an earlier attempt of a run left unfinished: looks where each directory is, then acts."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

from spark_jobs.core import journal
from spark_jobs.core.errors import LakekeeperError, Unsafe
from spark_jobs.core.journal import RunState, Swap
from spark_jobs.core.recovery import Where
from spark_jobs.core.wire import UnitReport
from spark_jobs.shell.cluster import Cluster
from spark_jobs.shell.executor import Executor
from spark_jobs.shell.journal_store import Run
from spark_jobs.shell.restoration import Restoration
from spark_jobs.shell.units import list_unit

log = logging.getLogger("lakekeeper")


class Settlement:
    """Brings every open unit of a run to an end, or leaves it alone and says so.

    The run's folder must have been renamed to the caller's own before: that fences off whoever worked in it.
    """

    def __init__(self, cluster: Cluster, run: Run, locations: Mapping[str, str]) -> None:
        self._cluster = cluster
        self._run = run
        self._locations = locations
        self._executor = Executor(cluster.fs, run.folder)

    def run(self) -> list[UnitReport]:
        """Returns a line for each unit that nobody but a person can settle."""
        state = self._run.state
        stuck = [report for unit in state.of_kind(journal.PREPARED) for report in self._guarded(unit.swap)]
        return stuck + self._finish_rollback(state)

    def _guarded(self, swap: Swap) -> list[UnitReport]:
        try:
            where = self._executor.where(swap)
            kind = self._actions().get(where, self._quarantine)(swap)
        except (LakekeeperError, OSError) as error:
            return [UnitReport.of(swap.unit.to_json(), "quarantined", reason=str(error))]
        self._run.journal.append(kind, units=[{"unit": swap.unit.key}])
        log.info("%s: an earlier attempt stopped %s; now %s", swap.unit, where.value, kind)
        return []

    def _actions(self) -> dict[Where, Callable[[Swap], str]]:
        return {
            Where.BEFORE: self._put_back,
            Where.GAP: self._put_back,
            Where.SWAPPED: self._commit,
            Where.NEW_LOST: self._put_back,
            Where.RESTORED: self._put_back,
        }

    def _put_back(self, swap: Swap) -> str:
        self._executor.undo(swap)
        self._executor.discard(swap)
        return journal.DISCARDED

    def _commit(self, swap: Swap) -> str:
        """Swapped; but a writer that got in before the first rename has rows in `old` that `new` lacks."""
        if not swap.originals.diff(list_unit(self._cluster.fs, self._run.path(swap.old))):
            return journal.COMMITTED
        return self._put_back(swap)

    def _quarantine(self, swap: Swap) -> str:
        raise Unsafe(
            f"{swap.live} is in a state that no rule covers; nothing was changed. Look at it,"
            f" {self._run.path(swap.old)} and {self._run.path(swap.new)}"
        )

    def _finish_rollback(self, state: RunState) -> list[UnitReport]:
        """A rollback that began goes on: half of it is no state to leave a table in."""
        begun = state.of_kind(journal.ROLLBACK_PREPARED)
        reports = Restoration(self._cluster, self._run, self._locations, "keep").run(begun, parallelism=1)
        return [report for report in reports if report.outcome != "restored"]
