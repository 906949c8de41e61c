"""The check of one table. It takes no lease, does no recovery, and changes nothing.

A job may work on the table meanwhile. So damage counts only if neither the journals nor the partitions changed
while it was looked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from spark_jobs.core.damage import DamageCode, Finding
from spark_jobs.protocol.checking.backup_tables import check_backup_tables
from spark_jobs.protocol.checking.commit_log import check_log
from spark_jobs.protocol.checking.contents import check_kept_footers, check_live_footers, check_rows
from spark_jobs.protocol.checking.journals import (
    ReadableRuns,
    check_folders,
    check_journals,
    check_leases,
    check_unfinished,
    marks,
)
from spark_jobs.protocol.checking.live import LiveCheck
from spark_jobs.protocol.checking.originals import check_originals
from spark_jobs.protocol.checking.scope import Scope, UnitOfRun
from spark_jobs.protocol.planning.table import Table

_LOOKS = 3


@dataclass
class TableCheck:
    """The check of one table.

    Attributes:
        read: reads the table from the metastore.
        read_data: compare the rows of originals and rewritten files.
        warnings: what else a person should know.
        runs: the number of runs that were checked.
    """

    read: Callable[[], Table]
    read_data: bool = False
    warnings: list[str] = field(default_factory=list)
    runs: int = 0

    def findings(self) -> list[Finding]:
        """Look at the table, and look again where damage may only be the work of another job."""
        for _ in range(_LOOKS):
            self.warnings.clear()
            table = self.read()
            before = marks(table)
            found = self._look_at(table)
            if not _doubtful(found) or (marks(table) == before and self.read().units == table.units):
                return found
        self.warnings.append(
            "another job changed the table while it was checked; run the check again after it"
        )
        return found

    def _look_at(self, table: Table) -> list[Finding]:
        runs = ReadableRuns(table)
        own = runs.own()
        self.runs = len(own)
        scope = Scope(
            table,
            own,
            runs.unknown_ids(),
            dict(runs.left_in_copies),
            runs.only_originals(),
            runs.of_others,
        )
        return list(self._look(scope, runs))

    def _look(self, scope: Scope, runs: ReadableRuns) -> Iterator[Finding]:
        yield from check_journals(runs)
        yield from check_folders(scope, runs.without_records.values())
        yield from check_unfinished(scope)
        yield from check_leases(scope, self._warn_of_job)
        yield from self._look_at_units(scope)
        yield from check_backup_tables(scope)
        yield from check_log(scope)

    def _warn_of_job(self, lease: str) -> None:
        self.warnings.append(f"a job is at work on the table, or has just died: it holds {lease}")

    def _look_at_units(self, scope: Scope) -> Iterator[Finding]:
        live, parallelism = LiveCheck(scope), scope.table.options.parallelism
        with scope.services.pool(parallelism) as pool:
            kept = list(pool.map(lambda unit: _kept(scope, unit), scope.units))
            found = [each for part in pool.map(live.check, scope.table.units) for each in part]
            footers = pool.map(lambda written: list(check_live_footers(scope, written)), live.intact)
            found += [each for part in footers for each in part]
        found += [each for _, part in kept for each in part]
        yield from found
        if self.read_data:
            yield from check_rows(scope, [u for u, part in kept if u.held and not part], live.intact)


def _doubtful(found: list[Finding]) -> bool:
    """Tell whether a job that works on the table meanwhile may be all that was found."""
    return any(each.is_damage or each.code is DamageCode.ORIGINALS_RESTORED for each in found)


def _kept(scope: Scope, unit: UnitOfRun) -> tuple[UnitOfRun, list[Finding]]:
    """Return the findings of one unit's originals. Footers are read only of files that are as journaled."""
    found = list(check_originals(scope, unit))
    return unit, found or list(check_kept_footers(scope, unit))
