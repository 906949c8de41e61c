"""What a person does to roll a unit back that was moved, renamed or dropped since its compaction."""

from __future__ import annotations

from dataclasses import dataclass

from spark_jobs.core.messages.remedies import partitions
from spark_jobs.core.messages.remedies.verbs import of_table
from spark_jobs.core.records.swap import Swap
from spark_jobs.core.rules.eligibility import may_have_runs
from spark_jobs.core.values.ddl import add_partition
from spark_jobs.core.values.layout import is_inside_home
from spark_jobs.protocol.file_system import DataDirectories
from spark_jobs.protocol.swap.locations import statement_back
from spark_jobs.protocol.swap.policy import SwapPolicy


def add_again(fs: DataDirectories, table: str, swap: Swap) -> str:
    """Return what adds a partition again where it was."""
    statement = add_partition(table, swap.unit.spec, swap.live)
    return partitions.add_again(statement, swap.live, missing=fs.status(swap.live) is None)


def rows_only_in_originals(fs: DataDirectories, table: str, swap: Swap, run_id: str, old: str) -> str:
    """Return what to do with the originals of a partition that was dropped, and whose live directory was deleted."""
    add = add_again(fs, table, swap)
    return partitions.rows_only_in_originals(old, add, of_table(table), run_id)


@dataclass(frozen=True)
class MovedUnit:
    """The way back of one unit of a run."""

    fs: DataDirectories
    policy: SwapPolicy
    swap: Swap
    run_id: str

    def text(self, location: str | None) -> str:
        """Return what to do to roll the unit back, or to keep it as it is.

        Args:
            location: where the metastore has the unit; None if it does not have it any more.
        """
        target = of_table(self.policy.table)
        place = None if location else self._renamed()
        if place:
            return partitions.renamed(place, target, self.run_id)
        statement, texts = self._statement(location), []
        if statement:
            texts.append(partitions.give_back(statement, location, target, self.run_id))
        if not (location and is_inside_home(location)):
            texts.append(partitions.keep(target))
        return ". ".join(texts)

    def _renamed(self) -> str | None:
        """Return the location that has the rewritten directory now, after a renaming of partition and directory.

        To add the partition again would show its rows twice.
        """
        known = (place for place in self.policy.locations.values() if may_have_runs(place))
        return next((place for place in known if self.fs.identity(place) == self.swap.new_id), None)

    def _statement(self, location: str | None) -> str | None:
        swap, policy = self.swap, self.policy
        if location or not swap.unit.spec:
            return statement_back(swap, policy.locations, policy.table, location or "")
        return add_again(self.fs, policy.table, swap)
