"""Settles what an earlier attempt of a run left unfinished: looks where each directory is, then acts."""

from __future__ import annotations

import logging
from collections.abc import Callable

from spark_jobs.core import journal
from spark_jobs.core.errors import LakekeeperError
from spark_jobs.core.journal import RunState, Swap
from spark_jobs.core.recovery import Where
from spark_jobs.core.wire import UnitReport
from spark_jobs.shell.cluster import Cluster
from spark_jobs.shell.executor import Executor
from spark_jobs.shell.runs import Attempt
from spark_jobs.shell.units import list_unit

log = logging.getLogger("lakekeeper")


class Settlement:
    """Brings every PREPARED unit of a resumed run to COMMITTED or DISCARDED, or leaves it alone and says so."""

    def __init__(self, cluster: Cluster, attempt: Attempt) -> None:
        self._cluster = cluster
        self._attempt = attempt
        self._executor = Executor(cluster.fs, attempt.folder)

    def run(self, state: RunState) -> list[UnitReport]:
        """Returns a line for each unit that nobody but a person can settle."""
        open_ = [unit.swap for unit in state.units.values() if unit.kind == journal.PREPARED]
        return [report for swap in open_ for report in self._guarded(swap)]

    def _guarded(self, swap: Swap) -> list[UnitReport]:
        try:
            where = self._executor.where(swap)
            kind = self._actions().get(where, self._quarantine)(swap)
        except (LakekeeperError, OSError) as error:
            return [UnitReport.of(swap.unit.to_json(), "quarantined", reason=str(error))]
        self._attempt.journal.append(kind, units=[{"unit": swap.unit.key}])
        log.info("%s: an earlier attempt stopped %s; now %s", swap.unit, where.value, kind)
        return []

    def _actions(self) -> dict[Where, Callable[[Swap], str]]:
        return {
            Where.BEFORE: self._discard,
            Where.GAP: self._restore,
            Where.SWAPPED: self._commit,
            Where.NEW_LOST: self._restore,
            Where.RESTORED: lambda _: journal.DISCARDED,
        }

    def _discard(self, swap: Swap) -> str:
        """Safe: the originals are live, and `new` is by identity the directory that the attempt wrote."""
        self._cluster.fs.delete_tree(self._attempt.path(swap.new))
        return journal.DISCARDED

    def _restore(self, swap: Swap) -> str:
        self._executor.undo(swap)
        if self._cluster.fs.status(self._attempt.path(swap.new)) is not None:
            self._discard(swap)
        return journal.DISCARDED

    def _commit(self, swap: Swap) -> str:
        """Swapped; but a writer that got in before the first rename has rows in `old` that are not in what
        was written."""
        if not swap.originals.diff(list_unit(self._cluster.fs, self._attempt.path(swap.old))):
            return journal.COMMITTED
        return self._restore(swap)

    def _quarantine(self, swap: Swap) -> str:
        raise LakekeeperError(f"{swap.live} is in a state that no rule covers; nothing was changed")
