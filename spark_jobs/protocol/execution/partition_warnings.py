"""Warnings of partitions that the metastore has dropped, or dropped and added again, while a run has worked on them.

A tool that repairs the metastore, or partition discovery, drops a partition whose directory is away between the two
renames. A person may also have dropped it, and the metastore does not tell which: so a partition is never added again
by a job, and the warning has the statement for both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from spark_jobs.core.messages.errors import LakekeeperError
from spark_jobs.core.messages.remedies import partitions
from spark_jobs.core.messages.warning_codes import WarningCode
from spark_jobs.core.records import journal
from spark_jobs.core.records.journal import UnitState
from spark_jobs.core.records.swap import Swap
from spark_jobs.core.rules.eligibility import Storage, may_have_runs
from spark_jobs.core.rules.partition_loss import lost
from spark_jobs.core.values.layout import is_below
from spark_jobs.core.values.model import Unit
from spark_jobs.core.values.once import once
from spark_jobs.protocol.planning.table import Table
from spark_jobs.protocol.runs.journal_store import Run
from spark_jobs.protocol.swap.locations import is_registered, statement_back
from spark_jobs.protocol.swap.moved_unit import add_again, rows_only_in_originals

#: Kinds of records after which the unit's directory is, or must be, at the location that the metastore has.
_IN_PLACE = (journal.COMMITTED, journal.DISCARDED, journal.ROLLED_BACK)


def partition_warnings(table: Table, runs: Sequence[Run]) -> list[str]:
    """Return a warning for each partition of these runs that the metastore has not kept.

    It is asked once. More is asked only about partitions that are not there any more.
    """
    units = [(run, unit) for run in runs for unit in run.current().of_kind(*_IN_PLACE)]
    if not units or not table.partitioned or table.dropped:
        return []
    try:
        now = table.registered()
    except LakekeeperError as error:
        return list(_not_checked(table, [unit.swap for _, unit in units], error))
    partitions = _Partitions(table, now)
    texts = (partitions.warning(run, unit) for run, unit in units)
    return list(dict.fromkeys(text for text in texts if text))


def _not_checked(table: Table, swaps: Sequence[Swap], error: LakekeeperError) -> Iterator[str]:
    text = f"could not check whether the metastore still has the partitions of this run: {error}"
    yield WarningCode.PARTITIONS_NOT_CHECKED.text(text)
    for swap in swaps:
        if not is_below(swap.live, table.root):
            yield WarningCode.PARTITIONS_NOT_CHECKED.text(
                f"{swap.unit}: no discovery finds this partition, because {swap.live} is outside the table's root. If"
                f" the metastore does not have it any more, add it again ({_added(table, swap)})"
            )


def _added(table: Table, swap: Swap) -> str:
    return add_again(table.services.fs, table.facts.name, swap)


class _Partitions:
    """The partitions of one table as the metastore has them now."""

    def __init__(self, table: Table, now: Mapping[Unit, Storage]) -> None:
        self._table = table
        self._fs = table.services.fs
        self._storages = {unit.key: storage for unit, storage in now.items()}
        self._locations = {unit.key: unit.location for unit in now}

    def warning(self, run: Run, unit: UnitState) -> str | None:
        swap = unit.swap
        if not is_registered(swap, self._locations):
            text = self._unregistered(run, unit)
            return WarningCode.PARTITION_UNREGISTERED.text(f"{swap.unit}: {text}") if text else None
        now = self._storages.get(swap.unit.key)
        if now is None or None in (now.created, unit.created) or now.created == unit.created:
            return None
        return WarningCode.PARTITION_READDED.text(
            f"{swap.unit}: the metastore has dropped this partition and added it again since the run began to work on"
            f" it. {self._lost(swap, now)}"
        )

    def _lost(self, swap: Swap, now: Storage | None = None) -> str:
        return lost(self._table.storages.get(swap.unit), now, self._table.facts.storage)

    def _unregistered(self, run: Run, unit: UnitState) -> str | None:
        """Return what became of a partition that is not registered; None if its rows are in another partition."""
        swap = unit.swap
        there = self._fs.identity(swap.live)
        place = self._locations.get(swap.unit.key)
        if place is not None:
            return self._elsewhere(swap, place) if there in (swap.live_id, swap.new_id) else None
        if there is not None:
            return self._in_place(swap)
        if swap.new_id in self._identities:
            return None  # Renamed with its directory: added again, its rows would be in the table twice.
        gone = f"the metastore has no such partition any more, and {swap.live} does not exist"
        if unit.kind != journal.COMMITTED:
            return gone
        name, old = self._table.facts.name, run.path(swap.old)
        return f"{gone}: {rows_only_in_originals(self._fs, name, swap, run.run_id, old)}"

    def _in_place(self, swap: Swap) -> str:
        way = "MSCK REPAIR TABLE or partition discovery adds it too"
        outside = "no discovery finds it, because it is outside the table's root"
        found_by = way if is_below(swap.live, self._table.root) else outside
        return partitions.dropped(swap.live, _added(self._table, swap), found_by, self._lost(swap))

    def _elsewhere(self, swap: Swap, place: str) -> str:
        """Return the text for a partition that was added again at another place, where discovery has found one."""
        statement = statement_back(swap, self._locations, self._table.facts.name, place)
        return partitions.elsewhere(place, swap.live, statement, self._lost(swap))

    @once
    def _identities(self) -> frozenset[str | None]:
        """Return the identities of all live directories: one call for each, so that few runs need it."""
        places = [place for place in self._locations.values() if may_have_runs(place)]
        return frozenset(self._fs.identities(places))
