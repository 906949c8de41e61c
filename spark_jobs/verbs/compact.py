"""compact: rewrites the flagged units of a table and keeps the originals for a rollback."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Sequence

from spark_jobs.core import journal
from spark_jobs.core.errors import Refusal
from spark_jobs.core.journal import Swap
from spark_jobs.core.layout import Home
from spark_jobs.core.model import TableName, parent
from spark_jobs.core.outcomes import UNDONE, TableOutcome, UnitOutcome
from spark_jobs.core.plan import UnitPlan
from spark_jobs.core.refusals import RefusalCode
from spark_jobs.core.wire import TableReport, UnitReport
from spark_jobs.protocol.execution.backup_table import sync_backup_table
from spark_jobs.protocol.execution.compaction import Compaction
from spark_jobs.protocol.execution.rollback import Rollback
from spark_jobs.protocol.execution.table_session import TableSession
from spark_jobs.protocol.execution.unit_results import UnitResult, compacted_report
from spark_jobs.protocol.execution.unit_writer import WrittenUnit
from spark_jobs.protocol.execution.waves import Waves
from spark_jobs.protocol.planning.planner import Planner
from spark_jobs.protocol.runs.journal_store import Run, leave
from spark_jobs.protocol.runs.run_finder import homes
from spark_jobs.protocol.runs.run_lifecycle import (
    choose_run_id,
    enter,
    newest_generation,
    next_timestamp,
    open_run,
)
from spark_jobs.protocol.swap.late_files import remove_empty_folders
from spark_jobs.verbs.analyze import PLANNED
from spark_jobs.verbs.job import Job

log = logging.getLogger("lakekeeper")


def compact_table(job: Job, name: TableName) -> TableReport:
    """One table's part of the report."""
    with job.session(name) as session:
        if session.options.dry_run:
            plan = Planner(session.table, job.wanted_units(name)).plan(footers=True)
            return plan.report().conclude(acted=PLANNED)
        try:
            return _Table(job, name, session).compact()
        except PermissionError as error:
            raise Refusal(RefusalCode.NOT_WRITABLE, str(error)) from None  # guard: not_writable_refused


class _Table:
    """The compaction of one table over all its homes."""

    def __init__(self, job: Job, name: TableName, session: TableSession) -> None:
        self._job = job
        self._name = name
        self._session = session
        self._services = job.services
        self._options = session.options
        self._runs: dict[Home, Run] = {}
        self._ready: dict[Home, list[Swap]] = {}
        self._fresh = True

    def compact(self) -> TableReport:
        self._recover()  # guard: recover_first
        self._make_plan()
        run_id, before = choose_run_id(self._job.run_id, self._session.runs())
        if not before and not self._plan.flagged:
            return self._nothing()
        self._session.leases.take(home.path for home in self._needed(before))
        if self._session.leases.waited:
            # Somebody was at work here until now: what was seen before counts for nothing.
            self._session.reload()
            self._recover()  # guard: recover_after_wait
            self._make_plan()
            run_id, before = choose_run_id(self._job.run_id, self._session.runs())
        self._open(run_id, before)
        return self._work()

    def _recover(self) -> None:
        """First of all: what somebody left half-way. What is ready in this task's own run is not written again."""
        own = newest_generation(self._job.run_id, self._session.runs())
        for recovered in self._session.recover(own):
            if recovered.run.run_id == own:
                home = Home(parent(recovered.run.folder))
                self._runs[home] = recovered.run
                self._ready[home] = recovered.ready

    def _make_plan(self) -> None:
        self._plan = Planner(self._session.table, self._job.wanted_units(self._name)).plan()
        self._report = self._plan.report()

    def _nothing(self) -> TableReport:
        leave(self._runs.values(), journal.FINISHED, outcome=TableOutcome.NOTHING)
        self._report.units += self._session.unresolved
        self._report.warnings = list(self._session.notes)
        return self._report.conclude(acted=(UnitOutcome.COMPACTED,))

    def _needed(self, before: Iterable[Run]) -> list[Home]:
        """The table's own home comes first: its journal names the others, also of partitions dropped later."""
        facts = self._plan.facts
        own = homes(facts, []) if self._services.fs.status(facts.storage.location) is not None else []
        resumed = [Home(parent(run.folder)) for run in before]
        return list(dict.fromkeys([*own, *resumed, *(self._home(unit) for unit in self._plan.flagged)]))

    def _open(self, run_id: str, before: Sequence[Run]) -> None:
        """A run that stands already is entered again; one that is recovered has been."""
        for run in before:
            home = Home(parent(run.folder))
            if home not in self._runs:
                self._runs[home] = enter(run, self._session.leases, "compact")
        needed = self._needed(before)
        self._fresh = not self._runs
        for home in needed:
            if home not in self._runs:
                self._runs[home] = self._opened(home, run_id, needed)
        self._report.run_id = run_id

    def _opened(self, home: Home, run_id: str, needed: Sequence[Home]) -> Run:
        fs, facts, leases = self._services.fs, self._plan.facts, self._session.leases
        return open_run(fs, home, run_id, facts, needed, leases, bool(self._options.trusted_owners))

    def _home(self, unit: UnitPlan) -> Home:
        return Home.of(self._plan.facts.storage.location, unit.unit.location)

    def _work(self) -> TableReport:
        now = int(self._services.now().timestamp())
        stamp = next_timestamp(self._services.fs, self._runs.values(), now)
        results: list[UnitResult] = []
        for home, run in list(self._runs.items()):
            recovery = self._session.recovery()
            compaction = Compaction(self._services, self._plan, home, run, stamp, recovery)
            waves = Waves(compaction, self._options.parallelism)
            results += waves.run(self._due(home, run), self._resumed(home))
            self._runs[home] = compaction.entered
            remove_empty_folders(self._services.fs, compaction.entered)
        self._merge([*(result.report for result in results), *self._session.unresolved])
        self._explain(results)
        return self._finish()

    def _resumed(self, home: Home) -> list[WrittenUnit]:
        """Units that an earlier attempt has written and verified, as they look now."""
        seen = {unit.unit.key: unit for unit in self._plan.units}
        swaps = self._ready.get(home, [])
        return [
            WrittenUnit(seen.get(swap.unit.key, UnitPlan(swap.unit, UnitOutcome.FLAGGED)), swap)
            for swap in swaps
        ]

    def _due(self, home: Home, run: Run) -> list[UnitPlan]:
        """A unit that this run has swapped already keeps its originals: what came to it since is for the next run."""
        held = {key for key, unit in run.current().units.items() if not unit.final}
        return [unit for unit in self._plan.flagged if self._home(unit) == home and unit.unit.key not in held]

    def _merge(self, reports: Sequence[UnitReport]) -> None:
        """The compaction's word on a unit replaces the survey's."""
        mine = {_values(report): report for report in reports}
        kept = [mine.pop(_values(unit), unit) for unit in self._report.units]
        self._report.units = kept + list(mine.values())

    def _committed(self) -> list[Swap]:
        """Every unit of the run that is swapped, by this attempt or an earlier one."""
        states = [run.current() for run in self._runs.values()]
        return [unit.swap for state in states for unit in state.of_kind(journal.COMMITTED)]

    def _explain(self, results: Sequence[UnitResult]) -> None:
        codecs = Counter(result.codec for result in results if result.codec)
        self._report.codec = codecs.most_common(1)[0][0] if codecs else None
        texts = [text for result in results for text in result.warnings]
        self._report.warnings = list(dict.fromkeys([*self._session.notes, *texts]))
        fresh = {_values(result.report) for result in results}
        earlier = [compacted_report(swap) for swap in self._committed()]
        self._merge([report for report in earlier if _values(report) not in fresh])

    def _finish(self) -> TableReport:
        """Everything after the commits is idempotent, and its failure is a warning: the table itself is done."""
        report = self._report.conclude(acted=(UnitOutcome.COMPACTED,))
        if report.outcome == TableOutcome.PARTIAL and self._options.on_failure == "undo":
            return self._undo()
        report.backup_table = self._project()
        self._statistics()
        self._finished(report.outcome)
        return report

    def _finished(self, outcome: str) -> None:
        leave(self._runs.values(), journal.FINISHED, outcome=outcome)
        self._session.log(list(self._runs.values()), self._plan.cached)
        self._report.warnings = list(dict.fromkeys([*self._report.warnings, *self._session.notes]))

    def _project(self) -> str | None:
        """The metastore is told only while the lease is ours: a job that was taken over knows no right place."""
        self._session.leases.check()
        name, warnings = sync_backup_table(
            self._services, self._plan.facts, self._options, list(self._runs.values()), self._fresh
        )
        self._report.warnings += warnings
        return name

    def _statistics(self) -> None:
        if not self._options.analyze_after_compaction:  # guard: statistics_on_request
            return
        for swap in self._committed():
            try:
                self._services.metastore.analyze(self._name, swap.unit)
            except Exception as error:
                self._report.warnings.append(f"no statistics for {swap.unit}: {error}")

    def _undo(self) -> TableReport:
        """`on_failure: undo`: the units that this run swapped go back too."""
        restored: list[UnitReport] = []
        for home, run in list(self._runs.items()):
            units = run.current().of_kind(journal.COMMITTED)
            rollback = Rollback(self._services, run, self._session.recovery(), "keep")
            restored += [result.report for result in Waves(rollback, self._options.parallelism).run(units)]
            self._runs[home] = rollback.entered
        self._merge(restored)
        self._project()
        self._finished(UNDONE)
        left = [_name(report) for report in restored if report.outcome != UnitOutcome.RESTORED]
        others = f"{', '.join(left)} could not be put back" if left else "the others were put back"
        self._report.outcome = TableOutcome.FAILED
        self._report.reason = f"a unit failed, and on_failure is 'undo': {others}"
        return self._report


def _values(report: UnitReport) -> tuple[tuple[str, str | None], ...]:
    return tuple(sorted(report.unit.items()))


def _name(report: UnitReport) -> str:
    return "/".join(f"{key}={value}" for key, value in report.unit.items()) or "the table"
