"""How fast a job compacts, and so what it can still finish before its deadline."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from spark_jobs.core.planning.unit_plan import UnitPlan
from spark_jobs.core.records.snapshots import Snapshot
from spark_jobs.core.values.amount import NONE, Amount

#: An estimate is multiplied by this: units differ, and a unit that is not finished at the deadline is wasted work.
_SAFETY = 1.25
#: What is left before the deadline for the end of a run: the commit log, and the backup table, to which a partition is
#: added for each unit. Measured with a Hive Metastore on two busy processors: 13 to 20 s for 109 units.
_END_SECONDS, _END_SECONDS_PER_UNIT = 10, 0.1
#: What a unit and a file cost at most, however small they are. Of units that were much larger, a pace tells no more.
_MOST_PER_UNIT, _MOST_PER_FILE = 30.0, 0.1
#: The experience of earlier runs counts as much as this many seconds of this one.
_LEARNED_SECONDS = 60


@dataclass(frozen=True)
class Pace:
    """What was compacted in a time: units with files and bytes of originals, in seconds of the clock on the wall."""

    units: float = 0
    files: float = 0
    bytes: float = 0
    seconds: float = 0.0

    @property
    def known(self) -> bool:
        return self.units > 0 and self.seconds > 0

    @classmethod
    def learned(cls, snapshots: Iterable[Snapshot]) -> Pace:
        """Return the pace of earlier compactions, as the commit log has them.

        It counts as if it were the experience of a minute: what the job itself sees soon outweighs it.
        """
        timed = [each for each in snapshots if each.seconds]
        pace = cls()
        for each in timed:
            pace = pace.plus(Amount(each.units, each.before.files, each.before.bytes), each.seconds or 0.0)
        share = min(1.0, _LEARNED_SECONDS / pace.seconds) if pace.seconds else 1.0
        return cls(pace.units * share, pace.files * share, pace.bytes * share, pace.seconds * share)

    def plus(self, amount: Amount, seconds: float) -> Pace:
        return Pace(
            self.units + amount.units,
            self.files + amount.files,
            self.bytes + amount.bytes,
            self.seconds + seconds,
        )

    def seconds_for(self, amount: Amount) -> float:
        """Return how long it takes to compact so much; 0 if nothing is known yet.

        It is the longest one of three times: by bytes, by files and by units, each of which has a fixed cost. Those of
        files and units are limited: the only unit of a run may have taken hours, and small ones would never fit then.
        """
        if not self.known:
            return 0.0
        return max(
            amount.bytes * self.seconds / self.bytes if self.bytes else 0.0,
            amount.files * min(_MOST_PER_FILE, self.seconds / self.files if self.files else 0.0),
            amount.units * min(_MOST_PER_UNIT, self.seconds / self.units),
        )

    def fitting(self, units: Sequence[UnitPlan], left: timedelta, at_once: int) -> list[UnitPlan]:
        """Return the units, in their order, that can be finished together in the time that is left.

        The end of the run takes longer with each of them (`end_of_run`): `left` is without what the units before need.
        A unit that takes longer does not keep smaller ones behind it from being begun. Without any experience only as
        many units fit as are processed at the same time: they show how fast it is.
        """
        if left <= timedelta(0):
            return []
        if not self.known:
            return list(units[:at_once])
        chosen: list[UnitPlan] = []
        so_far = NONE
        for unit in units:
            amount = so_far + (unit.amount or Amount())
            needed = self.seconds_for(amount) * _SAFETY + amount.units * _END_SECONDS_PER_UNIT
            if needed <= left.total_seconds():
                chosen.append(unit)
                so_far = amount
        return chosen


def end_of_run(units: int) -> timedelta:
    """Return the time to reserve for the end of a run that has compacted this many units of a table."""
    return timedelta(seconds=_END_SECONDS + units * _END_SECONDS_PER_UNIT)
