"""The compaction of one table: recover, plan, open the run, rewrite and swap, register the backup, publish."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from spark_jobs.core.messages.outcomes import UNDONE, TableOutcome, UnitOutcome
from spark_jobs.core.options.rewriting import ARROW
from spark_jobs.core.planning.plan import TablePlan
from spark_jobs.core.records import journal
from spark_jobs.core.records.journal import UnitState
from spark_jobs.core.records.swap import Swap
from spark_jobs.core.values.amount import Amount
from spark_jobs.core.values.layout import Home
from spark_jobs.core.values.model import parent
from spark_jobs.core.wire.report import TableReport
from spark_jobs.protocol.commit_log.publisher import learned_pace, log_of
from spark_jobs.protocol.execution.backup_table import sync_backup_table
from spark_jobs.protocol.execution.job_admission import JobAdmission
from spark_jobs.protocol.execution.recovery import RecoveredRun
from spark_jobs.protocol.execution.remembered import note_undone, remember, reports
from spark_jobs.protocol.execution.rollback import Rollback
from spark_jobs.protocol.execution.rounds import Rounds, TableState, held_by, reserved_bytes
from spark_jobs.protocol.execution.table_session import TableSession
from spark_jobs.protocol.execution.unit_results import (
    UnitResult,
    compacted_report,
    describe_restored,
    not_by_arrow,
    unique,
    unit_values,
    with_units,
)
from spark_jobs.protocol.execution.waves import Waves
from spark_jobs.protocol.planning.due_units import Resumed
from spark_jobs.protocol.planning.planner import Planner
from spark_jobs.protocol.runs.journal_store import Run, leave
from spark_jobs.protocol.runs.run_finder import homes
from spark_jobs.protocol.runs.run_lifecycle import choose_run_id, enter, newest_generation, open_run


class TableCompaction:
    """The compaction of one table over all its homes.

    Args:
        run_id: the id of the run. If that run is finished, a new generation of it is opened.
        wanted: the partition values of the units to compact, or None for all flagged units.
        admission: the job's, which its tables share.
    """

    def __init__(
        self,
        session: TableSession,
        run_id: str,
        wanted: Sequence[Mapping[str, str | None]] | None,
        admission: JobAdmission,
    ) -> None:
        self._session = session
        self._admission = admission
        self._counted = False
        self._services = session.services
        self._options = session.options
        self._run_id = run_id
        self._wanted = wanted
        #: The id of the run, once it may have swapped units.
        self.begun: str | None = None

    def run(self) -> TableReport:
        """Compact the table and return its part of the report."""
        start = self._start()
        if start.has_nothing_to_do:
            return self._report_nothing(start)
        self._session.leases.take(home.path for home in self._homes(start))
        if self._session.leases.waited:
            # Another job was active until now. What was read before it ended may be outdated.
            self._session.reload()
            start = self._start()
            if start.has_nothing_to_do:
                return self._report_nothing(start)
        start = start.by_clocks(self._session.leases.clocks())  # guard: rules_by_both_clocks
        runs, fresh = self._open(start)
        self.begun = start.run_id
        self._began = self._services.clock.monotonic()
        results = Rounds(self._session, self._admission, start, runs).run()
        start = remember(self._session, start, results)
        report = self._with_results(start, results, runs).conclude(acted=(UnitOutcome.COMPACTED,))
        if report.outcome == TableOutcome.PARTIAL and self._options.on_failure == "undo":
            return self._undo(start, results, report, runs, fresh)
        return self._finish(start, results, report, runs, fresh)

    def _start(self) -> TableState:
        """Recover unfinished runs, then plan.

        Units that are ready in this job's own run are not written again. Units whose intent stayed open are left alone:
        the directories of the open intent must stay as they are until a later recovery, or a person, decides.
        """
        recovered: dict[Home, RecoveredRun] = {}
        recovered.update(self._recover())  # guard: recover_first
        runs = self._session.runs()
        settled = self._session.settled(runs)
        run_id, earlier = choose_run_id(self._run_id, runs, settled)
        plan = Planner(self._session.table, self._wanted, Resumed.of(run_id, earlier)).plan()
        plan = plan.without([unit.unit for unit in self._session.unresolved])  # guard: unresolved_left_alone
        self._session.notes += [text for text in plan.notes if text not in self._session.notes]
        self._count(earlier)
        held = held_by(run for run in runs if run.run_id != run_id)
        plan = self._admitted(plan, reserved_bytes(runs), len(_committed(earlier)))
        if self._options.deadline and plan.flagged:
            log = log_of(self._services.fs, plan.facts, self._services.now, plan.options.trusted_owners)
            pace = learned_pace(log)
            self._admission.update(lambda admission: admission.learned(pace))
        return TableState(plan, run_id, earlier, recovered, held, run_id in {run.run_id for run in settled})

    def _admitted(self, plan: TablePlan, held: int, compacted: int) -> TablePlan:
        """Return the plan with the units deferred that the limits of the job leave to the next one."""
        most, deadline = plan.options.max_held_bytes, plan.options.deadline
        admission = self._admission.update(lambda before: before.of_table(most, held, deadline, compacted))
        return replace(plan, units=admission.plan(plan.units))

    def _count(self, earlier: Sequence[Run]) -> None:
        """Count what earlier attempts of this run have compacted or written, so that a retry keeps the run's limits."""
        if self._counted:
            return
        self._counted = True
        units = [unit for run in earlier for unit in run.current().units.values() if not unit.final]
        spent = [(_ended(unit), _read(unit.swap)) for unit in units]
        self._admission.update(lambda admission: admission.spent(spent))

    def _recover(self) -> dict[Home, RecoveredRun]:
        runs = self._session.runs()
        own = newest_generation(self._run_id, runs, self._session.settled(runs))
        recovered = self._session.recover(own)
        return {Home(parent(item.run.directory)): item for item in recovered if item.run.run_id == own}

    def _report_nothing(self, start: TableState) -> TableReport:
        leave((item.run for item in start.recovered.values()), journal.FINISHED, outcome=TableOutcome.NOTHING)
        note_undone(self._session, start)
        report = replace(start.plan.report(), **start.held.report())
        units = [*report.units, *self._session.unresolved]
        run_id = start.run_id if start.resumed_settled else report.run_id
        report = replace(report, run_id=run_id, units=units, warnings=list(self._session.notes))
        return report.conclude(acted=(UnitOutcome.COMPACTED,))

    def _homes(self, start: TableState) -> list[Home]:
        """Return the homes that the run needs.

        The table's own home comes first. Its journal names the other homes, so that they are found even if their
        partitions are dropped later.
        """
        facts = start.plan.facts
        own = homes(facts, []) if self._services.fs.status(facts.storage.location) is not None else []
        resumed = [Home(parent(run.directory)) for run in start.earlier]
        return list(dict.fromkeys([*own, *resumed, *(start.home(unit) for unit in start.plan.flagged)]))

    def _open(self, start: TableState) -> tuple[dict[Home, Run], bool]:
        """Enter the directories that the run has, and open those that are missing.

        Returns:
            The directories by home, and whether all of them are new.
        """
        runs = {home: item.run for home, item in start.recovered.items()}
        for run in start.earlier:
            home = Home(parent(run.directory))
            if home not in runs:
                runs[home] = enter(run, self._session.leases, "compact")
        needed, fresh = self._homes(start), not runs
        for home in needed:
            if home not in runs:
                runs[home] = self._open_directory(start, home, needed)
        return runs, fresh

    def _open_directory(self, start: TableState, home: Home, needed: Sequence[Home]) -> Run:
        fs, facts, leases = self._services.fs, start.plan.facts, self._session.leases
        turns, caches = bool(self._options.trusted_owners), self._session.caches
        return open_run(fs, home, start.run_id, facts, needed, leases, turns, caches)

    def _with_results(
        self, start: TableState, results: Sequence[UnitResult], runs: Mapping[Home, Run]
    ) -> TableReport:
        """Return the plan's report, completed with the results of the units."""
        codecs = Counter(result.codec for result in results if result.codec)
        texts = [text for result in results for text in result.warnings]
        texts += not_by_arrow(results) if self._options.engine == ARROW else []
        by_arrow = any(result.report.engine == ARROW for result in results)
        report = replace(
            start.plan.report(),
            run_id=start.run_id,
            codec=codecs.most_common(1)[0][0] if codecs else None,
            pyarrow=self._services.rewriter.arrow().version if by_arrow else None,
            **start.held.plus(held_by(runs.values())).report(),
            warnings=list(dict.fromkeys([*self._session.notes, *texts])),
        )
        now = reports(start, results)
        known = {unit_values(unit) for unit in now}
        earlier = [compacted_report(swap) for swap in _committed(runs.values())]
        return with_units(
            report, [*now, *self._session.unresolved, *(u for u in earlier if unit_values(u) not in known)]
        )

    def _finish(
        self,
        start: TableState,
        results: Sequence[UnitResult],
        report: TableReport,
        runs: Mapping[Home, Run],
        fresh: bool,
    ) -> TableReport:
        """Register the backup table, compute statistics, and publish the run.

        Everything here is idempotent, and a failure is a warning: the units are committed already.
        """
        backup, warnings = self._sync_backup(start, runs, fresh)
        note_undone(self._session, start, results)
        warnings += self._session.statistics.update(list(runs.values()), self._options)
        warnings += self._publish(start, runs, report.outcome)
        return replace(report, backup_table=backup, warnings=unique(report.warnings, warnings))

    def _sync_backup(
        self, start: TableState, runs: Mapping[Home, Run], fresh: bool
    ) -> tuple[str | None, list[str]]:
        """Update the backup table, while this job holds the leases.

        A job whose leases were taken over does not know where the originals are.
        """
        self._session.leases.check()
        with self._services.phases.during("register"):
            return sync_backup_table(
                self._services, start.plan.facts, self._options, list(runs.values()), fresh
            )

    def _publish(self, start: TableState, runs: Mapping[Home, Run], outcome: str) -> list[str]:
        """Close the run and write the commit log. Return warnings."""
        with self._services.phases.during("log"):
            # Of a run that was resumed, nobody knows how long all of its attempts took.
            seconds = None if start.earlier else round(self._services.clock.monotonic() - self._began, 3)
            self._session.warn_of_partitions(list(runs.values()))
            leave(runs.values(), journal.FINISHED, outcome=outcome, seconds=seconds)
            self._session.log(list(runs.values()), start.plan.surveyed)
        return list(self._session.notes)

    def _undo(
        self,
        start: TableState,
        results: Sequence[UnitResult],
        report: TableReport,
        runs: dict[Home, Run],
        fresh: bool,
    ) -> TableReport:
        """Roll back the units that this run has swapped, for `on_failure=undo`."""
        undone: list[UnitResult] = []
        for home, run in list(runs.items()):
            rollback = Rollback(self._services, run, self._session.recovery(), "keep")
            units = run.current().of_kind(journal.COMMITTED)
            undone += Waves(rollback, self._options.parallelism).run(units)
            runs[home] = rollback.entered
        restored = [result.report for result in undone]
        # An earlier attempt of the run may have changed them.
        self._session.put_back_statistics(list(runs.values()))
        _, warnings = self._sync_backup(start, runs, fresh)
        note_undone(self._session, start, [*results, *undone])
        warnings += self._publish(start, runs, UNDONE)
        return replace(
            with_units(report, restored),
            outcome=TableOutcome.FAILED,
            **start.held.plus(held_by(runs.values())).report(),
            reason=f"a unit failed, and on_failure is 'undo': {describe_restored(restored)}",
            warnings=unique(report.warnings, warnings),
        )


def _ended(unit: UnitState) -> UnitOutcome:
    """Return the outcome of a unit that an earlier attempt has written, and maybe swapped."""
    return UnitOutcome.COMPACTED if unit.kind == journal.COMMITTED else UnitOutcome.CHANGED


def _read(swap: Swap) -> Amount:
    return Amount(1, len(swap.originals.data), swap.originals.bytes)


def _committed(runs: Iterable[Run]) -> list[Swap]:
    """Return the swaps of all swapped units of the run, also those of earlier attempts."""
    return [unit.swap for run in runs for unit in run.current().of_kind(journal.COMMITTED)]
