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
    report = table_report(found)
    if found.options.dry_run:
        return report.conclude(acted=LOOKED_AT)
    return _Table(job, found, report).compact()


class _Table:
    """The compaction of one table over all its homes."""

    def __init__(self, job: Job, found: TableSurvey, report: TableReport) -> None:
        self._job = job
        self._cluster = job.cluster
        self._found = found
        self._report = report
        self._stamp = str(int(job.cluster.now().timestamp()))
        self._attempts: list[Attempt] = []

    def compact(self) -> TableReport:
        flagged = [unit for unit in self._found.units if unit.flagged]
        existing = all_runs(self._cluster.fs, self._found.facts, [u.unit for u in self._found.units])
        run_id, before = choose_run_id(self._job.run_id, existing)
        if not flagged and not before:
            return self._report.conclude(acted=("compacted",))
        self._report.run_id = run_id
        return self._work(run_id, before, flagged)

    def _work(self, run_id: str, before: list[Run], flagged: Sequence[UnitSurvey]) -> TableReport:
        by_home = self._by_home(flagged, before)
        stuck = self._open(run_id, before, list(by_home))
        held = {_values(report) for report in stuck}
        outcomes: list[Outcome] = []
        for attempt in self._attempts:
            units = [u for u in by_home[attempt.home] if tuple(sorted(u.unit.spec)) not in held]
            outcomes += Compaction(self._cluster, self._found, attempt, self._stamp).run(units)
        self._merge([*(outcome.report for outcome in outcomes), *stuck])
        swaps = self._committed()
        self._explain(outcomes, swaps)
        return self._finish(run_id, swaps)

    def _by_home(self, flagged: Sequence[UnitSurvey], before: Sequence[Run]) -> dict[Home, list[UnitSurvey]]:
        """The table's own home comes first and always: its journal names the others."""
        root = self._found.facts.storage.location
        known = homes(self._found.facts, [])
        if self._cluster.fs.status(root) is None and self._found.facts.partition_keys:
            known = []
        again = {parent(run.folder) for run in before}
        outside = [Home.of(root, u.unit.location) for u in self._found.units]
        known += [home for home in outside if home.path in again]
        by_home: dict[Home, list[UnitSurvey]] = {home: [] for home in known}
        for unit in flagged:
            by_home.setdefault(Home.of(root, unit.unit.location), []).append(unit)
        return by_home

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
