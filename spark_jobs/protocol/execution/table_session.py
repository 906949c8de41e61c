"""The session of one verb on one table: its leases, its runs, and the recovery of unfinished runs.

Recovery always comes first.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from spark_jobs.core.formats.registry import has_footer
from spark_jobs.core.options.definitions import Options
from spark_jobs.core.planning.survey import SurveyedUnit, merged
from spark_jobs.core.records.journal_bounds import check_units
from spark_jobs.core.records.settled_runs import SettledRun
from spark_jobs.core.rules.eligibility import TableFacts
from spark_jobs.core.values.file_times import FutureFiles
from spark_jobs.core.values.model import Unit, parent
from spark_jobs.core.wire.report import UnitReport
from spark_jobs.protocol.commit_log.publisher import log_runs
from spark_jobs.protocol.execution.backup_table import sync_backup_table
from spark_jobs.protocol.execution.partition_warnings import partition_warnings
from spark_jobs.protocol.execution.recovery import RecoveredRun, Recovery
from spark_jobs.protocol.execution.statistics import TableStatistics
from spark_jobs.protocol.planning.outside_partitions import check_units_outside
from spark_jobs.protocol.planning.table import Table
from spark_jobs.protocol.runs.abandoned import delete_abandoned
from spark_jobs.protocol.runs.journal_store import JournalCaches, Run, leave
from spark_jobs.protocol.runs.lease import LeaseOptions, LeaseSet
from spark_jobs.protocol.runs.other_tables import OtherTables
from spark_jobs.protocol.runs.run_finder import TableRuns, homes
from spark_jobs.protocol.runs.settled_store import SettledStore
from spark_jobs.protocol.runs.trust import Trust
from spark_jobs.protocol.services import Services
from spark_jobs.protocol.swap.later_runs import LaterRuns
from spark_jobs.protocol.swap.policy import SwapPolicy

log = logging.getLogger("lakekeeper")


@dataclass
class TableSession:
    """The session of one verb on one table.

    Attributes:
        table: the table as the metastore describes it.
        leases: the leases that are held.
        read: reads the table again.
        notes: warnings for the report.
        unresolved: the units whose intent stayed open after a recovery.
        caches: what was read of the journals.
    """

    services: Services
    table: Table
    leases: LeaseSet
    verb: str
    read: Callable[[], Table]
    notes: list[str] = field(default_factory=list)
    unresolved: list[UnitReport] = field(default_factory=list)
    caches: JournalCaches = field(default_factory=JournalCaches)

    def __post_init__(self) -> None:
        self._find_runs()

    def _find_runs(self) -> None:
        trusted = self.options.trusted_owners
        self._others = OtherTables(self.services, self.facts)
        self._found = TableRuns(self.services.fs, self.facts, self.units, trusted, self.caches)

    def reload(self) -> None:
        """Read the table again, because another job was active since it was read."""
        self.table = self.read()
        self._find_runs()

    @property
    def facts(self) -> TableFacts:
        return self.table.facts

    @property
    def options(self) -> Options:
        return self.table.options

    @property
    def units(self) -> Sequence[Unit]:
        return self.table.units

    @property
    def policy(self) -> SwapPolicy:
        footers = has_footer(self.facts.storage.format)
        rules = self.table.writer_rules(self.leases.clocks())  # guard: swap_by_both_clocks
        return SwapPolicy(
            self.table.locations,
            self.options.writers,
            self._registered_now,
            footers,
            rules,
            self.facts.name,
            self.table.target,
            LaterRuns(self._found.all, self.owner_of),
            self.table.created,
        )

    def owner_of(self, run: Run) -> str:
        """Return the name of the table that a run at this location belongs to."""
        name = run.state.table
        return name if self._others.own(name) else self.facts.name

    def other_table_of(self, run_id: str | None) -> str | None:
        """Return the other table at this location that has a run of this id; None if there is none."""
        named = (self.owner_of(run) for run in self._found.all() if run.run_id == run_id)
        return next((name for name in named if name != self.facts.name), None)

    def _registered_now(self) -> dict[str, str]:
        if self.table.dropped:
            return dict(self.table.locations)
        return {unit.key: unit.location for unit in self.table.registered()}

    def runs(self) -> list[Run]:
        """Return every run of the table, oldest first."""
        return self._checked(self._found.all())

    def settled(self, runs: Sequence[Run]) -> list[SettledRun]:
        """Return the settled runs of the table whose directories are deleted, oldest first.

        Args:
            runs: every run of the table that has directories, read before.
        """
        by_run = self._found.settled(runs)
        self.notes += [note for note in self._found.notes if note not in self.notes]
        return [run for run in by_run if not self._others.own(run.table)]

    @property
    def settled_store(self) -> SettledStore:
        return self._found.settled_store

    def recover(self, own: str | None = None) -> list[RecoveredRun]:
        """Recover unfinished runs and close them.

        Args:
            own: the id of a run that stays entered, and whose units that are ready to be swapped are kept.
        """
        self.leases.watch(home.path for home in homes(self.facts, self.units))
        self.leases.take(parent(run.directory) for run in self._unfinished())
        self._delete_abandoned()
        # Listed again under the leases: before that, another job may have finished some runs. Now no job changes them.
        recovery, self.unresolved = self.recovery(), []
        recovered = [recovery.run(run, resume=run.run_id == own) for run in self._unfinished()]
        for item in recovered:
            self.notes += item.notes
            self.unresolved += item.unresolved
        # Now: a run that goes on may prepare these units again, and its records forget what was before.
        self.put_back_statistics([item.run for item in reversed(recovered)])
        others = {item.run.run_id for item in recovered if item.run.run_id != own}
        for run_id in sorted(others):
            self.close([run for run in self.runs() if run.run_id == run_id])
        if recovered or self.leases.waited:
            # Another job was active until now, and the recovery took time: the metastore may have changed.
            self.reload()  # guard: read_again_after_wait
        return recovered

    def _delete_abandoned(self) -> None:
        """Delete directories that late tasks of dead drivers created again, once they are older than `staging_ttl`."""
        rules, future = self.table.writer_rules([self.services.now()]), FutureFiles()
        before = rules.dead_before or 0
        old = [directory for directory in self._found.without_records.values() if directory.mtime < before]
        for directory in self._found.without_records.values():
            if directory.mtime >= (rules.future_from or directory.mtime + 1):
                future.add(directory.path, directory.mtime)  # Nothing tells its age, so that it stays.
        self.notes += [text for text in future.warnings() if text not in self.notes]
        if not old:
            return
        self.leases.take(parent(directory.path) for directory in old)
        now = self.leases.taken() or self.services.now()
        before = int((now - self.options.staging_ttl).timestamp() * 1000)
        self.notes += delete_abandoned(self.services.fs, old, before)
        self._found.without_records.clear()

    def recovery(self) -> Recovery:
        return Recovery(self.services, self.leases, self.policy, self.verb)

    @property
    def statistics(self) -> TableStatistics:
        return TableStatistics(self.services, self.facts, self.leases.check)

    def put_back_statistics(self, runs: Sequence[Run]) -> None:
        """Put the statistics of before back where a rollback has restored originals.

        Args:
            runs: directories that are entered, those of the newest run first.
        """
        if not self.table.dropped:
            self.notes += self.statistics.put_back(runs)

    def close(self, runs: Sequence[Run]) -> str | None:
        """Close the directories of a run: update its backup table, and publish a LEFT record.

        Returns:
            The name of the backup table, or None.
        """
        self.leases.check()
        with self.services.phases.during("register"):
            name, warnings = sync_backup_table(self.services, self.facts, self.options, runs)
        self.notes += warnings
        with self.services.phases.during("log"):
            self.warn_of_partitions(runs)  # guard: told_before_closed
            leave(runs)
            self.log(runs)
        return name

    def log(self, runs: Sequence[Run], seen: Sequence[SurveyedUnit] | None = None) -> None:
        """Publish the results of these runs to the commit log.

        Args:
            seen: figures of file listings, to be published too.
        """
        fs, now = self.services.fs, self.services.now
        survey, units = None, {unit.key for unit in self.units}
        if seen is not None and self.facts.partition_keys:
            survey = merged({}, seen, units)
        trusted = self.options.trusted_owners
        self.notes += log_runs(fs, self.facts, runs, self.verb, now, survey, trusted, units)

    def warn_of_partitions(self, runs: Sequence[Run]) -> None:
        """Note partitions of these runs that the metastore has not kept.

        This comes before the record that closes the runs, and goes to the log at once: after a kill in between, the
        next job closes them, and says it again. Otherwise nobody might ever be told.
        """
        for text in partition_warnings(self.table, runs):
            if text not in self.notes:
                log.info("%s: %s", self.facts.name, text)
                self.notes.append(text)

    def _unfinished(self) -> list[Run]:
        return self._checked(self._found.unfinished())

    def _checked(self, runs: list[Run]) -> list[Run]:
        """Return the runs that belong to this table.

        Raises:
            Unsafe: a run names a directory that is not a unit of the table.
            Refusal: a directory that the run would rename or change belongs to an account that is not trusted.
        """
        self.notes += [note for note in self._found.notes if note not in self.notes]
        own = [run for run in runs if not self._others.own(run.state.table)]  # guard: runs_of_another_table
        root, keys = self.facts.storage.location, self.facts.partition_keys
        places = {unit.location for unit in self.units}
        trust = Trust(self.services.fs, root, self.options.trusted_owners)
        for run in own if keys else ():
            check_units(run.state, root, keys, places)  # guard: units_of_this_table
            check_units_outside(self.services.fs, run, root, places, trust)  # guard: owner_of_unit_outside
        return own


def lease_options(verb: str, options: Options) -> LeaseOptions:
    """Return the options of a verb's leases."""
    expiry, wait = options.lease_timeout.total_seconds(), options.lease_wait.total_seconds()
    return LeaseOptions(verb, expiry, wait, options.deadline)
