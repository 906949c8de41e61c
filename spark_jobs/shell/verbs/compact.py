"""compact: rewrites the flagged units of a table and keeps the originals for a rollback."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence

from spark_jobs.core import journal
from spark_jobs.core.errors import Refusal
from spark_jobs.core.journal import Swap
from spark_jobs.core.layout import Home
from spark_jobs.core.model import TableName, Unit, parent
from spark_jobs.core.wire import TableReport, UnitReport
from spark_jobs.shell.backup import register_backup, retire_backup
from spark_jobs.shell.compaction import Compaction, Outcome, compacted_report
from spark_jobs.shell.job import Job
from spark_jobs.shell.journal_store import Run
from spark_jobs.shell.restoration import Restoration
from spark_jobs.shell.runs import all_runs, choose_run_id, homes, open_run, take_over
from spark_jobs.shell.settle import Settlement
from spark_jobs.shell.survey import TableSurvey, UnitSurvey, survey, table_report
from spark_jobs.shell.verbs.analyze import LOOKED_AT

log = logging.getLogger("lakekeeper")


def compact_table(job: Job, name: TableName) -> TableReport:
    """One table's part of the report."""
    found = survey(job.cluster, name, job.layers, job.wanted_units(name))
    if found.options.dry_run:
        return table_report(found).conclude(acted=LOOKED_AT)
    return _Table(job, name, found).compact()


class _Table:
    """The compaction of one table over all its homes."""

    def __init__(self, job: Job, name: TableName, found: TableSurvey) -> None:
        self._job = job
        self._name = name
        self._cluster = job.cluster
        self._found = found
        self._report = table_report(found)
        self._stamp = str(int(job.cluster.now().timestamp()))
        self._runs: dict[Home, Run] = {}

    def compact(self) -> TableReport:
        existing = all_runs(self._cluster.fs, self._found.facts, [u.unit for u in self._found.units])
        run_id, before = choose_run_id(self._job.run_id, existing)
        if not before and not self._flagged():
            return self._report.conclude(acted=("compacted",))
        try:
            stuck = self._resume(before) if before else []
            self._open(run_id)
        except PermissionError as error:
            raise Refusal("NOT_WRITABLE", str(error)) from None
        self._report.run_id = run_id
        return self._work(run_id, stuck, resumed=bool(before))

    def _resume(self, before: Sequence[Run]) -> list[UnitReport]:
        """Settles what an earlier attempt left, and only then looks again: what it saw before that counts for nothing.

        Returns the units that stay unsettled.
        """
        facts, stuck = self._found.facts, []
        locations = {unit.key: unit.location for unit, _ in self._cluster.metastore.units(facts)}
        for earlier in before:
            run = take_over(self._cluster.fs, earlier)
            stuck += Settlement(self._cluster, run, locations).run()
            self._runs[Home(parent(run.folder))] = run
        self._found = survey(self._cluster, self._name, self._job.layers, self._job.wanted_units(self._name))
        self._report = table_report(self._found)
        return stuck

    def _open(self, run_id: str) -> None:
        """The table's own home comes first: its journal names the others, also of partitions dropped later."""
        facts = self._found.facts
        own = homes(facts, []) if self._cluster.fs.status(facts.storage.location) is not None else []
        needed = list(dict.fromkeys([*own, *self._runs, *(self._home(unit) for unit in self._flagged())]))
        for home in needed:
            if home not in self._runs:
                self._runs[home] = open_run(self._cluster.fs, home, run_id, facts, needed)

    def _flagged(self) -> list[UnitSurvey]:
        return [unit for unit in self._found.units if unit.flagged]

    def _home(self, unit: UnitSurvey) -> Home:
        return Home.of(self._found.facts.storage.location, unit.unit.location)

    def _work(self, run_id: str, stuck: Sequence[UnitReport], resumed: bool) -> TableReport:
        outcomes: list[Outcome] = []
        for home, run in self._runs.items():
            units = self._due(home, run)
            outcomes += Compaction(self._cluster, self._found, home, run, self._stamp).run(units)
        self._merge([*(outcome.report for outcome in outcomes), *stuck])
        swaps = self._committed()
        self._explain(outcomes, swaps)
        return self._finish(run_id, swaps, resumed)

    def _due(self, home: Home, run: Run) -> list[UnitSurvey]:
        """A unit that this run has swapped already keeps its originals: what came to it since is for the next run."""
        state = run.journal.state()
        held = {key for key, unit in state.units.items() if not unit.final} if state else set()
        return [unit for unit in self._flagged() if self._home(unit) == home and unit.unit.key not in held]

    def _merge(self, reports: Sequence[UnitReport]) -> None:
        """The compaction's word on a unit replaces the survey's."""
        mine = {_values(report): report for report in reports}
        kept = [mine.pop(_values(unit), unit) for unit in self._report.units]
        self._report.units = kept + list(mine.values())

    def _committed(self) -> list[tuple[Run, Swap]]:
        """Every unit of the run that is swapped, by this attempt or an earlier one."""
        states = [(run, run.journal.state()) for run in self._runs.values()]
        return [
            (run, unit.swap) for run, state in states if state for unit in state.of_kind(journal.COMMITTED)
        ]

    def _explain(self, outcomes: Sequence[Outcome], swaps: Sequence[tuple[Run, Swap]]) -> None:
        codecs = Counter(outcome.codec for outcome in outcomes if outcome.codec)
        self._report.codec = codecs.most_common(1)[0][0] if codecs else None
        warnings = [text for outcome in outcomes for text in outcome.warnings]
        self._report.warnings += list(dict.fromkeys(warnings))
        fresh = {outcome.swap.unit.key for outcome in outcomes if outcome.swap}
        self._merge([compacted_report(swap) for _, swap in swaps if swap.unit.key not in fresh])

    def _finish(self, run_id: str, swaps: list[tuple[Run, Swap]], resumed: bool) -> TableReport:
        """Everything after the commits is idempotent, and its failure is a warning: the table itself is done."""
        report = self._report.conclude(acted=("compacted",))
        if report.outcome == "partial" and self._found.options.on_failure == "undo":
            return self._undo()
        report.backup_table = self._register(run_id, swaps, resumed)
        self._statistics(swaps)
        self._finished(report.outcome)
        return report

    def _finished(self, outcome: str) -> None:
        for run in self._runs.values():
            run.journal.append(journal.FINISHED, outcome=outcome)

    def _register(self, run_id: str, swaps: list[tuple[Run, Swap]], resumed: bool) -> str | None:
        if not (swaps and self._found.options.register_backup):
            return None
        placed: list[tuple[Unit, str]] = [(swap.unit, run.path(swap.old)) for run, swap in swaps]
        run, swap = swaps[0]
        partitioned = bool(self._found.facts.partition_keys)
        root = run.path(swap.old.split("/", 1)[0]) if partitioned else placed[0][1]
        try:
            name = register_backup(self._cluster, self._found, run_id, root, placed, resumed)
        except Exception as error:
            problem = f"the backup table was not registered ({error}); a rollback does not need it"
            self._report.warnings.append(problem)
            return None
        for run in self._runs.values():
            run.journal.append(journal.BACKUP, backup_table=str(name))
        return str(name)

    def _statistics(self, swaps: Sequence[tuple[Run, Swap]]) -> None:
        if not self._found.options.analyze_after_compaction:
            return
        for _, swap in swaps:
            try:
                self._cluster.metastore.analyze(self._name, swap.unit)
            except Exception as error:
                self._report.warnings.append(f"no statistics for {swap.unit}: {error}")

    def _undo(self) -> TableReport:
        """`on_failure: undo`: the units that this run swapped go back too."""
        facts, options = self._found.facts, self._found.options
        locations = {unit.key: unit.location for unit, _ in self._cluster.metastore.units(facts)}
        restored: list[UnitReport] = []
        for run in self._runs.values():
            state = run.journal.state()
            units = state.of_kind(journal.COMMITTED) if state else []
            restored += Restoration(self._cluster, run, locations, "keep").run(units, options.parallelism)
            self._report.warnings += retire_backup(self._cluster, facts, run, options)
        self._merge(restored)
        self._finished("undone")
        left = [_name(report) for report in restored if report.outcome != "restored"]
        others = f"{', '.join(left)} could not be put back" if left else "the others were put back"
        self._report.outcome = "failed"
        self._report.reason = f"a unit failed, and on_failure is 'undo': {others}"
        return self._report


def _values(report: UnitReport) -> tuple[tuple[str, str | None], ...]:
    return tuple(sorted(report.unit.items()))


def _name(report: UnitReport) -> str:
    return "/".join(f"{key}={value}" for key, value in report.unit.items()) or "the table"
