"""The compaction of a native table by the procedure of its format, within the limits and the deadline of the job.

What a procedure says of its own work does not count: the files are counted in the format's metadata before and after.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

from spark_jobs.core.messages.outcomes import UnitOutcome
from spark_jobs.core.planning.decisions import Leave
from spark_jobs.core.planning.unit_plan import UnitPlan
from spark_jobs.core.values.amount import NONE
from spark_jobs.core.values.model import Spec
from spark_jobs.core.wire.report import TableReport, UnitReport
from spark_jobs.protocol.execution.job_admission import JobAdmission
from spark_jobs.protocol.execution.unit_results import of_error
from spark_jobs.protocol.native.plan import NativePlan, report_of
from spark_jobs.protocol.native.runs import AFTER, BEFORE, NativeHistory, NativeRun, forget
from spark_jobs.protocol.native.session import NativeSession
from spark_jobs.protocol.native.units import by_unit
from spark_jobs.protocol.native_ports import UnitFiles

log = logging.getLogger("lakekeeper")
#: So many units are compacted by one call: each call is a commit, and reads the list of all files.
_AT_ONCE = 16
_NOT_FEWER = "the procedure of the format has left as many files as before"


class NativeCompaction:
    """The compaction of one native table.

    Args:
        run_id: that of the job; a run of this id that cannot be continued makes this one its next generation.
        history: as it is under the lease.
    """

    def __init__(
        self,
        session: NativeSession,
        plan: NativePlan,
        run_id: str,
        history: NativeHistory,
        admission: JobAdmission,
    ) -> None:
        self._session = session
        self._plan = plan
        self._history = history
        self._admission = admission
        self._run = self._begin(run_id)

    def _begin(self, run_id: str) -> NativeRun:
        """Return the run, which continues what an earlier try of the same job has begun, if nobody else wrote since."""
        earlier = self._history.of_id(run_id)
        if earlier and self._history.can_be_rolled_back(earlier[-1]):
            return earlier[-1]
        name = self._history.next_id(run_id) if earlier else run_id
        return NativeRun(name, self._history.current or "", None)

    def run(self) -> TableReport:
        """Compact the flagged units that the job admits, and return the report."""
        options, now = self._session.options, self._session.services.now
        held = self._plan.held.bytes
        self._admission.update(lambda a: a.of_table(options.max_held_bytes, held, options.deadline))
        done: list[UnitReport] = [u.report() for u in self._plan.units if not u.flagged]
        waiting: Sequence[UnitPlan] = [unit for unit in self._plan.units if unit.flagged]
        while waiting:
            chosen = self._admission.now.round(waiting, now())
            if not chosen.chosen:
                waiting = chosen.waiting
                break
            results, late = self._round(chosen.chosen)
            done += results
            waiting = [*late, *chosen.waiting]
            if late:
                break
        return self._report([*done, *(unit.report() for unit in self._admission.now.not_begun(waiting))])

    def _round(self, units: Sequence[UnitPlan]) -> tuple[list[UnitReport], list[UnitPlan]]:
        """Compact units until the deadline. Return the reports, and the units that were not begun."""
        results: list[UnitReport] = []
        waiting = list(units)
        while waiting:
            fitting = self._admission.now.wave(waiting, self._session.services.now(), _AT_ONCE)[:_AT_ONCE]
            if not fitting:
                break
            results += self._wave(fitting)
            waiting = [unit for unit in waiting if unit not in fitting]
        self._admission.update(lambda a: a.spent([(each.outcome, each.amount) for each in results]))
        return results, waiting

    def _wave(self, units: Sequence[UnitPlan]) -> list[UnitReport]:
        monotonic = self._session.services.clock.monotonic
        amount, began = sum((unit.amount or NONE for unit in units), NONE), monotonic()
        log.info(
            "%s: %d units by the procedure of %s", self._session.facts.name, len(units), self._session.format
        )
        try:
            with self._session.services.phases.during("write"):
                results = self._compact(units)
        except Exception as error:
            results = [of_error(unit.unit, error, unit.health).report for unit in units]
        seconds = monotonic() - began
        self._admission.update(lambda a: a.timed(amount, seconds).ended(each.outcome for each in results))
        return [replace(each, seconds=round(seconds / len(units), 3)) for each in results]

    def _compact(self, units: Sequence[UnitPlan]) -> list[UnitReport]:
        table, run = self._session.table, self._run
        if not self._history.of_id(run.run_id):
            table.tag(f"{BEFORE}{run.run_id}", run.before)  # guard: named_before_the_procedure
            self._history = NativeHistory.of(table)
        table.compact([_files_of(unit) for unit in units], self._session.options.thresholds().target)
        files = {
            spec: (len(each), sum(f.length for f in each)) for spec, each in by_unit(table.files()).items()
        }
        return [_result(unit, files) for unit in units]

    def _report(self, units: Sequence[UnitReport]) -> TableReport:
        run = self._end()
        report = report_of(self._session, [*units, *self._plan.missing()], self._plan)
        held = self._session.held(NativeHistory.of(self._session.table)) if run else self._plan.held
        report = replace(report, run_id=run.run_id if run else None, **held.report())
        if run is not None:
            report = replace(report, snapshot_before=run.before, snapshot_after=run.after)
        return report.conclude(acted=[UnitOutcome.COMPACTED])

    def _end(self) -> NativeRun | None:
        """Name the last commit of the run. Return the run; None if it has committed nothing."""
        table = self._session.table
        history = NativeHistory.of(table)
        begun = [each for each in history.runs if each.run_id == self._run.run_id]
        if not begun:
            return None
        rewriting = [commit for commit in history.since(begun[0].before) or () if commit.rewrites]
        if not rewriting:
            forget(table, begun[0])
            return None
        table.tag(f"{AFTER}{self._run.run_id}", rewriting[-1].id)
        return replace(begun[0], after=rewriting[-1].id)


def _files_of(unit: UnitPlan) -> UnitFiles:
    files = unit.inputs.files.data if unit.inputs else ()
    return UnitFiles(unit.unit.spec, tuple(file.length for file in files))


def _result(unit: UnitPlan, files: dict[Spec, tuple[int, int]]) -> UnitReport:
    """Return what has become of a unit, as its files were counted after the procedure."""
    after, size = files.get(unit.unit.spec, (0, 0))
    report = unit.report()
    if after < (report.files or 0):
        return replace(report, outcome=UnitOutcome.COMPACTED, files_after=after, bytes_after=size)
    left = replace(unit, decision=Leave(_NOT_FEWER)).report()
    return replace(left, files_after=after, bytes_after=size)
