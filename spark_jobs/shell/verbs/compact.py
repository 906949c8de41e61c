"""compact: rewrites the flagged units of a table and keeps the originals for a rollback."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence

from spark_jobs.core import journal
from spark_jobs.core.errors import Refusal
from spark_jobs.core.journal import Swap
from spark_jobs.core.layout import Home
from spark_jobs.core.model import TableName, name_of, parent
from spark_jobs.core.wire import TableReport, UnitReport
from spark_jobs.shell.backup import register_backup
from spark_jobs.shell.compaction import Compaction, Outcome, compacted_report
from spark_jobs.shell.job import Job
from spark_jobs.shell.journal_store import Run
from spark_jobs.shell.restoration import Restoration
from spark_jobs.shell.runs import Attempt, all_runs, choose_run_id, homes, open_attempt, started
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
        self._attempts: list[Attempt] = []

    def compact(self) -> TableReport:
        existing = all_runs(self._cluster.fs, self._found.facts, [u.unit for u in self._found.units])
        run_id, before = choose_run_id(self._job.run_id, existing)
        if not before and not self._flagged():
            return self._report.conclude(acted=("compacted",))
        homes_ = self._homes(before)
        stuck = self._open(run_id, before, homes_)
        if before:
            # What an earlier attempt left is settled only now: what it looked like before that counts for nothing.
            self._found = survey(
                self._cluster, self._name, self._job.layers, self._job.wanted_units(self._name)
            )
            self._report = table_report(self._found)
        self._report.run_id = run_id
        return self._work(run_id, stuck)

    def _flagged(self) -> list[UnitSurvey]:
        return [unit for unit in self._found.units if unit.flagged]

    def _home(self, unit: UnitSurvey) -> Home:
        return Home.of(self._found.facts.storage.location, unit.unit.location)

    def _work(self, run_id: str, stuck: Sequence[UnitReport]) -> TableReport:
        held = {_values(report) for report in stuck}
        outcomes: list[Outcome] = []
        for attempt in self._attempts:
            mine = [u for u in self._flagged() if self._home(u) == attempt.home]
            units = [u for u in mine if tuple(sorted(u.unit.spec)) not in held]
            outcomes += Compaction(self._cluster, self._found, attempt, self._stamp).run(units)
        self._merge([*(outcome.report for outcome in outcomes), *stuck])
        swaps = self._committed()
        self._explain(outcomes, swaps)
        return self._finish(run_id, swaps)

    def _homes(self, before: Sequence[Run]) -> list[Home]:
        """The table's own home comes first: its journal names the others, also of partitions dropped later."""
        facts = self._found.facts
        own = homes(facts, []) if self._cluster.fs.status(facts.storage.location) is not None else []
        again = {parent(run.folder) for run in before}
        outside = [self._home(unit) for unit in self._found.units]
        known = [home for home in outside if home.path in again]
        return list(dict.fromkeys([*own, *known, *(self._home(unit) for unit in self._flagged())]))

    def _open(self, run_id: str, before: Sequence[Run], homes_: Sequence[Home]) -> list[UnitReport]:
        """Opens this attempt's folders, and settles what an earlier attempt of the run left; returns what
        stays unsettled."""
        stuck: list[UnitReport] = []
        try:
            for home in homes_:
                attempt = open_attempt(self._cluster.fs, home, run_id, before)
                started(attempt, self._found.facts, homes_)
                self._attempts.append(attempt)
                state = attempt.journal.state()
                stuck += Settlement(self._cluster, attempt).run(state) if state else []
        except PermissionError as error:
            raise Refusal("NOT_WRITABLE", str(error)) from None
        return stuck

    def _merge(self, reports: Sequence[UnitReport]) -> None:
        """The compaction's word on a unit replaces the survey's."""
        mine = {_values(report): report for report in reports}
        self._report.units = [mine.pop(_values(unit), unit) for unit in self._report.units] + list(
            mine.values()
        )

    def _committed(self) -> list[tuple[Attempt, Swap]]:
        """Every unit of the run that is swapped, by this attempt or an earlier one."""
        states = [(attempt, attempt.journal.state()) for attempt in self._attempts]
        return [(a, u.swap) for a, s in states if s for u in s.units.values() if u.kind == journal.COMMITTED]

    def _explain(self, outcomes: Sequence[Outcome], swaps: Sequence[tuple[Attempt, Swap]]) -> None:
        codecs = Counter(outcome.codec for outcome in outcomes if outcome.codec)
        self._report.codec = codecs.most_common(1)[0][0] if codecs else None
        warnings = [text for outcome in outcomes for text in outcome.warnings]
        self._report.warnings += list(dict.fromkeys(warnings))
        fresh = {outcome.swap.unit.key for outcome in outcomes if outcome.swap}
        self._merge([compacted_report(swap) for _, swap in swaps if swap.unit.key not in fresh])

    def _finish(self, run_id: str, swaps: list[tuple[Attempt, Swap]]) -> TableReport:
        """Everything after the commits is idempotent, and its failure is a warning: the table itself is done."""
        report = self._report.conclude(acted=("compacted",))
        if report.outcome == "partial" and self._found.options.on_failure == "undo":
            return self._undo(swaps)
        report.backup_table = self._register(run_id, swaps)
        self._statistics(swaps)
        for attempt in self._attempts:
            attempt.journal.append(journal.FINISHED, outcome=report.outcome)
        return report

    def _register(self, run_id: str, swaps: list[tuple[Attempt, Swap]]) -> str | None:
        if not (swaps and self._found.options.register_backup):
            return None
        placed = [(swap.unit, attempt.path(swap.old)) for attempt, swap in swaps]
        first = swaps[0][0]
        root = (
            first.path(swaps[0][1].old.split("/", 1)[0]) if self._found.facts.partition_keys else placed[0][1]
        )
        try:
            name = register_backup(self._cluster, self._found, run_id, root, placed)
        except Exception as error:
            self._report.warnings.append(
                f"the backup table was not registered ({error}); a rollback does not need it"
            )
            return None
        self._attempts[0].journal.append(journal.BACKUP, backup_table=str(name))
        return str(name)

    def _statistics(self, swaps: Sequence[tuple[Attempt, Swap]]) -> None:
        if not self._found.options.analyze_after_compaction:
            return
        for _, swap in swaps:
            try:
                self._cluster.metastore.analyze(TableName.parse(self._found.facts.name), swap.unit)
            except Exception as error:
                self._report.warnings.append(f"no statistics for {swap.unit}: {error}")

    def _undo(self, swaps: list[tuple[Attempt, Swap]]) -> TableReport:
        """`on_failure: undo`: the units that this run swapped go back too."""
        locations = {swap.unit.key: swap.live for _, swap in swaps}
        for attempt in self._attempts:
            state = attempt.journal.state()
            if state is None:
                continue
            units = [u for u in state.units.values() if u.kind == journal.COMMITTED]
            run = Run(name_of(attempt.folder), attempt.folder, attempt.journal, state)
            restored = Restoration(self._cluster, run, locations, "keep").run(
                units, self._found.options.parallelism
            )
            self._merge(restored)
            attempt.journal.append(journal.FINISHED, outcome="undone")
        self._report.outcome = "failed"
        self._report.reason = "a unit failed, and on_failure is 'undo': the others were put back"
        return self._report


def _values(report: UnitReport) -> tuple[tuple[str, str | None], ...]:
    return tuple(sorted(report.unit.items()))
