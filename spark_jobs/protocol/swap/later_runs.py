"""The run that wrote a live directory: a rollback of an earlier run says which one must be rolled back first."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

from spark_jobs.core.messages.remedies.originals import newer_run
from spark_jobs.protocol.runs.journal_store import Run


@dataclass(frozen=True)
class LaterRun:
    """A run that compacted a unit again.

    Attributes:
        table: the table that it belongs to, which may be another one at the same location.
        ended: it does not hold the unit's originals any more.
    """

    table: str
    run_id: str
    ended: bool

    def __str__(self) -> str:
        return newer_run(self.run_id, self.table, ended=self.ended)


class LaterRuns:
    """The runs at a table's location, also those of other tables, by the directories that they wrote.

    Args:
        runs: reads the runs; called at the first use.
        owner: returns the table of a run.
    """

    def __init__(self, runs: Callable[[], Iterable[Run]], owner: Callable[[Run], str]) -> None:
        self._runs = runs
        self._owner = owner

    def of(self, identity: str | None) -> LaterRun | None:
        """Return the run that wrote the directory of this identity; None if no known run did."""
        return self._by_identity.get(identity)

    @cached_property
    def _by_identity(self) -> dict[str | None, LaterRun]:
        return {
            unit.swap.new_id: LaterRun(self._owner(run), run.run_id, unit.final)
            for run in self._runs()
            for unit in run.state.units.values()
        }
