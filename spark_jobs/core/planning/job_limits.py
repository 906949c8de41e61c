"""What one job may still do. The only state that the tables of a job share."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from spark_jobs.core.messages.outcomes import UnitOutcome
from spark_jobs.core.options.limits import LimitOptions
from spark_jobs.core.planning.budget import Budget, within
from spark_jobs.core.planning.pace import Pace, end_of_run
from spark_jobs.core.planning.plan import TablePlan
from spark_jobs.core.planning.unit_plan import UnitPlan
from spark_jobs.core.values.progress import NONE, Amount

_FAILURES = (UnitOutcome.FAILED, UnitOutcome.QUARANTINED)
#: The outcomes of units that were not read, or not to their end: they do not count in a budget.
_NOT_READ = (UnitOutcome.SKIPPED, UnitOutcome.HEALTHY, UnitOutcome.DEFERRED)


@dataclass
class JobLimits:
    """The limits of one job, and what is used of them. Only the job's main thread changes it, but for `grown`.

    Attributes:
        left: what the units of the present round leave of the budget.
        canaries: the units that still have to succeed before the others are begun.
        max_failures: the number of failed units after which no more are begun; 0 for no limit.
        failures: the units that have failed so far.
        compacted: the units of the present table that were compacted: the end of its run is still to come.
        pace: how fast the job was so far.
        stopped: why no more units are begun; None if they are.
    """

    budget: Budget = field(default_factory=Budget)
    left: Budget = field(default_factory=Budget)
    canaries: int = 0
    max_failures: int = 0
    failures: int = 0
    compacted: int = 0
    pace: Pace = field(default_factory=Pace)
    stopped: str | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    @classmethod
    def of(cls, options: LimitOptions) -> JobLimits:
        """Return the limits of a job that begins."""
        return cls(Budget.of(options), canaries=options.canary, max_failures=options.max_failures)

    def plan(self, table: TablePlan, held_bytes: int, compacted: int) -> TablePlan:
        """Return the plan of a table, with the units DEFERRED that the limits leave to the next job.

        Args:
            held_bytes: the bytes of originals that the table keeps already.
            compacted: the units that earlier attempts of the same run have compacted.
        """
        self.compacted = compacted
        self.budget = self.budget.of_table(table.options.max_held_bytes, held_bytes)
        if self.stopped:
            why = self.stopped
            units = [unit.put_off(why) if unit.to_rewrite else unit for unit in table.units]
        else:
            units, _ = within(table.units, self.budget)
        return replace(table, units=tuple(units))

    def learn(self, pace: Pace) -> None:
        """Take the pace of a table's earlier runs, if it is known, for what this job has seen of other tables."""
        self.pace = pace if pace.known else self.pace

    def fitting(
        self, units: Sequence[UnitPlan], deadline: datetime | None, now: datetime, at_once: int
    ) -> Sequence[UnitPlan]:
        """Return those of the units that are still begun; without a deadline the very sequence, if not stopped.

        Args:
            at_once: the number of units that are processed at the same time.
        """
        if self.stopped:
            return ()
        if deadline is None:
            return units
        return self.pace.fitting(units, deadline - end_of_run(self.compacted) - now, at_once)

    def note(self, outcomes: Iterable[UnitOutcome]) -> None:
        """Count the units of a wave, and stop the job if too many have failed."""
        ended = list(outcomes)
        self.compacted += ended.count(UnitOutcome.COMPACTED)
        failed = sum(outcome in _FAILURES for outcome in ended)
        self.failures += failed
        if failed and self.canaries:
            self.stopped = "canary: one of the first units has failed"
        elif self.max_failures and self.failures >= self.max_failures:
            self.stopped = f"max_failures: {self.failures} units have failed"

    def begin_round(self, amounts: Iterable[Amount | None]) -> None:
        """Reserve what the units of a round were planned to read."""
        self.left = self.budget
        for amount in amounts:
            self.left = self.left.spend(amount) if amount else self.left

    def grown(self, planned: Amount | None, now: Amount | None) -> str | None:
        """Return why a unit whose files have become more since the plan does not fit any more; None if it does.

        Threads that write units at the same time call it.
        """
        if planned is None or now is None:
            return None
        more = Amount(0, max(0, now.files - planned.files), max(0, now.bytes - planned.bytes))
        with self._lock:
            lack = self.left.lacks(more) if more != NONE else None  # guard: growth_within_limits
            if lack is None:
                self.left = self.left.spend(more)
            return lack

    def spend(self, units: Collection[tuple[UnitOutcome, Amount | None]]) -> None:
        """Count what a round has read, and the canaries that have succeeded."""
        for outcome, amount in units:
            if amount is not None and outcome not in _NOT_READ:
                self.budget = self.budget.spend(amount)
            if outcome == UnitOutcome.COMPACTED:
                self.canaries = max(0, self.canaries - 1)
