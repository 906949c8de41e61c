"""The admission: whether a unit may begin, by the limits, the deadline and the failures of its job.

It is asked for each plan, before each round and each wave, and before a unit is written and swapped. A unit that may
not begin is deferred, here and nowhere else: it costs nothing, and the next job takes it first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice

from spark_jobs.core.messages.outcomes import UnitOutcome
from spark_jobs.core.messages.readable import human
from spark_jobs.core.options.limits import LimitOptions
from spark_jobs.core.planning.decisions import Defer, Recover, Rewrite
from spark_jobs.core.planning.pace import Pace, end_of_run
from spark_jobs.core.planning.unit_plan import UnitPlan
from spark_jobs.core.values.amount import NONE, Amount

_FAILURES = (UnitOutcome.FAILED, UnitOutcome.QUARANTINED)
#: The outcomes of units that were not read, or not to their end: they do not count in a budget.
_NOT_READ = (UnitOutcome.SKIPPED, UnitOutcome.HEALTHY, UnitOutcome.DEFERRED)


@dataclass(frozen=True)
class Limit:
    """A limit of one quantity, the attribute of `Amount` that it counts, and how much of it is used."""

    option: str
    of: str
    limit: int
    used: int = 0

    def lacks(self, amount: Amount) -> str | None:
        """Return why an amount is too much; None if it fits, or if there is no limit."""
        needed: int = getattr(amount, self.of)
        if not self.limit or self.used + needed <= self.limit:
            return None
        show = human if self.of == "bytes" else str
        left = f"{show(max(0, self.limit - self.used))} of {show(self.limit)} are left"
        alone = ": the unit alone is more than that" if needed > self.limit else ""
        return f"{self.option}: it needs {show(needed)}, and {left}{alone}"

    def plus(self, amount: Amount) -> Limit:
        return replace(self, used=self.used + getattr(amount, self.of))


@dataclass(frozen=True)
class Budget:
    """The limits of one job, which count what it reads, and the limit of the originals that one table keeps."""

    limits: tuple[Limit, ...] = ()
    held: Limit = Limit("max_held_bytes", "bytes", 0)

    @classmethod
    def of(cls, options: LimitOptions) -> Budget:
        """Return the budget of a job that begins."""
        quantities = ("units", "bytes", "files")
        return cls(tuple(Limit(f"max_{of}", of, getattr(options, f"max_{of}")) for of in quantities))

    def of_table(self, max_held_bytes: int, held_bytes: int) -> Budget:
        """Return the budget for a table that keeps originals of `held_bytes` already."""
        return replace(self, held=replace(self.held, limit=max_held_bytes, used=held_bytes))

    def lacks(self, amount: Amount) -> str | None:
        """Return why a unit does not fit; None if it does."""
        return next(filter(None, (limit.lacks(amount) for limit in (*self.limits, self.held))), None)

    def spend(self, amount: Amount) -> Budget:
        """Return what is left after a unit was compacted."""
        return Budget(tuple(limit.plus(amount) for limit in self.limits), self.held.plus(amount))


@dataclass(frozen=True)
class Round:
    """The units of one round, and those that go on waiting, with the reasons for which they are deferred."""

    chosen: Sequence[UnitPlan] = ()
    waiting: Sequence[UnitPlan] = ()


@dataclass(frozen=True)
class Admission:
    """What one job may still do.

    Attributes:
        budget: what is left of the limits, after all that was read.
        reserved: what the units of the present round leave of it.
        canaries: the units that still have to succeed before the others are begun.
        max_failures: the number of failed units after which no more are begun; 0 for no limit.
        failures: the units that have failed so far.
        compacted: the units of the present table that were compacted: the end of its run is still to come.
        pace: how fast the job was so far.
        deadline: the time after which nothing begins; None if there is none.
        stopped: why no more units are begun; None if they are.
    """

    budget: Budget = field(default_factory=Budget)
    reserved: Budget = field(default_factory=Budget)
    canaries: int = 0
    max_failures: int = 0
    failures: int = 0
    compacted: int = 0
    pace: Pace = field(default_factory=Pace)
    deadline: datetime | None = None
    stopped: str | None = None

    @classmethod
    def of(cls, options: LimitOptions) -> Admission:
        """Return the admission of a job that begins."""
        return cls(Budget.of(options), canaries=options.canary, max_failures=options.max_failures)

    def of_table(
        self, max_held_bytes: int, held_bytes: int, deadline: datetime | None = None, compacted: int = 0
    ) -> Admission:
        """Return the admission for the units of a table.

        Args:
            held_bytes: the bytes of originals that the table keeps already.
            compacted: the units that earlier attempts of the same run have compacted.
        """
        budget = self.budget.of_table(max_held_bytes, held_bytes)
        return replace(self, budget=budget, deadline=deadline, compacted=compacted)

    # What is asked.

    def plan(self, units: Iterable[UnitPlan]) -> tuple[UnitPlan, ...]:
        """Return the units in their order, those deferred that the limits leave to the next job.

        A unit that does not fit does not keep smaller ones behind it from being compacted. Recoveries read no data, so
        they are no part of a budget, and are never deferred by it.
        """
        decided, left = [], self
        for unit in units:
            if unit.to_rewrite and unit.amount is not None:
                deferral, left = left.take(unit.amount)
                unit = replace(unit, decision=deferral) if deferral else unit
            elif unit.to_rewrite and self.stopped:
                unit = self._not_begun(unit)
            decided.append(unit)
        return tuple(decided)

    def take(self, amount: Amount) -> tuple[Defer | None, Admission]:
        """Return whether a unit that reads so much is deferred, and what is left after it."""
        lack = self.stopped or self.budget.lacks(amount)
        return (_defer(lack), self) if lack else (None, replace(self, budget=self.budget.spend(amount)))

    def round(self, waiting: Iterable[UnitPlan], now: datetime) -> Round:
        """Return the units of the next round: no others than canaries, as long as there are any to prove themselves."""
        decided = self.plan(unit.undeferred() for unit in waiting)
        chosen = [unit for unit in decided if unit.flagged]
        if self.canaries:
            chosen = list(islice(self._fitting(chosen, now), self.canaries))  # guard: canaries_alone
            decided = decided if chosen else tuple(map(self._not_begun, decided))
        keys = {unit.unit.key for unit in chosen}
        return Round(chosen, [unit for unit in decided if unit.unit.key not in keys])

    def wave(self, units: Sequence[UnitPlan], now: datetime, at_once: int) -> Sequence[UnitPlan]:
        """Return the units that may begin now; without a deadline the very sequence, if not stopped.

        Args:
            at_once: the number of units that are processed at the same time.
        """
        if self.stopped:
            return ()
        if self.deadline is None:
            return units
        return self.pace.fitting(units, self.deadline - end_of_run(self.compacted) - now, at_once)

    def not_begun(self, units: Iterable[UnitPlan]) -> list[UnitPlan]:
        """Return units that `wave` has left out, deferred."""
        return [self._not_begun(unit) for unit in units]

    def on_time(self, now: datetime) -> Defer | None:
        """Return the deferral of a unit if the deadline has passed; None if it has not."""
        passed = self.deadline is not None and now >= self.deadline
        return _defer(f"the deadline {_text(self.deadline)} has passed") if passed else None

    def growth(self, planned: Amount | None, now: Amount | None) -> tuple[Defer | None, Admission]:
        """Return whether a unit is deferred whose files have become more since the plan, and what is left after it."""
        if planned is None or now is None:
            return None, self
        more = Amount(0, max(0, now.files - planned.files), max(0, now.bytes - planned.bytes))
        lack = self.reserved.lacks(more) if more != NONE else None  # guard: growth_within_limits
        if lack:
            return _defer(f"files were added since it was planned: {lack}"), self
        return None, replace(self, reserved=self.reserved.spend(more))

    # What it is told. Each of these returns the admission after it.

    def learned(self, pace: Pace) -> Admission:
        """Take the pace of a table's earlier runs, if it is known, for what this job has seen of other tables."""
        return replace(self, pace=pace) if pace.known else self

    def timed(self, amount: Amount, seconds: float) -> Admission:
        """Count what a wave has compacted in a time."""
        return replace(self, pace=self.pace.plus(amount, seconds))

    def begun(self, amounts: Iterable[Amount | None]) -> Admission:
        """Reserve what the units of a round were planned to read."""
        left = self.budget
        for amount in amounts:
            left = left.spend(amount) if amount else left
        return replace(self, reserved=left)

    def ended(self, outcomes: Iterable[UnitOutcome]) -> Admission:
        """Count the units of a wave, and stop the job if too many have failed."""
        each = list(outcomes)
        failed = sum(outcome in _FAILURES for outcome in each)
        failures, stopped = self.failures + failed, self.stopped
        if failed and self.canaries:
            stopped = "canary: one of the first units has failed"
        elif self.max_failures and failures >= self.max_failures:
            stopped = f"max_failures: {failures} units have failed"
        compacted = self.compacted + each.count(UnitOutcome.COMPACTED)
        return replace(self, failures=failures, stopped=stopped, compacted=compacted)

    def spent(self, units: Collection[tuple[UnitOutcome, Amount | None]]) -> Admission:
        """Count what a round has read, and the canaries that have succeeded."""
        budget, canaries = self.budget, self.canaries
        for outcome, amount in units:
            if amount is not None and outcome not in _NOT_READ:
                budget = budget.spend(amount)
            if outcome == UnitOutcome.COMPACTED:
                canaries = max(0, canaries - 1)
        return replace(self, budget=budget, canaries=canaries)

    def _fitting(self, units: Iterable[UnitPlan], now: datetime) -> Iterator[UnitPlan]:
        """Yield the units each of which can be finished before the deadline, as far as this is known."""
        return (unit for unit in units if self.wave([unit], now, 1))

    def _not_begun(self, unit: UnitPlan) -> UnitPlan:
        if not isinstance(unit.decision, (Rewrite, Recover)) or not (self.stopped or self.deadline):
            return unit
        why = self.stopped or f"it could not be finished before the deadline {_text(self.deadline)}"
        return replace(unit, decision=_defer(why, unit.decision))


def _defer(reason: str, instead: Rewrite | Recover | None = None) -> Defer:
    return Defer(reason, instead or Rewrite())


def _text(deadline: datetime | None) -> str:
    return deadline.isoformat() if deadline else ""
