"""How fast a job compacts, and so what it can still finish before its deadline."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from spark_jobs.core.commit_log.snapshots import Snapshot
from spark_jobs.core.unit_plan import UnitPlan

#: An estimate is multiplied by this: units differ, and a unit that is not finished at the deadline was in vain.
_SAFETY = 1.25
#: What is left before the deadline for the end of a run: the commit log, and the backup table, to which a partition is
#: added for each unit. Measured with a Hive Metastore on two busy processors: 13 to 20 s for 109 units.
_END_SECONDS, _END_SECONDS_PER_UNIT = 10, 0.1
#: The experience of earlier runs counts as much as so many seconds of this one.
_LEARNED_SECONDS = 60


@dataclass(frozen=True)
class Pace:
    """What was compacted in a time: `units` with `bytes` of originals in `seconds` of the clock on the wall."""

    units: float = 0
    bytes: int = 0
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
        found = cls()
        for each in timed:
            found = found.plus(each.units, each.before.bytes, each.seconds or 0.0)
        share = min(1.0, _LEARNED_SECONDS / found.seconds) if found.seconds else 1.0
        return cls(found.units * share, int(found.bytes * share), found.seconds * share)

    def plus(self, units: float, size: int, seconds: float) -> Pace:
        return Pace(self.units + units, self.bytes + size, self.seconds + seconds)

    def seconds_for(self, units: int, size: int) -> float:
        """Return how long it takes to compact so much; 0 if nothing is known yet.

        It is the longer one of two times: by bytes, which counts for large units, and by units, each of which has a
        fixed cost.
        """
        if not self.known:
            return 0.0
        by_bytes = size * self.seconds / self.bytes if self.bytes else 0.0
        return max(by_bytes, units * self.seconds / self.units)

    def fitting(self, units: Sequence[UnitPlan], left: timedelta, at_once: int) -> list[UnitPlan]:
        """Return those of the units, in their order, that can be finished together in the time that is left.

        The end of the run takes longer with each of them (`end_of_run`): `left` is without what the units before need.
        A unit that takes longer does not keep smaller ones behind it from being begun. Without any experience only as
        many units fit as are processed at the same time: they show how fast it is.
        """
        if left <= timedelta(0):
            return []
        if not self.known:
            return list(units[:at_once])
        chosen: list[UnitPlan] = []
        size = 0
        for unit in units:
            more = unit.health.bytes if unit.health else 0
            number = len(chosen) + 1
            needed = self.seconds_for(number, size + more) * _SAFETY + number * _END_SECONDS_PER_UNIT
            if needed <= left.total_seconds():
                chosen.append(unit)
                size += more
        return chosen


def end_of_run(units: int) -> timedelta:
    """Return the time to reserve for the end of a run that has compacted so many units of a table."""
    return timedelta(seconds=_END_SECONDS + units * _END_SECONDS_PER_UNIT)


def too_late(deadline: datetime) -> str:
    """Return why a unit is not begun."""
    return f"it could not be finished before the deadline {deadline.isoformat()}"
