"""What a person does to roll a unit back that was moved, renamed or dropped since its compaction."""

from __future__ import annotations

from dataclasses import dataclass

from spark_jobs.core.messages.commands import hdfs_path, word
from spark_jobs.core.records.swap import Swap
from spark_jobs.core.rules.eligibility import may_have_runs
from spark_jobs.core.values.ddl import add_partition
from spark_jobs.core.values.layout import is_inside_home
from spark_jobs.protocol.file_system import DataDirectories
from spark_jobs.protocol.swap.locations import statement_back
from spark_jobs.protocol.swap.policy import SwapPolicy


def add_again(fs: DataDirectories, table: str, swap: Swap) -> str:
    """Return what adds a partition again where it was.

    The metastore creates a directory that is missing, and a rollback replaces none that its run has not written.
    """
    statement = add_partition(table, swap.unit.spec, swap.live)
    missing = fs.status(swap.live) is None
    return f"{statement}; hdfs dfs -rmdir {hdfs_path(swap.live)}" if missing else statement


def rows_only_in_originals(fs: DataDirectories, table: str, swap: Swap, run_id: str, old: str) -> str:
    """Return what to do with the originals of a partition that was dropped, and whose live directory was deleted."""
    statement = add_again(fs, table, swap)
    return (
        f"only the originals in {old} have its rows. To get them back, add it again ({statement}), then"
        f" `lakekeeper rollback --table {word(table)} --run-id {word(run_id)}`. If it was dropped on purpose,"
        f" `lakekeeper cleanup --table {word(table)}` deletes them when they are past the retention"
    )


@dataclass(frozen=True)
class WayBack:
    """The way back of one unit.

    Attributes:
        command: the command that rolls it back.
    """

    fs: DataDirectories
    policy: SwapPolicy
    swap: Swap
    command: str

    def text(self, location: str | None) -> str:
        """Return what to do to roll the unit back, or to keep it as it is.

        Args:
            location: where the metastore has the unit; None if it does not have it any more.
        """
        place = None if location else self._renamed()
        if place:
            return (
                f"Its directory is {place} now, which another partition reads: to roll it back, rename that partition"
                f" and its directory back first, and then {self.command}. {self._kept}"
            )
        statement, texts = self._statement(location), []
        if statement:
            stays = f" (files in {location} stay there)" if location else ""
            texts.append(
                f"To roll it back, give it that location again ({statement}), then {self.command}{stays}"
            )
        if not (location and is_inside_home(location)):
            texts.append(self._kept)
        return ". ".join(texts)

    @property
    def _kept(self) -> str:
        cleanup = f"`lakekeeper cleanup --table {word(self.policy.table)}`"
        return f"If it stays so, {cleanup} deletes its originals when they are past the retention"

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
