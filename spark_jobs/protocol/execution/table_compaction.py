"""The compaction of one table: recover, plan, open the run, rewrite and swap, register the backup, publish."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from spark_jobs.core import journal
from spark_jobs.core.journal import Swap
from spark_jobs.core.layout import Home
from spark_jobs.core.model import TableName, Unit, parent
from spark_jobs.core.outcomes import UNDONE, TableOutcome, UnitOutcome
from spark_jobs.core.plan import TablePlan, UnitPlan
from spark_jobs.core.wire import TableReport, UnitReport
from spark_jobs.protocol.execution.backup_table import sync_backup_table
from spark_jobs.protocol.execution.compaction import Compaction
from spark_jobs.protocol.execution.recovery import RecoveredRun
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


@dataclass(frozen=True)
class _Start:
    """What a compaction starts from.

    Attributes:
        earlier: the folders of this very run that an earlier attempt has left.
        recovered: those of them that were unfinished, by home; they are entered, and their units that were written
            and verified are ready to be swapped.
    """

    plan: TablePlan
    run_id: str
    earlier: Sequence[Run]
    recovered: Mapping[Home, RecoveredRun]

    def home(self, unit: UnitPlan) -> Home:
        return Home.of(self.plan.facts.storage.location, unit.unit.location)


class TableCompaction:
    """The compaction of one table over all its homes.

    Args:
        run_id: the run that this job names; one that is finished gets another generation.
        wanted: the units to compact, as partition values; None for all that are flagged.
    """

    def __init__(
        self, session: TableSession, run_id: str, wanted: Sequence[Mapping[str, str | None]] | None
    ) -> None:
        self._session = session
        self._services = session.services
        self._options = session.options
        self._run_id = run_id
        self._wanted = wanted

    def run(self) -> TableReport:
        """Compact the table and return its part of the report."""
        start = self._start()
        if not start.earlier and not start.plan.flagged:
            return self._nothing(start)
        self._session.leases.take(home.path for home in self._homes(start))
        if self._session.leases.waited:
            # Another job was at work until now: what was read before it ended counts for nothing.
            self._session.reload()
            start = self._start()
        runs, fresh = self._open(start)
        results = self._compact_units(start, runs)
        report = self._with_results(start, results, runs).conclude(acted=(UnitOutcome.COMPACTED,))
        if report.outcome == TableOutcome.PARTIAL and self._options.on_failure == "undo":
            return self._undo(start, report, runs, fresh)
        return self._finish(start, report, runs, fresh)

    def _start(self) -> _Start:
        """Recovery comes first. What is ready in this task's own run is not written again."""
        recovered: dict[Home, RecoveredRun] = {}
        recovered.update(self._recover())  # guard: recover_first
        plan = Planner(self._session.table, self._wanted).plan()
        run_id, earlier = choose_run_id(self._run_id, self._session.runs())
        return _Start(plan, run_id, earlier, recovered)

    def _recover(self) -> dict[Home, RecoveredRun]:
        own = newest_generation(self._run_id, self._session.runs())
        found = self._session.recover(own)
        return {Home(parent(item.run.folder)): item for item in found if item.run.run_id == own}

    def _nothing(self, start: _Start) -> TableReport:
        leave((item.run for item in start.recovered.values()), journal.FINISHED, outcome=TableOutcome.NOTHING)
        report = start.plan.report()
        units = [*report.units, *self._session.unresolved]
        report = replace(report, units=units, warnings=list(self._session.notes))
        return report.conclude(acted=(UnitOutcome.COMPACTED,))

    def _homes(self, start: _Start) -> list[Home]:
        """The table's own home comes first: its journal names the others, also of partitions dropped later."""
        facts = start.plan.facts
        own = homes(facts, []) if self._services.fs.status(facts.storage.location) is not None else []
        resumed = [Home(parent(run.folder)) for run in start.earlier]
        return list(dict.fromkeys([*own, *resumed, *(start.home(unit) for unit in start.plan.flagged)]))

    def _open(self, start: _Start) -> tuple[dict[Home, Run], bool]:
        """Enter the folders that the run has, and open those that it lacks; also tell whether all are new."""
        runs = {home: item.run for home, item in start.recovered.items()}
        for run in start.earlier:
            home = Home(parent(run.folder))
            if home not in runs:
                runs[home] = enter(run, self._session.leases, "compact")
        needed, fresh = self._homes(start), not runs
        for home in needed:
            if home not in runs:
                runs[home] = self._open_folder(start, home, needed)
        return runs, fresh

    def _open_folder(self, start: _Start, home: Home, needed: Sequence[Home]) -> Run:
        fs, facts, leases = self._services.fs, start.plan.facts, self._session.leases
        return open_run(fs, home, start.run_id, facts, needed, leases, bool(self._options.trusted_owners))

    def _compact_units(self, start: _Start, runs: dict[Home, Run]) -> list[UnitResult]:
        """Rewrite and swap what is due; `runs` holds the folders as they are named afterwards."""
        now = int(self._services.now().timestamp())
        stamp = next_timestamp(self._services.fs, runs.values(), now)
        results: list[UnitResult] = []
        for home, run in list(runs.items()):
            compaction = Compaction(self._services, start.plan, home, run, stamp, self._session.recovery())
            waves = Waves(compaction, self._options.parallelism)
            results += waves.run(_due(start, home, run), _resumed(start, home))
            runs[home] = compaction.entered
            remove_empty_folders(self._services.fs, compaction.entered)
        return results

    def _with_results(
        self, start: _Start, results: Sequence[UnitResult], runs: Mapping[Home, Run]
    ) -> TableReport:
        """Return the plan's report with what became of the units."""
        codecs = Counter(result.codec for result in results if result.codec)
        texts = [text for result in results for text in result.warnings]
        report = replace(
            start.plan.report(),
            run_id=start.run_id,
            codec=codecs.most_common(1)[0][0] if codecs else None,
            warnings=list(dict.fromkeys([*self._session.notes, *texts])),
        )
        now = [result.report for result in results]
        known = {_values(unit) for unit in now}
        earlier = [compacted_report(swap) for swap in _committed(runs.values())]
        return _merged(
            report, [*now, *self._session.unresolved, *(u for u in earlier if _values(u) not in known)]
        )

    def _finish(
        self, start: _Start, report: TableReport, runs: Mapping[Home, Run], fresh: bool
    ) -> TableReport:
        """Everything after the commits is idempotent, and its failure is a warning: the table itself is done."""
        backup, warnings = self._sync_backup(start, runs, fresh)
        warnings += self._compute_statistics(runs)
        warnings += self._publish(start, runs, report.outcome)
        return replace(report, backup_table=backup, warnings=_unique(report.warnings, warnings))

    def _sync_backup(
        self, start: _Start, runs: Mapping[Home, Run], fresh: bool
    ) -> tuple[str | None, list[str]]:
        """Only while the lease is this job's: one that was taken over does not know where the originals are."""
        self._session.leases.check()
        return sync_backup_table(self._services, start.plan.facts, self._options, list(runs.values()), fresh)

    def _compute_statistics(self, runs: Mapping[Home, Run]) -> list[str]:
        """Return warnings."""
        if not self._options.analyze_after_compaction:  # guard: statistics_on_request
            return []
        texts = [self._statistics_of(swap.unit) for swap in _committed(runs.values())]
        return [text for text in texts if text]

    def _statistics_of(self, unit: Unit) -> str | None:
        try:
            self._services.metastore.analyze(TableName.parse(self._session.facts.name), unit)
        except Exception as error:
            return f"no statistics for {unit}: {error}"
        return None

    def _publish(self, start: _Start, runs: Mapping[Home, Run], outcome: str) -> list[str]:
        """Close the run and write the commit log; return what there is to warn of."""
        leave(runs.values(), journal.FINISHED, outcome=outcome)
        self._session.log(list(runs.values()), start.plan.cached)
        return list(self._session.notes)

    def _undo(self, start: _Start, report: TableReport, runs: dict[Home, Run], fresh: bool) -> TableReport:
        """`on_failure: undo`: roll back the units that this run has swapped."""
        restored: list[UnitReport] = []
        for home, run in list(runs.items()):
            rollback = Rollback(self._services, run, self._session.recovery(), "keep")
            units = run.current().of_kind(journal.COMMITTED)
            restored += [result.report for result in Waves(rollback, self._options.parallelism).run(units)]
            runs[home] = rollback.entered
        _, warnings = self._sync_backup(start, runs, fresh)
        warnings += self._publish(start, runs, UNDONE)
        return replace(
            _merged(report, restored),
            outcome=TableOutcome.FAILED,
            reason=f"a unit failed, and on_failure is 'undo': {_restored(restored)}",
            warnings=_unique(report.warnings, warnings),
        )


def _due(start: _Start, home: Home, run: Run) -> list[UnitPlan]:
    """A unit that this run has swapped already keeps its originals: what was added since is for the next run."""
    held = {key for key, unit in run.current().units.items() if not unit.final}
    return [unit for unit in start.plan.flagged if start.home(unit) == home and unit.unit.key not in held]


def _resumed(start: _Start, home: Home) -> list[WrittenUnit]:
    """Units that an earlier attempt has written and verified, as they look now."""
    seen = {unit.unit.key: unit for unit in start.plan.units}
    ready = start.recovered[home].ready if home in start.recovered else []
    return [
        WrittenUnit(seen.get(swap.unit.key, UnitPlan(swap.unit, UnitOutcome.FLAGGED)), swap) for swap in ready
    ]


def _committed(runs: Iterable[Run]) -> list[Swap]:
    """Every unit of the run that is swapped, by this attempt or an earlier one."""
    return [unit.swap for run in runs for unit in run.current().of_kind(journal.COMMITTED)]


def _merged(report: TableReport, units: Sequence[UnitReport]) -> TableReport:
    """Put these lines in the place of those of the same units; others are added."""
    new = {_values(unit): unit for unit in units}
    kept = [new.pop(_values(unit), unit) for unit in report.units]
    return replace(report, units=[*kept, *new.values()])


def _values(report: UnitReport) -> tuple[tuple[str, str | None], ...]:
    return tuple(sorted(report.unit.items()))


def _unique(*texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(text for each in texts for text in each))


def _restored(reports: Sequence[UnitReport]) -> str:
    left = [
        "/".join(f"{key}={value}" for key, value in report.unit.items()) or "the table"
        for report in reports
        if report.outcome != UnitOutcome.RESTORED
    ]
    return f"{', '.join(left)} could not be restored" if left else "the others were restored"
