"""The check of one table. It takes no lease, does no recovery, and changes nothing.

A job may work on the table meanwhile. So damage counts only if neither the journals nor the partitions changed
while it was looked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from spark_jobs.core.messages.damage import DamageCode, Finding
from spark_jobs.core.messages.warning_codes import WarningCode
from spark_jobs.core.options.layers import PROPERTY_PREFIX
from spark_jobs.core.records import journal
from spark_jobs.core.rules.eligibility import TableFacts
from spark_jobs.protocol.checking.backup_tables import check_backup_tables
from spark_jobs.protocol.checking.commit_log import check_log
from spark_jobs.protocol.checking.contents import check_kept_footers, check_live_footers, check_rows
from spark_jobs.protocol.checking.journals import (
    ReadableRuns,
    check_directories,
    check_journals,
    check_leases,
    check_unfinished,
    check_versions,
    marks,
)
from spark_jobs.protocol.checking.live import LiveCheck, Written
from spark_jobs.protocol.checking.originals import check_originals
from spark_jobs.protocol.checking.scope import Scope, UnitOfRun
from spark_jobs.protocol.planning.table import Table

#: A finding of damage that only the work of another job or writer explains is gone at the next look, or the one after.
_LOOKS = 4
_PAUSE_SECONDS = 1.0


_AT_WORK = "a job is at work on the table"
_Key = tuple[DamageCode, str]


def own_properties(facts: TableFacts) -> list[str]:
    """Return the names of the properties by which a table sets options of this program."""
    return sorted(key for key in facts.properties if key.startswith(PROPERTY_PREFIX))


@dataclass(frozen=True)
class _Look:
    """One look at a table.

    Attributes:
        damage: the findings that are damage.
        busy: the findings about a unit on which an unfinished run may be at work.
        marks: what each job changes.
    """

    table: Table
    findings: list[Finding]
    damage: set[_Key]
    busy: set[_Key]
    marks: list[tuple[str, int]]


@dataclass
class TableCheck:
    """The check of one table.

    Attributes:
        read: reads the table from the metastore.
        read_data: compare the rows of originals and rewritten files.
        warnings: what else a person should know.
        runs: the number of runs that were checked.
        left: what the table has of ours: hidden directories by their URIs, and its properties by their names.
    """

    read: Callable[[], Table]
    read_data: bool = False
    warnings: list[str] = field(default_factory=list)
    runs: int = 0
    left: Sequence[str] = ()
    _compared: dict[tuple[str, str], list[Finding]] = field(default_factory=dict)

    def findings(self) -> list[Finding]:
        """Look at the table until two looks in a row find the same damage, and nothing has changed in between.

        A look reads one directory after the other, so that a step of a job between two calls looks like damage. Damage
        that is not confirmed so is a notice.
        """
        looks = [self._look_at(self.read())]
        for _ in range(_LOOKS):
            look = looks[-1]
            if not look.damage or (len(looks) > 1 and self._confirms(looks[-2], look)):
                return look.findings
            look.table.services.clock.sleep(_PAUSE_SECONDS)
            looks.append(self._look_at(self.read()))
        return self._unconfirmed(looks)

    def _confirms(self, earlier: _Look, look: _Look) -> bool:
        """Tell whether both looks found the same damage in the same state of the table."""
        if earlier.damage != look.damage or earlier.marks != look.marks:
            return False
        return marks(look.table) == look.marks and self.read().units == look.table.units

    def _unconfirmed(self, looks: list[_Look]) -> list[Finding]:
        """Return the findings after looks between which the table changed.

        What each of them has found is damage: a job does not stay so long at one step. The exceptions are the units on
        which a job is at work.
        """
        text = "the table was changed while it was checked; run the check again"
        self.warnings.append(WarningCode.TABLE_CHANGED.text(text))
        found_by_all = set.intersection(*(look.damage for look in looks)) - looks[-1].busy
        return [
            each if _key(each) in found_by_all or not _is_doubtful(each) else _as_notice(each)
            for each in looks[-1].findings
        ]

    def _look_at(self, table: Table) -> _Look:
        self.warnings.clear()
        before = marks(table)
        runs = ReadableRuns(table)
        own = runs.own()
        self.runs = len(own)
        self.left = [*sorted(set(runs.homes)), *own_properties(table.facts)]
        scope = Scope(
            table, own, runs.unknown_ids(), dict(runs.left_in_copies), runs.only_originals(), runs.of_others
        )
        findings = list(self._look(scope, runs))
        doubtful = [each for each in findings if _is_doubtful(each)]
        busy = {_key(each) for each in doubtful if _is_worked_on(each, scope)}
        return _Look(table, findings, {_key(each) for each in doubtful}, busy, before)

    def _look(self, scope: Scope, runs: ReadableRuns) -> Iterator[Finding]:
        others = list(check_versions(runs))
        if others:  # guard: nothing_judged_beside_other_version
            # What lies in such a home may be what a finding of this version would say is missing.
            yield from others
            return
        yield from check_journals(runs)
        yield from check_directories(scope, runs.without_records.values())
        yield from check_unfinished(scope)
        yield from check_leases(scope, self._warn_of_job)
        yield from self._look_at_units(scope)
        yield from check_backup_tables(scope)
        yield from check_log(scope)

    def _warn_of_job(self, lease: str) -> None:
        text = f"{_AT_WORK}, or has just died: it holds {lease}"
        self.warnings.append(WarningCode.JOB_AT_WORK.text(text))

    def _look_at_units(self, scope: Scope) -> Iterator[Finding]:
        live, parallelism = LiveCheck(scope), scope.table.options.parallelism
        with scope.services.pool(parallelism) as pool:
            kept = list(pool.map(lambda unit: _kept(scope, unit), scope.units))
            findings = [each for part in pool.map(live.check, scope.table.units) for each in part]
            footers = pool.map(lambda written: list(check_live_footers(scope, written)), live.intact)
            findings += [each for part in footers for each in part]
        findings += [each for _, part in kept for each in part]
        yield from findings
        for unit in [unit for unit, part in kept if unit.held and not part] if self.read_data else ():
            yield from self._rows(scope, unit, live.intact)

    def _rows(self, scope: Scope, unit: UnitOfRun, intact: list[Written]) -> list[Finding]:
        """Compare the rows of a unit. It is done once, also if the table is looked at again: it may take hours."""
        key = (unit.run.run_id, unit.state.swap.new_id)
        if key not in self._compared:
            self._compared[key] = list(check_rows(scope, [unit], intact))
        return self._compared[key]


def _key(finding: Finding) -> _Key:
    return finding.code, finding.path


def _is_doubtful(finding: Finding) -> bool:
    """Tell whether a job or writer that works on the table meanwhile may explain a finding.

    Rows that differ are confirmed where they are compared: reading them again may take hours.
    """
    if finding.code is DamageCode.ROWS_DIFFER:
        return False
    return finding.is_damage or finding.code is DamageCode.ORIGINALS_RESTORED


def _is_worked_on(finding: Finding, scope: Scope) -> bool:
    """Tell whether a run that has not ended has announced to rename or delete directories of the finding's unit."""
    kinds = (*journal.INTENTS, journal.CLEANUP_CLAIMED)
    units = (unit.state for unit in scope.units if unit.run.state.entered and unit.state.kind in kinds)
    return finding.unit is not None and any(unit.swap.unit.to_json() == finding.unit for unit in units)


def _as_notice(finding: Finding) -> Finding:
    """Return a finding that is not confirmed. It names no command, which might do harm to a job at work."""
    text = f"{finding.message}; not confirmed, because the table was changed while it was checked"
    return replace(finding, message=text, command=None, only_notice=True)


def _kept(scope: Scope, unit: UnitOfRun) -> tuple[UnitOfRun, list[Finding]]:
    """Return the findings of one unit's originals. Footers are read only of files that are as journaled."""
    findings = list(check_originals(scope, unit))
    return unit, findings or list(check_kept_footers(scope, unit))
